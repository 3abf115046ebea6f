"""Guards and shared fixtures."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import BubblewrapBackend, SandboxBackend, SandboxUnavailable

_guard = {"model": False}
_LOCAL = ("127.", "::1", "localhost", "0.0.0.0")


def _audit(event: str, args: tuple[object, ...]) -> None:
    """Forbid connections that leave this machine, and model servers that no test asked for."""
    if event == "socket.connect":
        address = args[1]
        if isinstance(address, tuple) and not str(address[0]).startswith(_LOCAL):
            raise RuntimeError(f"a test tried to connect to {address}")
    elif event == "subprocess.Popen" and "embedded_server" in repr(args[1]) and not _guard["model"]:
        raise RuntimeError("a test without the marker `model` tried to start the embedded model")


sys.addaudithook(_audit)


def pytest_configure() -> None:
    """A suite that was started in the background ignores SIGINT, and so would the programs that it tries."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _model_only_where_marked(request: pytest.FixtureRequest) -> Iterator[None]:
    _guard["model"] = request.node.get_closest_marker("model") is not None
    yield
    _guard["model"] = False


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the settings and runs of whoever runs it."""
    home = tmp_path_factory.mktemp("home")
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(home / name.lower()))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
async def backend() -> SandboxBackend:
    """A real sandbox without a daemon."""
    found = BubblewrapBackend()
    try:
        await found.check()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    return found
