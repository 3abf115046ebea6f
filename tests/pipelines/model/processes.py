"""Watching processes from outside."""

import subprocess
import time
from pathlib import Path

PARENT = """
import asyncio, sys
from pathlib import Path
from pipelines.model.embedded import EmbeddedServer

async def main():
    async with EmbeddedServer(Path(sys.argv[1])) as server:
        print(server.pid, flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""
"""Serves a GGUF file until it is killed, after printing the server's process id."""


def is_running(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be reaped."""
    state = _ps(pid, "stat=")
    return bool(state) and not state.startswith("Z")


def command_line(pid: int | None) -> str:
    return _ps(pid, "args=")


def _ps(pid: int | None, column: str) -> str:
    command = ["ps", "-ww", "-o", column, "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def ends_within(pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while is_running(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def wait_for_number(file: Path) -> int:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if file.exists() and (text := file.read_text()):
            return int(text)
        time.sleep(0.05)
    raise AssertionError(f"nothing was written to {file}")
