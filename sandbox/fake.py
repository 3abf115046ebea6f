"""A sandbox without processes, for tests: files in memory, results from a script."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from sandbox.paths import selected, split
from sandbox.protocol import Collected, ExecResult, Limits, OnOutput, Packages, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeCall:
    """One command as it was asked for."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "."
    stdin: bytes = b""
    limits: Limits = field(default_factory=Limits)


Script = Callable[[FakeCall, dict[str, bytes]], ExecResult]
"""Answers a command; it may read and change the box's files."""


def succeed(_call: FakeCall, _files: dict[str, bytes]) -> ExecResult:
    """The script in which every command succeeds and says nothing."""
    return ExecResult(exit_code=0, usage=Usage(wall_seconds=0.0))


class FakeSandbox:
    """Keeps files and calls for a test to look at."""

    def __init__(self, script: Script, limits: Limits) -> None:
        self.files: dict[str, bytes] = {}
        self.calls: list[FakeCall] = []
        self.destroyed = False
        self._script = script
        self._limits = limits

    async def put_files(self, files: Mapping[str, bytes]) -> None:
        """Keep the files; raises ValueError for a path that leaves the work folder."""
        for path in files:
            split(path)
        self.files.update(files)

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
        """Answer from the script."""
        call = FakeCall(
            argv=tuple(argv), env=dict(env or {}), cwd=cwd, stdin=stdin, limits=limits or self._limits
        )
        self.calls.append(call)
        result = self._script(call, self.files)
        if on_output is not None:
            on_output("stdout", result.stdout.head + result.stdout.tail)
            on_output("stderr", result.stderr.head + result.stderr.tail)
        return result

    async def get_files(self, patterns: Sequence[str] = ("**",)) -> Collected:
        """The kept files that match a glob."""
        return Collected(files={path: self.files[path] for path in self.files if selected(path, patterns)})

    async def destroy(self) -> None:
        """Forget the files."""
        self.files.clear()
        self.destroyed = True


class FakeBackend:
    """Makes fake boxes that share one script, and remembers them."""

    name = "fake"

    def __init__(self, script: Script = succeed) -> None:
        self.boxes: list[FakeSandbox] = []
        self.jobs: list[str] = []
        self.packages: list[Packages] = []
        self.closed = False
        self._script = script

    async def check(self) -> None:
        """Fake boxes can be made anywhere."""

    async def create(self, limits: Limits, *, job: str = "") -> FakeSandbox:
        """Make a fake box."""
        box = FakeSandbox(self._script, limits)
        self.boxes.append(box)
        self.jobs.append(job)
        return box

    def with_packages(self, packages: Packages) -> Self:
        """The same backend, which remembers the packages."""
        self.packages.append(packages)
        return self

    async def close(self) -> None:
        """Remember it."""
        self.closed = True
