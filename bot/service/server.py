"""Runs the web application, or nothing but a worker, until a signal says stop."""

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
import uvicorn
from fastapi import FastAPI

from pipelines.errors import RefusalError

GRACE_SECONDS = 10
"""How long requests may go on after the signal."""
MAX_CONNECTIONS = 512
"""More are told 503: the process's file descriptors also serve the Jobs."""

_log = structlog.stdlib.get_logger(__name__)
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections at once; they wait for the application. Raises RefusalError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise RefusalError(
            f"cannot listen on {host} port {port} ({error}): choose others with --host and --port"
        ) from error
    # Connections inherit it. asyncio does not set it here, and an answer's second packet would wait 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def address(listener: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def stop_on_signals() -> Iterator[asyncio.Event]:
    """An event that SIGTERM or SIGINT sets; the next signal ends the process at once."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()

    def told() -> None:
        stop.set()
        _log.info("stopping; a second signal ends at once")
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)

    for each in _SIGNALS:
        loop.add_signal_handler(each, told)
    try:
        yield stop
    finally:
        if not stop.is_set():
            for each in _SIGNALS:
                loop.remove_signal_handler(each)


async def serve_until(stop: asyncio.Event, app: FastAPI, listener: socket.socket) -> None:
    """Serve on the socket until told to stop; then requests may finish and the socket is closed."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    told = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((serving, told), return_when=asyncio.FIRST_COMPLETED)
    finally:
        told.cancel()
        server.should_exit = True
        await serving


class _Server(uvicorn.Server):
    """Leaves signals to `stop_on_signals`: its own handling ends the process before the Jobs are put down."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield
