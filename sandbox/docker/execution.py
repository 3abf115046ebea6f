"""Starts one process in a running container through the engine's API, streams included."""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal

from docker.models.containers import Container
from docker.utils import socket as engine_socket

from sandbox.docker.client import engine_faults
from sandbox.errors import SandboxBroken
from sandbox.threads import in_own_thread

_STDOUT = 1
_SETTLE_SECONDS = 2.0
_SETTLE_PAUSE = 0.02

OnChunk = Callable[[Literal["stdout", "stderr"], bytes], None]
"""Takes what a process writes; called in the thread of the event loop, in order."""


class ContainerExec:
    """One process in progress. The engine's client blocks, so each of its calls runs in a thread."""

    def __init__(
        self, container: Container, argv: Sequence[str], *, user: str, on_chunk: OnChunk, stdin: bytes = b""
    ) -> None:
        self._container = container
        self._argv = list(argv)
        self._user = user
        self._stdin = stdin
        self._on_chunk = on_chunk
        self._id = ""
        self._stream: Any = None
        self._over = False

    async def run(self) -> None:
        """Run to the end of both streams; raises SandboxBroken when the engine fails."""
        loop = asyncio.get_running_loop()
        try:
            with engine_faults(self._argv[0]):
                stream = await in_own_thread(self._start)
                await asyncio.gather(
                    in_own_thread(partial(self._write, stream)),
                    in_own_thread(partial(self._read, stream, loop)),
                )
        finally:
            self._over = True
            if self._stream is not None:
                _close(self._stream)

    def abandon(self) -> None:
        """End both streams from this side, for an engine that keeps them open although nothing runs."""
        if self._stream is not None:
            _shut(self._stream)

    async def exit_code(self) -> int:
        """The code of a process that has run; raises SandboxBroken when the engine knows none."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while time.monotonic() < deadline:
            with engine_faults(self._argv[0]):
                code = (await in_own_thread(partial(self._api.exec_inspect, self._id)))["ExitCode"]
            if code is not None:
                return int(code)
            await asyncio.sleep(_SETTLE_PAUSE)
        raise SandboxBroken("the Docker engine reports no exit code for a process that ended")

    @property
    def _api(self) -> Any:
        client = self._container.client
        assert client is not None  # noqa: S101 - a container that the engine gave us has one
        return client.api

    def _start(self) -> Any:
        made = self._api.exec_create(self._container.id, self._argv, stdin=True, user=self._user)
        self._id = made["Id"]
        self._stream = self._api.exec_start(self._id, socket=True)
        if self._over:  # nobody waited for this slow start
            _close(self._stream)
        return self._stream

    def _write(self, stream: Any) -> None:
        # Only the socket below the SDK's wrapper can be written to and closed one way.
        connection = stream._sock
        with suppress(OSError):  # a command may end, or close its input, before it has read everything
            connection.sendall(self._stdin)
            connection.shutdown(socket.SHUT_WR)

    def _read(self, stream: Any, loop: asyncio.AbstractEventLoop) -> None:
        # Podman resets a connection whose input nobody has read; whether all came is seen from what came.
        with suppress(ConnectionResetError):
            for number, chunk in _frames(stream):
                loop.call_soon_threadsafe(self._on_chunk, "stdout" if number == _STDOUT else "stderr", chunk)
        _shut(stream)  # ends a write that nobody reads any more


def _close(stream: Any) -> None:
    """Close the SDK's wrapper, the response it hangs on and the socket below: it closes none itself."""
    _shut(stream)  # first, or a thread that still reads would go on for ever
    connection = stream._sock
    with suppress(AttributeError):
        stream._response.close()
    stream.close()
    connection.close()


def _shut(stream: Any) -> None:
    with suppress(OSError, AttributeError):  # closed already
        stream._sock.shutdown(socket.SHUT_RDWR)


def _frames(stream: Any) -> Iterator[tuple[int, bytes]]:
    frames: Iterator[tuple[int, bytes]] = engine_socket.frames_iter(stream, tty=False)  # type: ignore[no-untyped-call]
    return frames
