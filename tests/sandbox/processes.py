"""Looks for processes on the host."""

import time
from collections.abc import Callable
from pathlib import Path


def alive_with(token: str) -> list[str]:
    """Command lines on this machine that contain the token."""
    lines = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if token in line:
                lines.append(line)
    return lines


def gone_within(token: str, seconds: float) -> bool:
    """Whether no process with the token is left before the time is up."""
    return _within(seconds, lambda: not alive_with(token))


def appeared_within(token: str, seconds: float) -> bool:
    """Whether a process with the token is there before the time is up."""
    return _within(seconds, lambda: bool(alive_with(token)))


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
