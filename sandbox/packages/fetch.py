"""Has uv fetch what can be had: a requirement that cannot be met is left out, and the rest tried again."""

import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from sandbox.disk import disk_exceeded
from sandbox.errors import SetupFailed
from sandbox.packages.diagnosis import blamed, diagnosis, reason, step
from sandbox.packages.uv_command import install_argv, install_env
from sandbox.packages.wanted import Wanted
from sandbox.process import Ended, run_process
from sandbox.protocol import MIB, LimitKind, Limits

_MOST_TRIES = 20
_UNSATISFIABLE = 1
"""uv's exit code when the indexes answered and the requirements cannot be met."""

OnProgress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How long fetching may take and how much it may hold on disk, downloads included."""

    seconds: float
    disk_bytes: int


@dataclass(slots=True, kw_only=True)
class Fetch:
    """One setup, in a folder of its own that is the caller's to remove."""

    folder: Path
    wanted: Wanted
    python: str
    preferred: str
    """Versions to take where the requirements allow them, as a constraint file."""
    bounds: Bounds
    on_progress: OnProgress
    _started: float = field(default_factory=time.monotonic)
    _pending: str = ""

    async def run(self, target: Path) -> dict[str, str]:
        """Fill the target folder; returns the requirements left out, with the reason. Raises SetupFailed.

        Every failed attempt leaves the folder empty.
        """
        left_out: dict[str, str] = {}
        remaining = list(self.wanted.requirements)
        for _ in range(_MOST_TRIES):
            complaint = await self._attempt(remaining, target)
            if complaint is None:
                return left_out
            culprits = blamed(complaint, remaining) or remaining
            left_out |= dict.fromkeys(culprits, reason(complaint))
            self.on_progress(f"left out: {', '.join(culprits)[:200]}")
            remaining = [one for one in remaining if one not in culprits]
            if not remaining:
                return left_out
        return left_out | dict.fromkeys(
            remaining, f"the rest cannot be met even without {_MOST_TRIES} others"
        )

    async def _attempt(self, requirements: Sequence[str], target: Path) -> str | None:
        """Try the preferred versions, then any; returns uv's complaint if neither can be had."""
        listed, preferred = self.folder / "requirements.txt", self.folder / "preferred.txt"
        listed.write_text("".join(self._line(one) for one in requirements))
        preferred.write_text(self.preferred)
        complaint = None
        for constraints in (None,) if self.wanted.locked else (preferred, None):
            argv = install_argv(
                requirements=listed,
                constraints=constraints,
                target=target,
                python=self.python,
                complete=self.wanted.locked,
            )
            ended = await self._run(argv)
            if ended.exit_code == 0:
                return None
            _empty(target)
            complaint = ended.stderr.text
            if ended.exit_code != _UNSATISFIABLE:
                raise SetupFailed(f"the packages could not be fetched: {diagnosis(complaint)}")
        return complaint

    def _line(self, requirement: str) -> str:
        """A line of a requirements file; uv refuses a file that has none of the hashes named there."""
        options = [f"--hash={value}" for value in self.wanted.hashes.get(requirement, ())]
        return " ".join([requirement, *options]) + "\n"

    async def _run(self, argv: Sequence[str]) -> Ended:
        too_slow = SetupFailed(f"the packages could not be fetched within {self.bounds.seconds:g} seconds")
        seconds = self._started + self.bounds.seconds - time.monotonic()
        if seconds <= 0:
            raise too_slow
        ended = await run_process(
            argv,
            env=install_env(os.environ, cache=self.folder / "cache"),
            stdin=b"",
            limits=Limits(wall_seconds=seconds),
            watch=partial(disk_exceeded, self.folder, self.bounds.disk_bytes),
            on_output=self._report,
        )
        if ended.stopped is LimitKind.WALL:
            raise too_slow
        if ended.stopped is LimitKind.DISK:
            raise SetupFailed(f"the packages need more than {self.bounds.disk_bytes // MIB} MiB on disk")
        return ended

    def _report(self, _stream: Literal["stdout", "stderr"], chunk: bytes) -> None:
        *lines, self._pending = (self._pending + chunk.decode(errors="replace")).split("\n")
        for line in lines:
            told = step(line)
            if told is not None:
                self.on_progress(told)


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
