"""Runs one host process with its output captured, its time limited, and nothing left behind."""

import asyncio
import time
from asyncio import Task
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from sandbox.cancellation import uninterrupted
from sandbox.capture import Capture
from sandbox.killing import kill_with_children
from sandbox.protocol import LimitKind, Limits, OnOutput, Output

_CHUNK = 64 * 1024
_LAST_WORDS_SECONDS = 2.0

Watch = Callable[[], Awaitable[LimitKind]]
"""Returns when a limit is exceeded, with its name."""


async def never() -> LimitKind:
    """The watch that has nothing to look at."""
    await asyncio.Event().wait()
    raise AssertionError("nobody sets that event")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a process ended; `stopped` is the limit for which it was killed."""

    exit_code: int
    stopped: LimitKind | None
    stdout: Output
    stderr: Output
    wall_seconds: float


async def run_process(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    stdin: bytes,
    limits: Limits,
    watch: Watch,
    on_output: OnOutput | None = None,
    pass_fds: Sequence[int] = (),
    stop: asyncio.Event | None = None,
) -> Ended:
    """Run a process to its end or its limit, or until `stop` is set.

    It is dead when this returns, raises or is cancelled.
    """
    started = time.monotonic()
    process = await _started(argv, env, pass_fds)
    supervision = _Supervision(process, limits, on_output)
    guards = [
        asyncio.create_task(supervision.stop_when(_after(limits.wall_seconds))),
        asyncio.create_task(supervision.stop_when(watch())),
    ]
    if stop is not None:
        guards.append(asyncio.create_task(supervision.kill_when(stop)))
    streams = asyncio.ensure_future(supervision.serve(stdin))
    try:
        await asyncio.shield(streams)
    finally:
        supervision.kill()
        exit_code = await uninterrupted(_over(process, streams, guards))
    return Ended(
        exit_code=exit_code,
        stopped=supervision.stopped,
        stdout=supervision.stdout.output(),
        stderr=supervision.stderr.output(),
        wall_seconds=time.monotonic() - started,
    )


async def _over(process: Process, streams: "asyncio.Future[None]", guards: Sequence[Task[None]]) -> int:
    """Hear the last words of a process that was killed, and its exit code."""
    for guard in guards:
        guard.cancel()
    await asyncio.wait({streams, *guards}, timeout=_LAST_WORDS_SECONDS)
    streams.cancel()
    return _shell_code(await process.wait())


async def _started(argv: Sequence[str], env: Mapping[str, str], pass_fds: Sequence[int]) -> Process:
    """Start the process; when cancelled meanwhile, finish the start in order to know what to kill."""
    start = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *argv,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=dict(env),
            pass_fds=pass_fds,
            start_new_session=True,
        )
    )
    try:
        return await asyncio.shield(start)
    except asyncio.CancelledError:
        await uninterrupted(_stopped(start))
        raise


async def _stopped(start: Awaitable[Process]) -> None:
    process = await start
    kill_with_children(process.pid)
    await process.communicate()


async def _after(seconds: float) -> LimitKind:
    await asyncio.sleep(seconds)
    return LimitKind.WALL


def _shell_code(returncode: int) -> int:
    return returncode if returncode >= 0 else 128 - returncode


class _Supervision:
    def __init__(self, process: Process, limits: Limits, on_output: OnOutput | None) -> None:
        self._process = process
        self._on_output = on_output
        self.stdout = Capture(limits.output_bytes)
        self.stderr = Capture(limits.output_bytes)
        self.stopped: LimitKind | None = None

    def kill(self) -> None:
        if self._process.returncode is None:
            kill_with_children(self._process.pid)

    def stop(self, limit: LimitKind) -> None:
        self.stopped = self.stopped or limit
        self.kill()

    async def kill_when(self, event: asyncio.Event) -> None:
        await event.wait()
        self.kill()

    async def stop_when(self, exceeded: Awaitable[LimitKind]) -> None:
        self.stop(await exceeded)

    async def serve(self, stdin: bytes) -> None:
        await asyncio.gather(self._write(stdin), self._read("stdout"), self._read("stderr"))
        await self._process.wait()

    async def _write(self, content: bytes) -> None:
        stream = self._process.stdin
        assert stream is not None  # noqa: S101 - we asked for a pipe
        with suppress(BrokenPipeError, ConnectionResetError):
            stream.write(content)
            await stream.drain()
        with suppress(BrokenPipeError, ConnectionResetError):
            stream.close()
            await stream.wait_closed()

    async def _read(self, name: Literal["stdout", "stderr"]) -> None:
        stream = getattr(self._process, name)
        capture = self.stdout if name == "stdout" else self.stderr
        try:
            while chunk := await stream.read(_CHUNK):
                capture.feed(chunk)
                if capture.overflowed:
                    self.stop(LimitKind.OUTPUT)
                elif self._on_output is not None:
                    self._on_output(name, chunk)
        except Exception:
            self.kill()
            await stream.read()  # to its end, or the pipe would stay open
            raise
