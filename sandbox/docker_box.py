"""One box in a running container."""

import asyncio
import io
import tarfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from docker.errors import DockerException, NotFound
from docker.models.containers import Container

from sandbox.docker_exec import ContainerExec, ExecEnd, ExecOrder
from sandbox.errors import SandboxBroken
from sandbox.paths import split
from sandbox.protocol import WORK_DIR, Collected, ExecResult, LimitKind, Limits, OnOutput, Usage
from sandbox.results import Caps, collect_tar
from sandbox.surroundings import BOX_ENV, prlimit_argv
from sandbox.verdict import Counters, limit_of

_KILL_ALL = "kill -9 -1"
# What a command leaves running is killed before its exit code is reported; kill -1 spares its caller.
_RUN = f'seconds=$1; shift; timeout -k 1 "$seconds" "$@"; code=$?; {_KILL_ALL} 2>/dev/null; exit $code'
_WRAPPER_PROCESSES = 2
_OOM_COUNTS = "cat /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control 2>/dev/null"
_TIMED_OUT = frozenset({124, 137})
_KILLED = 137
_GRACE_SECONDS = 3.0
_CLEANUP_SECONDS = 10.0
_KILL_PAUSE_SECONDS = 0.1
_TAR_OVERHEAD = 2
_OWN_OUTPUT_BYTES = 64 * 1024


