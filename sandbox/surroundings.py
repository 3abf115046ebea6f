"""What every command meets, whatever holds the box: its environment variables and its rlimits."""

from collections.abc import Mapping
from types import MappingProxyType

from sandbox.protocol import Limits

_OPEN_FILES = 1024

BOX_ENV: Mapping[str, str] = MappingProxyType(
    {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/tmp",  # noqa: S108 - the box's own
        "LANG": "C.UTF-8",
        "CI": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
)
"""Variables of every command; nothing asks questions, and equal runs do equal things."""


def prlimit_argv(limits: Limits, *, extra_processes: int = 0) -> list[str]:
    """The command prefix that sets the rlimits; `extra_processes` are our own that run under them."""
    return [
        "prlimit",
        f"--as={limits.memory_bytes}",
        f"--nproc={limits.processes + extra_processes}",
        f"--fsize={limits.disk_bytes}",
        f"--nofile={_OPEN_FILES}",
        "--core=0",
        "--",
    ]
