"""A git remote on this machine: `git http-backend` behind a small HTTP server, with a token as on GitHub."""

import base64
import binascii
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from bot.git.process import Git

NO_COMMIT = "0" * 40
_CONFIG = {
    "uploadpack.allowFilter": "true",
    "uploadpack.allowAnySHA1InWant": "true",
    "receive.autogc": "false",
}


class RefUpdate(NamedTuple):
    """What a push did to one reference; 40 zeros stand for no commit before, or none after."""

    ref: str
    before: str
    after: str


PushListener = Callable[[str, tuple[RefUpdate, ...]], None]
"""Told `owner/name` and the updates of a push, in the server's thread, before its answer is sent."""


@dataclass(frozen=True)
class GitServer:
    """Serves the bare repositories `root/owner/name.git` to whoever shows a token that `accepts` takes."""

    root: Path
    accepts: Callable[[str], bool]
    on_push: PushListener = lambda _repository, _updates: None
    _pushing: threading.Lock = field(default_factory=threading.Lock)

    def create(self, full_name: str, *, branch: str = "main") -> Path:
        """An empty repository of this name; the branch is what its HEAD names."""
        folder = self.root / f"{full_name}.git"
        folder.mkdir(parents=True)
        Git(folder).output("init", "--quiet", "--bare", f"--initial-branch={branch}")
        return folder

    @contextmanager
    def serve(self, *, port: int = 0) -> Iterator[str]:
        """Serve on 127.0.0.1 until the block ends; gives the URL that `/owner/name.git` is appended to."""
        server = ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, self))
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def answer(self, path: str, request: Mapping[str, str], body: bytes) -> bytes:
        """What `git http-backend` answers to a CGI request; a push is reported to `on_push`."""
        if not path.endswith("/git-receive-pack"):
            return self._backend(request, body)
        repository = path.removesuffix("/git-receive-pack").strip("/")
        with self._pushing:
            before = self._refs(repository)
            answer = self._backend(request, body)
            after = self._refs(repository)
        updates = tuple(
            RefUpdate(ref, before.get(ref, NO_COMMIT), after.get(ref, NO_COMMIT))
            for ref in sorted(before.keys() | after.keys())
            if before.get(ref) != after.get(ref)
        )
        if updates:
            self.on_push(repository.removesuffix(".git"), updates)
        return answer

    def _backend(self, request: Mapping[str, str], body: bytes) -> bytes:
        settings = {"GIT_CONFIG_COUNT": str(len(_CONFIG))}
        for number, (key, value) in enumerate(_CONFIG.items()):
            settings |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        project = {"GIT_PROJECT_ROOT": str(self.root), "GIT_HTTP_EXPORT_ALL": "1"}
        return Git(self.root).run("http-backend", stdin=body, env={**settings, **project, **request}).stdout

    def _refs(self, repository: str) -> dict[str, str]:
        folder = (self.root / repository).resolve()
        if not folder.is_relative_to(self.root.resolve()) or not folder.is_dir():
            return {}
        listing = Git(folder).run("for-each-ref", "--format=%(objectname) %(refname)").stdout.decode()
        return {ref: commit for commit, ref in (line.split(" ", 1) for line in listing.splitlines())}


class _Handler(BaseHTTPRequestHandler):
    """One connection: checks the token, reads the body as it comes and answers with the CGI's answer."""

    protocol_version = "HTTP/1.1"
    timeout = 60

    def __init__(self, server: GitServer, *args: object) -> None:
        self.git = server
        super().__init__(*args)  # type: ignore[arg-type]  # the three things that socketserver passes

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        body = self._body()
        if body is None:
            self.close_connection = True
        else:
            self._serve(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _serve(self, body: bytes) -> None:
        token = _token(self.headers.get("Authorization", ""))
        if token is None or not self.git.accepts(token):
            self._send(401, {"WWW-Authenticate": 'Basic realm="git"'}, b"Invalid username or token.\n")
            return
        address = urlsplit(self.path)
        path = unquote(address.path)
        request = {
            "PATH_INFO": path,
            "QUERY_STRING": address.query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "x-access-token",
            "REMOTE_ADDR": self.client_address[0],
        }
        head, _, content = self.git.answer(path, request, body).partition(b"\r\n\r\n")
        if not head:
            self._send(500, {}, b"git http-backend gave no answer\n")
            return
        headers = dict(BytesParser().parsebytes(head).items())
        self._send(int(headers.pop("Status", "200").split()[0]), headers, content)

    def _send(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _body(self) -> bytes | None:
        """The whole body, or None where the client went away in its middle."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            length = int(self.headers.get("Content-Length", 0))
            content = self.rfile.read(length)
            return content if len(content) == length else None
        chunks: list[bytes] = []
        while size := int(self.rfile.readline().split(b";")[0] or b"-1", 16):
            chunk = self.rfile.read(size) if size > 0 else b""
            if len(chunk) != size or self.rfile.readline() != b"\r\n":
                return None
            chunks.append(chunk)
        self.rfile.readline()
        return b"".join(chunks)


def _token(authorization: str) -> str | None:
    """The token of `Basic x-access-token:<token>`."""
    scheme, _, encoded = authorization.partition(" ")
    try:
        user, _, token = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return token if scheme.lower() == "basic" and user == "x-access-token" else None
