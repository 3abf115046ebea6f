"""Kills a process together with the child that it just started, at whatever moment it is caught."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

_STOPPED = frozenset("TtZX")
_PATIENCE_SECONDS = 0.5
_PAUSE_SECONDS = 0.001


def kill_with_children(pid: int) -> None:
    """Kill a process of ours that is not yet reaped, and its direct children first.

    bubblewrap asks to die with its parent only after it was cloned. Killed in between, its child would
    live on, so the parent is frozen before its children are listed. A child that is the first of a process
    namespace takes the whole namespace along.
    """
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
        _wait_until_stopped(pid)
        for child in _children(pid):
            os.kill(child, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _wait_until_stopped(pid: int) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < deadline:
        stat = _stat(Path("/proc", str(pid)))
        if stat is None or stat[0] in _STOPPED:
            return
        time.sleep(_PAUSE_SECONDS)


def _children(pid: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        stat = _stat(folder) if folder.name.isdecimal() else None
        if stat is not None and stat[1] == str(pid):
            found.append(int(folder.name))
    return found


def _stat(folder: Path) -> list[str] | None:
    """State, parent and so on; the fields after the name, which may hold anything."""
    try:
        return (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
