"""The life of the server's child process, with a stand-in for the llama.cpp wheel."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipelines.errors import InfrastructureError, RefusalError
from pipelines.model.embedded import EmbeddedServer
from tests.pipelines.model.processes import PARENT, command_line, ends_within, is_running, wait_for_number

# Marked although it needs no weights: only marked tests may start the embedded server at all.
pytestmark = pytest.mark.model

WHEEL = """
import os, sys, time

class CommonParams:
    class model:
        path = ""

class Server:
    def __init__(self, params):
        print("loading", params.model.path)
        {start}
        self.listening_address = f"http://{{params.hostnames[0]}}:{{params.n_ctx}}"
"""


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "tiny model.gguf"
    path.write_bytes(b"GGUF")
    return path


class Wheel:
    """Puts a stand-in for xllamacpp first on the import path of this process and its children."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder.mkdir()
        self._file = folder / "xllamacpp.py"
        self.starts_by("pass")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.setenv("PYTHONPATH", str(folder))

    def starts_by(self, statement: str) -> None:
        self._file.write_text(WHEEL.format(start=statement))


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    return Wheel(tmp_path / "wheel", monkeypatch)


async def test_address_key_and_name(wheel: Wheel, gguf: Path) -> None:
    async with EmbeddedServer(gguf, context_tokens=1000, parallel=3) as server:
        assert server.base_url == "http://127.0.0.1:3000/v1"
        assert server.model == "tiny model"
        assert len(server.api_key) >= 32


async def test_key_is_not_on_the_command_line(wheel: Wheel, gguf: Path) -> None:
    async with EmbeddedServer(gguf) as server:
        line = command_line(server.pid)
        assert "embedded_server" in line
        assert server.api_key not in line


async def test_child_ends_with_the_block(wheel: Wheel, gguf: Path) -> None:
    async with EmbeddedServer(gguf) as server:
        pid = server.pid
        assert pid
        assert is_running(pid)
    assert not is_running(pid)
    assert server.pid is None


async def test_child_that_ignores_the_polite_signal_ends_too(wheel: Wheel, gguf: Path) -> None:
    wheel.starts_by("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    async with EmbeddedServer(gguf) as server:
        pid = server.pid
        begun = time.monotonic()
    assert time.monotonic() - begun < 10
    assert pid
    assert not is_running(pid)


async def test_child_ends_with_a_failing_block(wheel: Wheel, gguf: Path) -> None:
    server = EmbeddedServer(gguf)
    pids = []

    async def fail() -> None:
        async with server:
            pids.append(server.pid)
            raise KeyError

    with pytest.raises(KeyError):
        await fail()
    assert pids[0]
    assert not is_running(pids[0])


async def test_one_server_can_be_started_again(wheel: Wheel, gguf: Path) -> None:
    server = EmbeddedServer(gguf)
    for _ in range(2):
        async with server:
            assert server.base_url


async def test_death_at_the_start_shows_what_was_said(wheel: Wheel, gguf: Path) -> None:
    wheel.starts_by("raise RuntimeError('unknown model architecture')")
    with pytest.raises(InfrastructureError, match=r"exit code 1\)(?s:.*)unknown model architecture"):
        async with EmbeddedServer(gguf):
            pass


@pytest.mark.parametrize(
    ("number", "cause"),
    [(signal.SIGILL, "instructions that this processor lacks"), (signal.SIGKILL, "memory")],
)
async def test_death_by_signal_is_explained(wheel: Wheel, gguf: Path, number: int, cause: str) -> None:
    wheel.starts_by(f"os.kill(os.getpid(), {int(number)})")
    with pytest.raises(InfrastructureError, match=cause):
        async with EmbeddedServer(gguf):
            pass


async def test_start_that_takes_too_long(wheel: Wheel, gguf: Path) -> None:
    wheel.starts_by("time.sleep(600)")
    with pytest.raises(InfrastructureError, match=r"not ready after 0\.3 s"):
        async with EmbeddedServer(gguf, startup_seconds=0.3):
            pass


async def test_cancelled_start_leaves_nothing(wheel: Wheel, gguf: Path, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    wheel.starts_by(f"open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)")
    start = asyncio.create_task(EmbeddedServer(gguf).__aenter__())
    child = await asyncio.to_thread(wait_for_number, note)
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert await asyncio.to_thread(ends_within, child, 5)


async def test_missing_wheel_names_the_extra(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(RefusalError, match=r"pip install 'issuewright\[embedded\]'"):
        async with EmbeddedServer(gguf):
            pass


async def test_missing_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match="cannot be read"):
        async with EmbeddedServer(tmp_path / "none.gguf"):
            pass


async def test_package_in_the_working_directory_is_not_run(
    wheel: Wheel, gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "repository" / "pipelines"
    trap.mkdir(parents=True)
    (trap / "__init__.py").write_text("raise SystemExit('trapped')")
    monkeypatch.chdir(trap.parent)
    async with EmbeddedServer(gguf) as server:
        assert server.base_url


@pytest.mark.parametrize("moment", ["serving", "loading"])
def test_child_dies_when_its_parent_is_killed(wheel: Wheel, gguf: Path, tmp_path: Path, moment: str) -> None:
    note = tmp_path / "pid"
    pause = "time.sleep(600)" if moment == "loading" else "pass"
    wheel.starts_by(f"open({str(note)!r}, 'w').write(str(os.getpid())); {pause}")
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(gguf)], stdout=subprocess.PIPE)
    with parent:
        child = wait_for_number(note)
        if moment == "serving":
            assert parent.stdout
            assert int(parent.stdout.readline()) == child
        assert is_running(child)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    assert ends_within(child, 10)


WATCHDOG = """
import sys, threading
from pipelines.model import embedded_server
threading.Thread(target=embedded_server._watch, args=(int(sys.argv[1]),)).start()
print("watching", flush=True)
"""


def watchdog(parent: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WATCHDOG, str(parent)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_watchdog_notices_a_closed_pipe() -> None:
    with watchdog(os.getpid()) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "watching\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1)
        process.stdin.close()
        assert process.wait(timeout=30) == 1


def test_watchdog_notices_another_parent() -> None:
    with watchdog(1) as process:
        assert process.wait(timeout=30) == 1
