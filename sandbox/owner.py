"""Names the process that something belongs to, so that what a dead one left can be told apart."""

import os
from pathlib import Path


def this_process() -> str:
    """Names this process so that it is never mistaken for a later one with the same number."""
    return f"{_world()}/{os.getpid()}/{_start_time(os.getpid())}"


def is_alive(owner: str) -> bool:
    """Whether a named process lives; True for one that cannot be seen from here."""
    world, _, process = owner.partition("/")
    number, _, started = process.partition("/")
    if world != _world() or not number.isdecimal():
        return True
    seen = _start_time(int(number))
    return seen == started if seen else _is_hidden(int(number))


def _is_hidden(pid: int) -> bool:
    """Whether a process is there although /proc does not show it, as that of another user may be."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _world() -> str:
    """The boot of this machine and the process namespace in which our numbers mean something."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}.{Path('/proc/self/ns/pid').stat().st_ino}"


def _start_time(pid: int) -> str:
    """Clock ticks since boot at which a process began; empty for one that is not there."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except OSError:
        return ""
