"""One hostile or buggy program, and what must become of it, as data."""

from dataclasses import dataclass
from pathlib import Path

from sandbox import LimitKind, Limits
from sandbox.protocol import MIB

QUICK = Limits(
    wall_seconds=15, memory_bytes=256 * MIB, processes=32, disk_bytes=8 * MIB, output_bytes=64 * 1024
)
"""For programs that end by themselves; the wall is far away, so that a busy machine does not matter."""

ENDLESS = Limits(
    wall_seconds=3, memory_bytes=256 * MIB, processes=32, disk_bytes=8 * MIB, output_bytes=64 * 1024
)
"""For programs that only a limit ends."""

ENDED_BY_ITSELF: frozenset[LimitKind | None] = frozenset({None})
NO_CGROUP = "without a cgroup the kernel counts memory and processes for each process by itself"
NO_OWN_DISK = "without a file system of its own, only names can be counted"
SAME_USER = "in a user namespace with one id, bubblewrap's own first process is the command's user"
NOT_PERMITTED = frozenset({"EPERM", "EACCES", "ENOSYS"})
NOT_THERE = frozenset({"ENOENT", "ENXIO", "EPERM", "EACCES"})
NOT_WRITABLE = frozenset({"EROFS", "EACCES", "EPERM", "ENOENT"})

STARTED = "STARTED"
FINISHED = "FINISHED"
DENIED = "DENIED"
ALLOWED = "ALLOWED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A program for `python3 -c` behind `inside.py`, or for bash, with its expected end."""

    name: str
    program: str
    shell: bool = False
    limits: Limits = QUICK
    named: frozenset[LimitKind | None] = ENDED_BY_ITSELF
    """The limits that may be reported, None for an end without one."""
    exit_codes: frozenset[int] | None = None
    """The exit codes that may be reported; by default any."""
    denied: frozenset[str] = frozenset()
    """If given, every attempt of the program must fail, with one of these error names, to its last line."""
    said: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    beyond_ordinary: str = ""
    """Why bubblewrap in the hands of an ordinary user cannot prevent or name this; what is left is that the
    host stays as it was and the next command works. Empty for most."""

    def argv(self, token: str, bait: str) -> list[str]:
        """The command; the token marks its processes, the bait says what of the host to look for."""
        if self.shell:
            return ["bash", "-c", f"echo {STARTED}\n{self.program}", "attack", token]
        return ["python3", "-c", f"{_inside()}\n{self.program}\nprint('{FINISHED}')\n", token, bait]


def _inside() -> str:
    return Path(__file__).with_name("inside.py").read_text()
