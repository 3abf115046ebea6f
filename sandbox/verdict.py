"""Names the limit that ended a command, from what the kernel counted and what the command said."""

import re
import signal
from dataclasses import dataclass

from sandbox.protocol import LimitKind, Output

_TAIL = 4096
_SIGNS = (
    (LimitKind.MEMORY, re.compile(rb"MemoryError|std::bad_alloc|Cannot allocate memory")),
    (LimitKind.PROCESSES, re.compile(rb"Resource temporarily unavailable|can't start new thread")),
    (LimitKind.DISK, re.compile(rb"No space left on device|File too large|File size limit exceeded")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """How often the kernel refused or killed for a limit; zero where nothing counts."""

    out_of_memory: int = 0
    refused_processes: int = 0
    disk_full: bool = False
    """Whether the box's disk had no room left when the command ended."""


def limit_of(
    exit_code: int,
    *,
    stopped: LimitKind | None,
    counters: Counters,
    stdout: Output,
    stderr: Output,
) -> LimitKind | None:
    """The limit that ended a command; `stopped` is the one for which we killed it ourselves.

    A fork bomb that hides its errors only ends at the wall limit, so the kernel's counters come first there.
    """
    if stopped not in (None, LimitKind.WALL):
        return stopped
    if counters.out_of_memory:
        return LimitKind.MEMORY
    if counters.refused_processes:
        return LimitKind.PROCESSES
    if stopped is not None or exit_code == 0:
        return stopped
    if exit_code == 128 + signal.SIGXFSZ or counters.disk_full:
        return LimitKind.DISK
    return _named_by_output(stdout, stderr)


def _named_by_output(stdout: Output, stderr: Output) -> LimitKind | None:
    said = b"\n".join((output.head + output.tail)[-_TAIL:] for output in (stdout, stderr))
    return next((limit for limit, sign in _SIGNS if sign.search(said)), None)
