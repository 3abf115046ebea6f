"""The sandbox boundary: what a box promises, whatever backend holds it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Literal, Protocol, Self

WORK_DIR = PurePosixPath("/work")
"""Where files are put and commands start, in every backend."""

PACKAGES_DIR = PurePosixPath("/opt/packages")
"""Where a box sees the packages of a repository; first on Python's path after the standard library."""

MIB = 1024 * 1024


class LimitKind(StrEnum):
    """A limit that a command can run into."""

    WALL = "wall"
    MEMORY = "memory"
    PROCESSES = "processes"
    DISK = "disk"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Caps for one command. There is never network, whatever the limits."""

    wall_seconds: float = 60.0
    memory_bytes: int = 2048 * MIB
    processes: int = 128
    disk_bytes: int = 512 * MIB
    output_bytes: int = MIB
    """For stdout and stderr, each."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not (value > 0 and math.isfinite(value)):
                raise ValueError(f"the limit {limit.name} is {value}; it must be positive and finite")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a command used; None where the backend cannot tell."""

    wall_seconds: float
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One captured stream: its first and last bytes, and how many between them were dropped."""

    head: bytes = b""
    tail: bytes = b""
    dropped_bytes: int = 0

    @property
    def text(self) -> str:
        """The stream as text, undecodable bytes replaced, with a mark where bytes were dropped."""
        gap = f"\n[... {self.dropped_bytes} bytes dropped ...]\n" if self.dropped_bytes else ""
        return self.head.decode(errors="replace") + gap + self.tail.decode(errors="replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecResult:
    """How a command ended. A failing command is a result, never an exception."""

    exit_code: int
    """As a shell reports it: 128 + signal number for a command that a signal ended."""
    limit: LimitKind | None = None
    """The limit that ended the command, if one did."""
    usage: Usage
    stdout: Output = field(default_factory=Output)
    stderr: Output = field(default_factory=Output)
    blocked_hosts: tuple[str, ...] = ()
    """Hosts that the command tried to reach, as far as it let that be seen."""

    @property
    def ok(self) -> bool:
        """Whether the command ended by itself with exit code 0."""
        return self.exit_code == 0 and self.limit is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """Files that came back, and those that were refused with the reason."""

    files: Mapping[str, bytes]
    refused: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """Third-party packages that boxes see read-only: a folder like site-packages, of regular files only."""

    digest: str
    """Hash of all that decides the content, in lower-case hexadecimal."""
    folder: Path


OnOutput = Callable[[Literal["stdout", "stderr"], bytes], None]


class Sandbox(Protocol):
    """One live box: files under `/work` stay between commands, processes do not."""

    async def put_files(self, files: Mapping[str, bytes]) -> None:
        """Write files at relative POSIX paths under `/work`; raises ValueError for a path that leaves it."""
        ...

    async def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = ".",
        stdin: bytes = b"",
        limits: Limits | None = None,
        on_output: OnOutput | None = None,
    ) -> ExecResult:
        """Run a command to its end or its limit; raises SandboxBroken when the box itself fails.

        `limits` are for this command alone; the disk, and the memory of all processes together, may stay
        those that the box was made with. Raises ValueError for a command that no kernel could start or a
        `cwd` that is no folder. Cancelling the call kills every process of the command within two seconds.
        """
        ...

    async def get_files(self, patterns: Sequence[str] = ("**",)) -> Collected:
        """Regular files under `/work` matching a glob, capped; everything else is refused by name."""
        ...

    async def destroy(self) -> None:
        """Kill what runs and remove what was written. Safe to call twice."""
        ...


class SandboxBackend(Protocol):
    """A way to hold boxes: bubblewrap or a container engine."""

    @property
    def name(self) -> str:
        """Short name for logs and evidence, such as `bubblewrap`."""
        ...

    async def check(self) -> None:
        """Raise SandboxUnavailable, saying what to install, unless boxes can be made here."""
        ...

    async def create(self, limits: Limits, *, job: str = "") -> Sandbox:
        """Make a box whose commands run under these limits unless told otherwise.

        `job` names whom the box serves, for operators. Raises SandboxUnavailable or SandboxBroken.
        """
        ...

    def with_packages(self, packages: Packages) -> Self:
        """This backend, whose further boxes see these packages; both are closed by closing either."""
        ...

    async def close(self) -> None:
        """Remove what is kept ready for further boxes; boxes in use are their users' to destroy."""
        ...
