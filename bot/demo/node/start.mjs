// Serves emulated GitHub for the process at the other end of standard input, and ends with it.
// Arguments: the installed package's entry. Input: the seed, one line of JSON. Output: one line of JSON.
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { createEmulator } = await import(pathToFileURL(process.argv[2]));

// The emulator numbers its deliveries by the millisecond, GitHub by GUID: two in one millisecond would be one.
const deliver = globalThis.fetch;
globalThis.fetch = (url, options) => {
  if (options?.headers?.['X-GitHub-Delivery']) options.headers['X-GitHub-Delivery'] = crypto.randomUUID();
  return deliver(url, options);
};

// Its own address has to be known before it starts.
const freePort = () =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const lines = createInterface({ input: process.stdin });
lines.on('close', () => process.exit(0));
lines.once('line', async (line) => {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const emulator = await createEmulator({ service: 'github', port, baseUrl, seed: JSON.parse(line) });
  const key = emulator.generatedSecrets[0]?.value;
  process.stdout.write(JSON.stringify({ url: emulator.url, private_key: key }) + '\n');
});
