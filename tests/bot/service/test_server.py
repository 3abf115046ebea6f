import asyncio
import os
import signal
import socket
from pathlib import Path

import httpx2
import pytest

from bot.events.types import AnyEvent
from bot.service.server import address, listen, serve_until, stop_on_signals
from pipelines.errors import RefusalError
from tests.bot.service.scratch import PAYLOAD, MemoryStore, make_app, signed


def test_a_port_in_use_is_refused_by_its_number() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(RefusalError, match=f"{port}.*--port"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host", "::g"])
def test_an_address_that_is_not_this_machines_is_refused(host: str) -> None:
    with pytest.raises(RefusalError, match="--host"):
        listen(host, 0)


def test_the_address_is_a_url() -> None:
    with listen("127.0.0.1", 0) as listener:
        assert address(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_connections_do_not_hold_small_packets_back() -> None:
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6 on this machine")
def test_the_address_of_ipv6_is_in_brackets() -> None:
    try:
        listener = listen("::1", 0)
    except RefusalError:
        pytest.skip("IPv6 is off")
    with listener:
        assert address(listener).startswith("http://[::1]:")


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_sets_the_event_and_the_next_one_would_end_the_process(which: signal.Signals) -> None:
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)}
    try:
        with stop_on_signals() as stop:
            assert not stop.is_set()
            os.kill(os.getpid(), which)
            await asyncio.wait_for(stop.wait(), 10)
            assert signal.getsignal(signal.SIGTERM) == signal.getsignal(signal.SIGINT) == signal.SIG_DFL
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


async def test_requests_in_flight_are_answered_after_the_stop(tmp_path: Path) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    class Slow(MemoryStore):
        async def accept(self, event: AnyEvent) -> bool:
            begun.set()
            await go_on.wait()
            return await super().accept(event)

    stop, store = asyncio.Event(), Slow()
    listener = listen("127.0.0.1", 0)
    url = address(listener)
    serving = asyncio.create_task(serve_until(stop, make_app(store, tmp_path), listener))
    async with httpx2.AsyncClient() as client:
        first = asyncio.create_task(client.post(f"{url}/webhook", content=PAYLOAD, headers=signed()))
        await begun.wait()
        stop.set()
        while listener.fileno() >= 0:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        with pytest.raises(httpx2.ConnectError):
            await client.get(f"{url}/healthz")
        go_on.set()
        assert (await first).status_code == 202
    await serving
    assert list(store.events) == ["d-1"]


async def test_connections_wait_for_an_application_that_is_not_there_yet(
    store: MemoryStore, tmp_path: Path
) -> None:
    stop = asyncio.Event()
    with listen("127.0.0.1", 0) as listener:
        async with httpx2.AsyncClient() as client:
            early = asyncio.create_task(client.get(f"{address(listener)}/healthz"))
            await asyncio.sleep(0)
            serving = asyncio.create_task(serve_until(stop, make_app(store, tmp_path), listener))
            assert (await early).status_code == 200
        stop.set()
        await serving


async def test_a_cancelled_service_closes_its_socket(store: MemoryStore, tmp_path: Path) -> None:
    listener = listen("127.0.0.1", 0)
    serving = asyncio.create_task(serve_until(asyncio.Event(), make_app(store, tmp_path), listener))
    async with httpx2.AsyncClient() as client:
        await client.get(f"{address(listener)}/healthz")
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert listener.fileno() == -1
