"""One command of a box: what is sent to the runner in the container, and what its frames say."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal

from sandbox.blocked import blocked_hosts
from sandbox.capture import Capture
from sandbox.protocol import WORK_DIR, ExecResult, LimitKind, Limits, OnOutput, Usage
from sandbox.seccomp import seccomp_programs
from sandbox.surroundings import BOX_ENV, NOTES_FILE, rlimits
from sandbox.verdict import Counters, limit_of

_RUNNER_PROCESSES = 1
_DISKS = (str(WORK_DIR), "/tmp")  # noqa: S108 - the box's own
_SHORT_LIVED = ("/tmp", "/dev/shm")  # noqa: S108
KILLED = 137
_HEADER = 5
_PIECE = 100_000
"""Characters that fit into one argument."""


def runner_argv(argv: Sequence[str], *, env: Mapping[str, str], cwd: str, limits: Limits) -> list[str]:
    """The process to start in the container; `cwd` is absolute."""
    settings = {
        "cwd": cwd,
        "env": {**BOX_ENV, **env},
        "seconds": limits.wall_seconds,
        "output_bytes": limits.output_bytes,
        "rlimits": rlimits(limits, extra_processes=_RUNNER_PROCESSES),
        "tasks": limits.processes,
        "disks": _DISKS,
        "short_lived": _SHORT_LIVED,
        "seccomp": {machine: program.hex() for machine, program in seccomp_programs().items()},
        "notes": str(WORK_DIR / NOTES_FILE),
    }
    source = (files("sandbox.docker") / "runner.py").read_text()
    # -I and -S: nothing that lies in the box may be imported into the runner.
    told = json.dumps(settings)
    pieces = [told[start : start + _PIECE] for start in range(0, len(told), _PIECE)]
    return ["python3", "-I", "-S", "-c", source, str(len(pieces)), *pieces, *argv]


@dataclass(slots=True)
class RunnerReport:
    """Takes the runner's streams apart while they come."""

    limits: Limits
    on_output: OnOutput | None = None
    stdout: Capture = field(init=False)
    stderr: Capture = field(init=False)
    begun: bool = False
    refused: str = ""
    """What was wrong with the order; the command was never started."""
    diagnosis: bytearray = field(default_factory=bytearray)
    """What the runner itself, or the engine in its place, complained about."""
    end: Mapping[str, Any] | None = None
    fault: Exception | None = None
    """What `on_output` raised."""
    enough: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nothing more needs to come."""
    _pending: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self.stdout = Capture(self.limits.output_bytes)
        self.stderr = Capture(self.limits.output_bytes)

    @property
    def overflowed(self) -> bool:
        """Whether a stream brought more than the limit."""
        return self.stdout.overflowed or self.stderr.overflowed

    def feed(self, name: Literal["stdout", "stderr"], chunk: bytes) -> None:
        """Take what the runner wrote."""
        if name == "stderr":
            self.diagnosis += chunk[: 2000 - len(self.diagnosis)]
            return
        self._pending += chunk
        for kind, payload in self._frames():
            self._take(kind, payload)

    def _frames(self) -> Iterator[tuple[bytes, bytes]]:
        while len(self._pending) >= _HEADER:
            end = _HEADER + int.from_bytes(self._pending[1:_HEADER], "big")
            if len(self._pending) < end:
                return
            frame = bytes(self._pending[:end])
            del self._pending[:end]
            yield frame[:1], frame[_HEADER:]

    def _take(self, kind: bytes, payload: bytes) -> None:
        if kind == b"B":
            self.begun = True
        elif kind == b"E":
            self.end = json.loads(payload)
        elif kind == b"R":
            self.refused = payload.decode()
        else:
            name: Literal["stdout", "stderr"] = "stdout" if kind == b"1" else "stderr"
            capture = self.stdout if kind == b"1" else self.stderr
            capture.feed(payload)
            if not capture.overflowed:
                self._hand_on(name, payload)

    def _hand_on(self, name: Literal["stdout", "stderr"], payload: bytes) -> None:
        if self.on_output is not None and self.fault is None:
            try:
                self.on_output(name, payload)
            except Exception as error:  # noqa: BLE001  raised to whoever waits for the command
                self.fault = error
                self.enough.set()


def result_of(
    report: RunnerReport, *, stopped: LimitKind | None, exit_code: int, seconds: float, out_of_memory: int
) -> ExecResult:
    """The result as the runner reports it; `exit_code` and so on are for a runner that was killed.

    `out_of_memory` counts the kills since the command began.
    """
    end = report.end or {"code": exit_code, "limit": None, "seconds": seconds, "notes": ""}
    stopped = stopped or (LimitKind(end["limit"]) if end["limit"] else None)
    stdout, stderr = report.stdout.output(), report.stderr.output()
    code = KILLED if stopped else end["code"]
    counters = Counters(
        out_of_memory=out_of_memory,
        refused_processes=int(end.get("crowded", False)),
        disk_full=end.get("disk_full", False),
    )
    return ExecResult(
        exit_code=code,
        limit=limit_of(code, stopped=stopped, counters=counters, stdout=stdout, stderr=stderr),
        usage=Usage(
            wall_seconds=end["seconds"], cpu_seconds=end.get("cpu"), peak_memory_bytes=end.get("peak")
        ),
        stdout=stdout,
        stderr=stderr,
        blocked_hosts=blocked_hosts(end["notes"].encode(), stderr),
    )
