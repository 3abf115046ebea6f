"""Runs one command in a running container through the engine's API, streams included."""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from docker.errors import DockerException
from docker.models.containers import Container
from docker.utils import socket as engine_socket

from sandbox.capture import Capture
from sandbox.errors import SandboxBroken
from sandbox.protocol import OnOutput, Output

_STDOUT = 1
_SETTLE_SECONDS = 2.0
_SETTLE_PAUSE = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecOrder:
    """A command for a container; `output_bytes` caps each stream."""

    argv: Sequence[str]
    user: str
    output_bytes: int
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str = "/"
    stdin: bytes = b""
    on_output: OnOutput | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecEnd:
    """How a command in a container ended."""

    exit_code: int
    stdout: Output
    stderr: Output


class ContainerExec:
    """One command in progress. The engine's client blocks, so each of its calls runs in a thread."""

    def __init__(self, container: Container, order: ExecOrder, *, on_overflow: Callable[[], None]) -> None:
        self._container = container
        self._order = order
        self._on_overflow = on_overflow
        self._stdout = Capture(order.output_bytes)
        self._stderr = Capture(order.output_bytes)

    async def run(self) -> ExecEnd:
        """Run to the end of both streams; raises SandboxBroken when the engine fails."""
        loop = asyncio.get_running_loop()
        try:
            exec_id, stream = await asyncio.to_thread(self._start)
            try:
                await asyncio.gather(
                    asyncio.to_thread(self._write, stream), asyncio.to_thread(self._read, stream, loop)
                )
            finally:
                _close(stream)
            code = await asyncio.to_thread(self._exit_code, exec_id)
        except (DockerException, OSError) as error:
            raise SandboxBroken(f"the Docker engine failed during {self._order.argv[0]}: {error}") from error
        return ExecEnd(exit_code=code, stdout=self._stdout.output(), stderr=self._stderr.output())

    @property
    def _api(self) -> Any:
        client = self._container.client
        assert client is not None  # noqa: S101 - a container that the engine gave us has one
        return client.api

    def _start(self) -> tuple[str, Any]:
        order = self._order
        made = self._api.exec_create(
            self._container.id,
            list(order.argv),
            stdin=True,
            user=order.user,
            environment=dict(order.env),
            workdir=order.workdir,
        )
        return made["Id"], self._api.exec_start(made["Id"], socket=True)

    def _write(self, stream: Any) -> None:
        # Only the socket below the SDK's wrapper can be written to and closed one way.
        connection = stream._sock
        with suppress(OSError):  # a command may end, or close its input, before it has read everything
            connection.sendall(self._order.stdin)
            connection.shutdown(socket.SHUT_WR)

    def _read(self, stream: Any, loop: asyncio.AbstractEventLoop) -> None:
        for number, chunk in _frames(stream):
            name: Literal["stdout", "stderr"] = "stdout" if number == _STDOUT else "stderr"
            capture = self._stdout if number == _STDOUT else self._stderr
            overflowed_before = capture.overflowed
            capture.feed(chunk)
            # Reading goes on after an overflow: an engine with a full stream is slow to kill anything.
            if capture.overflowed:
                if not overflowed_before:
                    loop.call_soon_threadsafe(self._on_overflow)
            elif self._order.on_output is not None:
                loop.call_soon_threadsafe(self._order.on_output, name, chunk)
        with suppress(OSError):
            stream._sock.shutdown(socket.SHUT_RDWR)  # ends a write that nobody reads any more

    def _exit_code(self, exec_id: str) -> int:
        deadline = time.monotonic() + _SETTLE_SECONDS
        while time.monotonic() < deadline:
            code = self._api.exec_inspect(exec_id)["ExitCode"]
            if code is not None:
                return int(code)
            time.sleep(_SETTLE_PAUSE)
        raise SandboxBroken("the Docker engine reports no exit code for a command that ended")


def _close(stream: Any) -> None:
    """Close the SDK's wrapper, the response it hangs on and the socket below: it closes none itself."""
    connection = stream._sock
    with suppress(AttributeError):
        stream._response.close()
    stream.close()
    connection.close()


def _frames(stream: Any) -> Iterator[tuple[int, bytes]]:
    frames: Iterator[tuple[int, bytes]] = engine_socket.frames_iter(stream, tty=False)  # type: ignore[no-untyped-call]
    return frames
