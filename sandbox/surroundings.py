"""What every command meets, whatever holds the box: its environment variables and its rlimits."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType

from sandbox.protocol import MIB, Limits

PRLIMIT = "/usr/bin/prlimit"
"""By its whole path: a search could find another of that name in the box."""

NOTES_FILE = PurePosixPath(".issuewright/blocked-hosts")
"""Where, under the work folder, the site hook notes the hosts that a command tried to reach."""

_OPEN_FILES = 1024
TMP_BYTES = 256 * MIB
SHM_BYTES = 64 * MIB
"""Of /tmp and /dev/shm, which are empty at the start of each command."""

_BYTES_PER_INODE = 4096
_LONGEST_STRING = 128 * 1024 - 1
"""The kernel's limit for one argument or variable."""
_LONGEST_COMMAND = 512 * 1024
"""Far enough below the kernel's limit for all of them, which depends on its settings."""

HOST_ENV: Mapping[str, str] = MappingProxyType(
    {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
)
"""Variables of the programs of this machine that hold and clean up boxes."""

BOX_ENV: Mapping[str, str] = MappingProxyType(
    {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",  # noqa: S108 - the box's own
        "LANG": "C.UTF-8",
        "CI": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
)
"""Variables of every command; nothing asks questions, and equal runs do equal things."""


def inodes_for(disk_bytes: int) -> int:
    """How many files and folders a disk of that size may hold; never 0, which would mean no limit."""
    return max(16, disk_bytes // _BYTES_PER_INODE)


def rlimits(limits: Limits, *, extra_processes: int = 0) -> Mapping[str, int]:
    """The rlimits of a command; `extra_processes` are our own that run under them."""
    return {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_NPROC": limits.processes + extra_processes,
        "RLIMIT_FSIZE": limits.disk_bytes,
        "RLIMIT_NOFILE": _OPEN_FILES,
        "RLIMIT_CORE": 0,
    }


def prlimit_argv(limits: Limits, *, extra_processes: int = 0) -> list[str]:
    """The command prefix that sets the rlimits."""
    wanted = rlimits(limits, extra_processes=extra_processes)
    options = [f"--{name.removeprefix('RLIMIT_').lower()}={value}" for name, value in wanted.items()]
    return [PRLIMIT, *options, "--"]


def refuse_unrunnable(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Raise ValueError for a command that no kernel could start, naming what is wrong with it."""
    if not argv:
        raise ValueError("the command is empty; give at least the program")
    for name in env:
        if not name or "=" in name:
            raise ValueError(f"environment variable {name!r}: a name is not empty and has no '='")
    _refuse_strings([*argv, *(f"{name}={value}" for name, value in env.items())])


def _refuse_strings(strings: Sequence[str]) -> None:
    total = 0
    for text in strings:
        if "\0" in text:
            raise ValueError(f"{text[:40]!r}: an argument or variable cannot hold a NUL character")
        size = len(text.encode(errors="surrogateescape"))
        if size > _LONGEST_STRING:
            raise ValueError(f"{text[:40]!r}…: longer than {_LONGEST_STRING} bytes; pass it in a file")
        total += size
    if total > _LONGEST_COMMAND:
        raise ValueError(f"arguments and variables exceed {_LONGEST_COMMAND} bytes; pass them in a file")
