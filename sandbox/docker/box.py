"""One box in a running container."""

import asyncio
import io
import tarfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from docker.models.containers import Container

from sandbox.cancellation import uninterrupted
from sandbox.capture import Capture
from sandbox.docker.command import KILLED, RunnerReport, result_of, runner_argv
from sandbox.docker.supervision import Supervisor
from sandbox.errors import SandboxBroken
from sandbox.paths import is_literal, split
from sandbox.protocol import WORK_DIR, Collected, ExecResult, LimitKind, Limits, OnOutput, Output
from sandbox.results import Caps, collect_tar
from sandbox.surroundings import refuse_unrunnable

_OOM_COUNT = [
    "sh",
    "-c",
    "cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control 2>/dev/null",
]
# A path that leads through a link is left out: tar would follow it.
_PACK_NAMED = """for path do
  case $path in */*) [ "$(realpath -m -- "${path%/*}")" = "$PWD/${path%/*}" ] || continue ;; esac
  printf '%s\\0' "./$path"
done | tar -cf - --hard-dereference --no-recursion --null --files-from -"""
_GRACE_SECONDS = 3.0
_OWN_SECONDS = 120.0
_TAR_OVERHEAD = 4
_OWN_OUTPUT_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class _OwnEnd:
    exit_code: int
    stopped: LimitKind | None
    """Why it did not come to its own end."""
    stdout: Output
    stderr: Output


