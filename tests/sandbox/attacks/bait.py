"""What the host holds out to an attack: a file, servers and a secret that no box may ever see."""

import json
import secrets
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

CANARY = "canary-of-the-host-"
CANARY_VARIABLE = "ISSUEWRIGHT_TEST_CANARY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bait:
    """Planted on the host for one attack."""

    token: str
    """On the command line of the attack's processes and in every name that it tries to make."""
    secret: str
    """In our environment and in the planted file."""
    file: Path
    socket_path: Path
    servers: tuple[socket.socket, ...]

    @property
    def abstract_name(self) -> str:
        """The name of the server that no file system shows."""
        return f"abstract-{self.token}"

    def visible(self) -> str:
        """What the attack is told: where things are, never the secret itself."""
        return json.dumps(
            {
                "port": self.servers[0].getsockname()[1],
                "file": str(self.file),
                "socket": str(self.socket_path),
                "abstract": self.abstract_name,
            }
        )

    def visitors(self) -> list[str]:
        """The servers that somebody connected to."""
        return [str(server.getsockname()) for server in self.servers if _was_visited(server)]


@contextmanager
def planted(folder: Path) -> Iterator[Bait]:
    """Put the bait out; the caller puts the secret into the environment."""
    token = f"attack-{secrets.token_hex(8)}"
    file, socket_path = folder / "planted", folder / "server.sock"
    secret = CANARY + secrets.token_hex(8)
    file.write_text(secret)
    with ExitStack() as stack:
        servers = (
            stack.enter_context(socket.create_server(("127.0.0.1", 0))),
            stack.enter_context(_unix_server(str(socket_path))),
            stack.enter_context(_unix_server(f"\0abstract-{token}")),
        )
        yield Bait(token=token, secret=secret, file=file, socket_path=socket_path, servers=servers)


def _unix_server(address: str) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind(address)
    server.listen()
    if not address.startswith("\0"):
        Path(address).chmod(0o777)
    return server


def _was_visited(server: socket.socket) -> bool:
    server.setblocking(False)
    try:
        connection, _ = server.accept()
    except BlockingIOError:
        return False
    connection.close()
    return True
