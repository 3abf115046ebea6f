"""The real service, `issuewright serve`, in a process of its own."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import create_server
from urllib.error import HTTPError, URLError

from bot.demo.emulator import APP_ID
from bot.demo.local_github import LocalGitHub
from pipelines.errors import InfrastructureError

_READY_SECONDS = 180
_STOP_SECONDS = 20
_SHOWN_LINES = 15
_NOT_FOR_THE_DEMO = ("ISSUEWRIGHT_GITHUB", "ISSUEWRIGHT_SERVICE", "ISSUEWRIGHT_DATA_DIR")


@dataclass(frozen=True)
class Service:
    """A running service; `log` is what it says."""

    url: str
    pid: int
    log: Path
    _process: subprocess.Popen[bytes]

    def check(self) -> None:
        """Raise InfrastructureError with the service's last words when it has ended."""
        code = self._process.poll()
        if code is not None:
            words = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise InfrastructureError(
                f"`issuewright serve` ended with exit code {code}. It said:\n"
                + "\n".join(words[-_SHOWN_LINES:])
            )


def free_port() -> int:
    """A loopback port that nobody listens on now."""
    with create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def run_service(
    github: LocalGitHub, folder: Path, *, port: int, settings: Mapping[str, str] | None = None
) -> Iterator[Service]:
    """Run the service for this GitHub until the block ends; its data and log lie in the folder.

    Raises InfrastructureError when it does not become ready.
    """
    log = folder / "service.log"
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as output:
        # A group of its own: Ctrl-C ends us first, and we end it.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "bot", "serve"],
            cwd=folder,
            env=_environment(github, folder, port) | dict(settings or {}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
    service = Service(url, process.pid, log, process)
    try:
        _wait_until_ready(service)
        yield service
    finally:
        _stop(process)


def _environment(github: LocalGitHub, folder: Path, port: int) -> dict[str, str]:
    """Ours, without what the user has set for another GitHub, in variables or in the configuration file."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_FOR_THE_DEMO)}
    emulator = github.emulator
    return kept | {
        "XDG_CONFIG_HOME": str(folder),
        "ISSUEWRIGHT_DATA_DIR": str(folder / "data"),
        "ISSUEWRIGHT_GITHUB__API_URL": emulator.url,
        "ISSUEWRIGHT_GITHUB__GIT_URL": github.git_url,
        "ISSUEWRIGHT_GITHUB__APP_ID": str(APP_ID),
        "ISSUEWRIGHT_GITHUB__PRIVATE_KEY": emulator.private_key,
        "ISSUEWRIGHT_GITHUB__WEBHOOK_SECRET": emulator.world.webhook_secret,
        "ISSUEWRIGHT_GITHUB__WRITE_SECONDS": "0",
        "ISSUEWRIGHT_SERVICE__HOST": "127.0.0.1",
        "ISSUEWRIGHT_SERVICE__PORT": str(port),
        "ISSUEWRIGHT_SERVICE__PROGRESS_SECONDS": "1",
    }


def _wait_until_ready(service: Service) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not _ready(service.url):
        service.check()
        if time.monotonic() > deadline:
            raise InfrastructureError(
                f"`issuewright serve` was not ready within {_READY_SECONDS} s; its words are in {service.log}"
            )
        time.sleep(0.1)


def _ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=5):  # noqa: S310  our own loopback URL
            return True
    except HTTPError as error:
        error.close()
        return False
    except (URLError, OSError):
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the service as an operator would, and by force when it or the user does not want to wait."""
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