class DockerSandbox:
    """Holds its files in the container's memory; commands run one after the other."""

    def __init__(self, container: Container, *, uid: int, limits: Limits) -> None:
        self._supervisor = Supervisor(container, user=f"{uid}:{uid}")
        self._uid = uid
        self._limits = limits
        self._turn = asyncio.Lock()
        self._known_ooms = 0

    async def put_files(self, files: Mapping[str, bytes]) -> None:
        """Write files under `/work`; raises ValueError for a path that leaves it or cannot be written."""
        archive = _archive(files, self._uid)
        async with self._turn:
            self._refuse_if_spent()
            end = await self._tar("tar -xf - --unlink-first", stdin=archive)
        said = end.stderr.text.strip()
        if "No space left" in said or end.stopped:
            raise SandboxBroken(f"files could not be put into the box: {said or end.stopped}")
        if end.exit_code != 0:
            raise ValueError(f"files could not be put into the box; something else has that name: {said}")

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
        """Run a command; raises ValueError for a cwd that is no folder, SandboxBroken if the engine fails."""
        limits = limits or self._limits
        refuse_unrunnable(argv, env or {})
        workdir = WORK_DIR if cwd == "." else WORK_DIR.joinpath(*split(cwd))
        report = RunnerReport(limits, on_output)
        command = runner_argv(argv, env=env or {}, cwd=str(workdir), limits=limits)
        async with self._turn:
            self._refuse_if_spent()
            result = await self._run(command, report, stdin, limits)
        if report.fault is not None:
            raise report.fault
        if report.refused == "cwd":
            raise ValueError(f"cwd {cwd!r} is no folder that can be entered; put a file into it first")
        return result

    async def get_files(self, patterns: Sequence[str] = ("**",)) -> Collected:
        """Regular files under `/work` matching a glob; everything else is refused by name."""
        if self._supervisor.spent:
            return Collected(files={}, refused={"...": self._supervisor.spent})
        caps = Caps()
        # Where no pattern has a wildcard, nothing else is looked at, whatever a command left there.
        literal = all(map(is_literal, patterns))
        async with self._turn:
            end = await self._tar(
                _PACK_NAMED if literal else "tar -cf - --hard-dereference .",
                *(patterns if literal else ()),
                output_bytes=caps.total_bytes * _TAR_OVERHEAD,
            )
        archive = io.BytesIO(end.stdout.head if end.stopped else end.stdout.head + end.stdout.tail)
        collected = await asyncio.to_thread(collect_tar, archive, patterns, caps)
        more = {"...": "the box holds more than can be looked at"} if end.stopped else {}
        return replace(collected, refused={**collected.refused, **more})

    async def destroy(self) -> None:
        """Kill and remove the container."""
        await self._supervisor.destroy()

    def _refuse_if_spent(self) -> None:
        if self._supervisor.spent:
            raise SandboxBroken(f"{self._supervisor.spent}; make another box")

    async def _run(
        self, command: list[str], report: RunnerReport, stdin: bytes, limits: Limits
    ) -> ExecResult:
        started = time.monotonic()
        execution = self._supervisor.execution(command, on_chunk=report.feed, stdin=stdin)
        stopped = await self._supervisor.run(
            execution, seconds=limits.wall_seconds + _GRACE_SECONDS, enough=report.enough
        )
        exit_code = 0
        if report.end is None and not report.refused:
            exit_code = KILLED if stopped else await execution.exit_code()
            if not (report.begun or stopped):
                raise SandboxBroken(f"the box's runner failed: {report.diagnosis.decode(errors='replace')}")
            # The command ended its own runner, one way or the other.
            exit_code = exit_code or KILLED
            await uninterrupted(self._supervisor.end_all())
        if stopped and report.overflowed:
            stopped = LimitKind.OUTPUT
        return result_of(
            report,
            stopped=stopped,
            exit_code=exit_code,
            seconds=time.monotonic() - started,
            out_of_memory=0 if self._supervisor.spent else await self._new_ooms(report),
        )

    async def _new_ooms(self, report: RunnerReport) -> int:
        if report.refused:
            return 0
        if report.end is not None:
            total = int(report.end["out_of_memory"])
        else:
            lines = (await self._own(_OOM_COUNT)).stdout.text.splitlines()
            total = sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
        new, self._known_ooms = total - self._known_ooms, total
        return new

    async def _tar(
        self, script: str, *names: str, stdin: bytes = b"", output_bytes: int = _OWN_OUTPUT_BYTES
    ) -> _OwnEnd:
        """Run tar in the work folder; what a command closed to itself is opened if it is in the way."""
        command = [
            "sh",
            "-c",
            f"chmod u+rwx {WORK_DIR} 2>/dev/null; cd {WORK_DIR} && {script}",
            "tar",
            *names,
        ]
        end = await self._own(command, stdin=stdin, output_bytes=output_bytes)
        if end.exit_code != 0 and "Permission denied" in end.stderr.text:
            await self._own(["chmod", "-R", "u+rwX", str(WORK_DIR)])
            end = await self._own(command, stdin=stdin, output_bytes=output_bytes)
        return end

    async def _own(
        self, argv: Sequence[str], *, stdin: bytes = b"", output_bytes: int = _OWN_OUTPUT_BYTES
    ) -> _OwnEnd:
        """Run a command of ours as the box's user, until it has said as much as anyone wants to hear."""
        captures = {"stdout": Capture(output_bytes), "stderr": Capture(_OWN_OUTPUT_BYTES)}
        enough = asyncio.Event()

        def feed(name: Literal["stdout", "stderr"], chunk: bytes) -> None:
            captures[name].feed(chunk)
            if captures["stdout"].overflowed:
                enough.set()

        execution = self._supervisor.execution(argv, on_chunk=feed, stdin=stdin)
        stopped = await self._supervisor.run(execution, seconds=_OWN_SECONDS, enough=enough)
        return _OwnEnd(
            exit_code=KILLED if stopped else await execution.exit_code(),
            stopped=stopped,
            stdout=captures["stdout"].output(),
            stderr=captures["stderr"].output(),
        )


def _archive(files: Mapping[str, bytes], uid: int) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, content in files.items():
            split(path)
            member = tarfile.TarInfo(path)
            member.size, member.mode, member.uid, member.gid = len(content), 0o644, uid, uid
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()