class DockerSandbox:
    """Holds its files in the container's memory; commands run one after the other."""

    def __init__(self, container: Container, *, uid: int, limits: Limits) -> None:
        self._container = container
        self._uid = uid
        self._limits = limits
        self._turn = asyncio.Lock()
        self._known_ooms = 0

    async def put_files(self, files: Mapping[str, bytes]) -> None:
        """Write files under `/work`; raises ValueError for a path that leaves it."""
        archive = _archive(files, self._uid)
        end = await self._own(["tar", "-xf", "-", "--unlink-first", "-C", str(WORK_DIR)], stdin=archive)
        if end.exit_code != 0:
            raise SandboxBroken(f"files could not be put into the box: {end.stderr.text.strip()}")

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
        workdir = WORK_DIR if cwd == "." else WORK_DIR.joinpath(*split(cwd))
        async with self._turn:
            if cwd != "." and (await self._own(["test", "-d", str(workdir)])).exit_code != 0:
                raise ValueError(f"cwd {cwd!r} is not a folder in the box; put a file into it first")
            order = ExecOrder(
                argv=_wrapped(argv, limits),
                user=self._user,
                output_bytes=limits.output_bytes,
                env={**BOX_ENV, **(env or {})},
                workdir=str(workdir),
                stdin=stdin,
                on_output=on_output,
            )
            return await self._run(order, limits)

    async def get_files(self, patterns: Sequence[str] = ("**",)) -> Collected:
        """Regular files under `/work` matching a glob; everything else is refused by name."""
        caps = Caps()
        end = await self._own(
            ["tar", "-cf", "-", "--hard-dereference", "-C", str(WORK_DIR), "."],
            output_bytes=caps.total_bytes * _TAR_OVERHEAD * 2,
        )
        cut = end.stdout.dropped_bytes > 0
        archive = io.BytesIO(end.stdout.head if cut else end.stdout.head + end.stdout.tail)
        collected = await asyncio.to_thread(collect_tar, archive, patterns, caps)
        more = {"...": "the box holds more than can be looked at"} if cut else {}
        return replace(collected, refused={**collected.refused, **more})

    async def destroy(self) -> None:
        """Kill and remove the container."""
        await asyncio.shield(asyncio.to_thread(self._remove))

    @property
    def _user(self) -> str:
        return f"{self._uid}:{self._uid}"

    async def _run(self, order: ExecOrder, limits: Limits) -> ExecResult:
        started = time.monotonic()
        end, stopped = await self._supervised(order, limits.wall_seconds + _GRACE_SECONDS)
        seconds = time.monotonic() - started
        if stopped is None and end.exit_code in _TIMED_OUT and seconds >= limits.wall_seconds:
            stopped = LimitKind.WALL
        exit_code = _KILLED if stopped else end.exit_code
        counters = Counters()
        if exit_code != 0:
            await self._kill_all()
            counters = await self._new_counts()
        return ExecResult(
            exit_code=exit_code,
            limit=limit_of(
                exit_code, stopped=stopped, counters=counters, stdout=end.stdout, stderr=end.stderr
            ),
            usage=Usage(wall_seconds=seconds),
            stdout=end.stdout,
            stderr=end.stderr,
        )

    async def _supervised(self, order: ExecOrder, outer_seconds: float) -> tuple[ExecEnd, LimitKind | None]:
        """Run an order; past its output or its time everything in the container is killed."""
        stopped: list[LimitKind] = []
        kills: list[asyncio.Task[None]] = []

        def stop(limit: LimitKind) -> None:
            stopped.append(limit)
            kills.append(asyncio.create_task(self._kill_all()))

        execution = ContainerExec(self._container, order, on_overflow=lambda: stop(LimitKind.OUTPUT))
        running = asyncio.create_task(execution.run())
        watchdog = asyncio.get_running_loop().call_later(outer_seconds, stop, LimitKind.WALL)
        try:
            end = await asyncio.shield(running)
        finally:
            watchdog.cancel()
            await asyncio.shield(self._finish(running, kills))
        return end, stopped[0] if stopped else None

    async def _finish(self, running: "asyncio.Task[ExecEnd]", kills: "list[asyncio.Task[None]]") -> None:
        """Kill until the command is over: one that is only being started does not hear the first time."""
        deadline = time.monotonic() + _CLEANUP_SECONDS
        while not running.done() and time.monotonic() < deadline:
            await self._kill_all()
            await asyncio.wait({running}, timeout=_KILL_PAUSE_SECONDS)
        if kills:
            await asyncio.wait(kills)

    async def _kill_all(self) -> None:
        """Kill every process of the box's user; the container's own keeper is another user's."""
        order = ExecOrder(argv=["sh", "-c", _KILL_ALL], user=self._user, output_bytes=_OWN_OUTPUT_BYTES)
        await ContainerExec(self._container, order, on_overflow=lambda: None).run()

    async def _new_counts(self) -> Counters:
        end = await self._own(["sh", "-c", _OOM_COUNTS])
        fields = (line.split() for line in end.stdout.text.splitlines())
        total = sum(int(value) for name, value in fields if name == "oom_kill")
        new, self._known_ooms = total - self._known_ooms, total
        return Counters(out_of_memory=new)

    async def _own(
        self, argv: Sequence[str], *, stdin: bytes = b"", output_bytes: int = _OWN_OUTPUT_BYTES
    ) -> ExecEnd:
        """Run a command of ours as the box's user."""
        order = ExecOrder(argv=argv, user=self._user, output_bytes=output_bytes, stdin=stdin)
        end, _ = await self._supervised(order, _GRACE_SECONDS + self._limits.wall_seconds)
        return end

    def _remove(self) -> None:
        with suppress(NotFound):
            with suppress(DockerException):
                self._container.kill()  # a running command makes a plain removal slow
            self._container.remove(force=True)
        if self._container.client is not None:
            self._container.client.close()


def _wrapped(argv: Sequence[str], limits: Limits) -> list[str]:
    rlimits = prlimit_argv(limits, extra_processes=_WRAPPER_PROCESSES)
    return ["sh", "-c", _RUN, "run", str(limits.wall_seconds), *rlimits, *argv]


def _archive(files: Mapping[str, bytes], uid: int) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, content in files.items():
            split(path)
            member = tarfile.TarInfo(path)
            member.size, member.mode, member.uid, member.gid = len(content), 0o644, uid, uid
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()
