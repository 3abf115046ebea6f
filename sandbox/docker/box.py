"""One box in a running container."""

import asyncio
import io
import tarfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from docker.errors import DockerException, NotFound
from docker.models.containers import Container

from sandbox.capture import Capture
from sandbox.docker.command import RunnerReport, result_of, runner_argv
from sandbox.docker.execution import ContainerExec
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
_KILLED = 137
_GRACE_SECONDS = 3.0
_OWN_SECONDS = 120.0
_CLEANUP_SECONDS = 10.0
_KILL_SECONDS = 5.0
_KILL_PAUSE_SECONDS = 0.1
_WAKE_SECONDS = 1.0
_REMOVAL_SECONDS = 20
_TAR_OVERHEAD = 4
_OWN_OUTPUT_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class _OwnEnd:
    exit_code: int
    stdout: Output
    stderr: Output


class DockerSandbox:
    """Holds its files in the container's memory; commands run one after the other."""

    def __init__(self, container: Container, *, uid: int, limits: Limits) -> None:
        self._container = container
        self._user = f"{uid}:{uid}"
        self._uid = uid
        self._limits = limits
        self._turn = asyncio.Lock()
        self._known_ooms = 0
        self._alive = True

    async def put_files(self, files: Mapping[str, bytes]) -> None:
        """Write files under `/work`; raises ValueError for a path that leaves it or cannot be written."""
        archive = _archive(files, self._uid)
        end = await self._tar("-xf", "-", "--unlink-first", stdin=archive)
        said = end.stderr.text.strip()
        if "No space left" in said:
            raise SandboxBroken(f"files could not be put into the box: {said}")
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
            result = await self._run(command, report, stdin, limits)
        if report.refused == "cwd":
            raise ValueError(f"cwd {cwd!r} is not a folder in the box; put a file into it first")
        return result

    async def get_files(self, patterns: Sequence[str] = ("**",)) -> Collected:
        """Regular files under `/work` matching a glob; everything else is refused by name."""
        caps = Caps()
        # Where no pattern has a wildcard, nothing else is looked at, whatever a command left there. Only
        # first names are told to tar: it would follow a link in the middle of a path.
        literal = all(map(is_literal, patterns))
        wanted = sorted({f"./{split(pattern)[0]}" for pattern in patterns}) if literal else ["."]
        end = await self._tar(
            *("-cf", "-", "--hard-dereference", "--", *wanted), output_bytes=caps.total_bytes * _TAR_OVERHEAD
        )
        cut = end.stdout.dropped_bytes > 0
        archive = io.BytesIO(end.stdout.head if cut else end.stdout.head + end.stdout.tail)
        collected = await asyncio.to_thread(collect_tar, archive, patterns, caps)
        more = {"...": "the box holds more than can be looked at"} if cut else {}
        return replace(collected, refused={**collected.refused, **more})

    async def destroy(self) -> None:
        """Kill and remove the container."""
        await asyncio.shield(asyncio.to_thread(remove_container, self._container))

    async def _run(
        self, command: list[str], report: RunnerReport, stdin: bytes, limits: Limits
    ) -> ExecResult:
        started = time.monotonic()
        execution = ContainerExec(
            self._container, command, user=self._user, on_chunk=report.feed, stdin=stdin
        )
        stopped = await self._supervised(
            execution, seconds=limits.wall_seconds + _GRACE_SECONDS, overflowed=lambda: report.overflowed
        )
        exit_code = 0
        if report.end is None and not report.refused and stopped is None:
            exit_code = await execution.exit_code()
            if not report.begun:
                raise SandboxBroken(f"the box's runner failed: {report.diagnosis.decode(errors='replace')}")
            # The command ended its own runner, one way or the other.
            exit_code = exit_code or _KILLED
            await self._kill_all()
        return result_of(
            report,
            stopped=stopped,
            exit_code=exit_code,
            seconds=time.monotonic() - started,
            out_of_memory=await self._new_ooms(report) if self._alive else 0,
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

    async def _supervised(
        self, execution: ContainerExec, *, seconds: float, overflowed: Callable[[], bool] = lambda: False
    ) -> LimitKind | None:
        """Run a process to its end; past its time, or when cancelled, everything in the box is killed.

        The runner enforces the same limits inside; this is for a runner that was killed or held up.
        """
        running = asyncio.create_task(execution.run())
        try:
            await asyncio.wait({running}, timeout=seconds)
            if not running.done():
                # A runner that the command has stopped still knows what to do.
                await self._signal_all("CONT")
                await asyncio.wait({running}, timeout=_WAKE_SECONDS)
            late = not running.done()
        finally:
            if not running.done():
                await asyncio.shield(self._finish(execution, running))
        if late:
            with suppress(SandboxBroken):  # what we ended by force may complain
                await running
            return LimitKind.OUTPUT if overflowed() else LimitKind.WALL
        await running
        return None

    async def _finish(self, execution: ContainerExec, running: "asyncio.Task[None]") -> None:
        """Kill until the process is over: one that is only being started does not hear the first time.

        Where killing from inside does not help, the container goes, and the box is of no use any more.
        """
        deadline = time.monotonic() + _CLEANUP_SECONDS
        while not running.done() and time.monotonic() < deadline:
            await self._kill_all()
            await asyncio.wait({running}, timeout=_KILL_PAUSE_SECONDS)
        if not running.done():
            self._alive = False
            await self.destroy()
            execution.abandon()
            await asyncio.wait({running}, timeout=_CLEANUP_SECONDS)

    async def _kill_all(self) -> None:
        await self._signal_all("KILL")

    async def _signal_all(self, name: str) -> None:
        """Signal every process of the box's user; the container's own keeper is another user's."""
        command = ["sh", "-c", f"kill -{name} -1"]
        sending = ContainerExec(self._container, command, user=self._user, on_chunk=_ignore)
        with suppress(SandboxBroken, TimeoutError):
            await asyncio.wait_for(sending.run(), _KILL_SECONDS)

    async def _tar(
        self, *arguments: str, stdin: bytes = b"", output_bytes: int = _OWN_OUTPUT_BYTES
    ) -> _OwnEnd:
        """Run tar in the work folder; what a command closed to itself is opened if it is in the way."""
        command = ["tar", "-C", str(WORK_DIR), *arguments]
        end = await self._own(command, stdin=stdin, output_bytes=output_bytes)
        if end.exit_code != 0 and "Permission denied" in end.stderr.text:
            await self._own(["chmod", "-R", "u+rwX", str(WORK_DIR)])
            end = await self._own(command, stdin=stdin, output_bytes=output_bytes)
        return end

    async def _own(
        self, argv: Sequence[str], *, stdin: bytes = b"", output_bytes: int = _OWN_OUTPUT_BYTES
    ) -> _OwnEnd:
        """Run a command of ours as the box's user."""
        captures = {"stdout": Capture(output_bytes), "stderr": Capture(_OWN_OUTPUT_BYTES)}
        execution = ContainerExec(
            self._container,
            argv,
            user=self._user,
            on_chunk=lambda name, chunk: captures[name].feed(chunk),
            stdin=stdin,
        )
        if await self._supervised(execution, seconds=_OWN_SECONDS) is not None:
            raise SandboxBroken(f"{argv[0]} did not end within {_OWN_SECONDS:.0f} s in the box")
        return _OwnEnd(
            exit_code=await execution.exit_code(),
            stdout=captures["stdout"].output(),
            stderr=captures["stderr"].output(),
        )


def remove_container(container: Container) -> None:
    """End a container and wait until the engine has removed it; it may be gone already."""
    try:
        with suppress(NotFound):
            with suppress(DockerException):
                container.kill()
            container.wait(condition="removed", timeout=_REMOVAL_SECONDS)
    except (DockerException, OSError):
        with suppress(DockerException):
            container.remove(force=True)
    finally:
        if container.client is not None:
            container.client.close()


def _ignore(_name: str, _chunk: bytes) -> None: ...


def _archive(files: Mapping[str, bytes], uid: int) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, content in files.items():
            split(path)
            member = tarfile.TarInfo(path)
            member.size, member.mode, member.uid, member.gid = len(content), 0o644, uid, uid
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()
