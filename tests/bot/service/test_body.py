import asyncio
import socket
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from itertools import repeat
from pathlib import Path

import httpx2
import pytest
from fastapi import Request

from bot.service.body import MAX_BYTES, BodyReader
from bot.service.refused import Refused
from tests.bot.service.scratch import MemoryStore, client_of, make_app, served, signed

SIGNED = "X-Hub-Signature-256: sha256=" + "0" * 64
CHUNK = 64 * 1024


class WatchedReader(BodyReader):
    """Tells how reading ended."""

    def __init__(self) -> None:
        super().__init__()
        self.end: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def read(self, request: Request) -> bytes:
        try:
            return await super().read(request)
        except Refused as refused:
            self.end.set_result(str(refused))
            raise


async def test_a_body_of_exactly_the_limit_is_read(client: httpx2.AsyncClient) -> None:
    body = b"{" + b" " * (MAX_BYTES - 2) + b"}"
    answer = await client.post("/webhook", content=body, headers=signed(body, event="ping"))
    assert answer.status_code == 200


async def test_one_byte_more_is_refused_when_it_is_declared(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/webhook", content=b" " * (MAX_BYTES + 1), headers=signed())
    assert answer.status_code == 413


def send_until_refused(url: str, body: Iterable[bytes], *headers: str) -> tuple[str, int]:
    """Send a body in chunks, without its length, for as long as the service takes it.

    Gives the answer and how much was sent.
    """
    head = "\r\n".join(("POST /webhook HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", *headers, "", ""))
    host, port = url.removeprefix("http://").split(":")
    sent, answer = 0, b""
    with socket.create_connection((host, int(port))) as connection:
        with suppress(ConnectionError):
            connection.sendall(head.encode())
            for chunk in body:
                connection.sendall(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                sent += len(chunk)
            connection.sendall(b"0\r\n\r\n")
        with suppress(ConnectionError):
            while received := connection.recv(CHUNK):
                answer += received
    return answer.decode(), sent


async def test_one_byte_more_is_refused_when_it_is_streamed_undeclared(
    store: MemoryStore, tmp_path: Path
) -> None:
    body = [b" " * CHUNK] * (MAX_BYTES // CHUNK) + [b" "]
    async with served(make_app(store, tmp_path)) as url:
        answer, _ = await asyncio.to_thread(send_until_refused, url, body, SIGNED)
    assert answer.startswith("HTTP/1.1 413 ")
    assert not store.events


async def test_an_endless_body_is_not_read_to_its_end(store: MemoryStore, tmp_path: Path) -> None:
    app = make_app(store, tmp_path, bodies=BodyReader(max_bytes=10 * CHUNK))
    async with served(app) as url:
        answer, sent = await asyncio.to_thread(send_until_refused, url, repeat(b" " * CHUNK), SIGNED)
    assert answer.startswith("HTTP/1.1 413 ")
    assert sent > 10 * CHUNK


async def test_a_body_without_a_signature_is_not_read(store: MemoryStore, tmp_path: Path) -> None:
    async with served(make_app(store, tmp_path)) as url:
        answer, _ = await asyncio.to_thread(send_until_refused, url, repeat(b" " * CHUNK))
    assert answer.startswith("HTTP/1.1 401 ")


async def exchange(url: str, request: str) -> str:
    """Send bytes by hand and read until the service closes the connection."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(request.encode())
    await writer.drain()
    answer = await reader.read()
    writer.close()
    return answer.decode()


async def test_a_declared_length_beyond_the_limit_is_refused_before_a_byte_of_it_comes(
    store: MemoryStore, tmp_path: Path
) -> None:
    async with served(make_app(store, tmp_path)) as url:
        length = f"Content-Length: {MAX_BYTES + 1}"
        answer = await exchange(url, f"POST /webhook HTTP/1.1\r\nHost: x\r\n{SIGNED}\r\n{length}\r\n\r\n")
    assert answer.startswith("HTTP/1.1 413 ")
    assert "connection: close" in answer.lower()


@pytest.mark.parametrize("length", ["-1", "1e9", "five", "9" * 5000])
async def test_a_length_that_is_none_is_refused(store: MemoryStore, tmp_path: Path, length: str) -> None:
    async with served(make_app(store, tmp_path)) as url:
        request = f"POST /webhook HTTP/1.1\r\nHost: x\r\n{SIGNED}\r\nContent-Length: {length}\r\n\r\n"
        answer = await exchange(url, request)
    assert answer.startswith("HTTP/1.1 4")
    assert not store.events


async def test_a_body_that_is_longer_than_declared_is_cut_there(store: MemoryStore, tmp_path: Path) -> None:
    async with served(make_app(store, tmp_path)) as url:
        request = (
            f"POST /webhook HTTP/1.1\r\nHost: x\r\n{SIGNED}\r\nConnection: close\r\n"
            "Content-Length: 2\r\n\r\n{}" + "x" * 50
        )
        answer = await exchange(url, request)
    assert answer.startswith("HTTP/1.1 401 ")


async def test_a_body_that_does_not_come_is_not_waited_for(store: MemoryStore, tmp_path: Path) -> None:
    app = make_app(store, tmp_path, bodies=BodyReader(seconds=0.1))
    async with served(app) as url:
        request = f"POST /webhook HTTP/1.1\r\nHost: x\r\n{SIGNED}\r\nContent-Length: 9\r\n\r\n1234"
        answer = await exchange(url, request)
    assert answer.startswith("HTTP/1.1 408 ")
    assert not store.events


async def test_a_connection_that_ends_early_stores_nothing(store: MemoryStore, tmp_path: Path) -> None:
    bodies = WatchedReader()
    async with served(make_app(store, tmp_path, bodies=bodies)) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as connection:
            request = f"POST /webhook HTTP/1.1\r\nHost: x\r\n{SIGNED}\r\nContent-Length: 9\r\n\r\n1234"
            connection.sendall(request.encode())
        assert "connection ended" in await bodies.end
    assert not store.events


async def test_bodies_share_the_memory_that_there_is_for_them(store: MemoryStore, tmp_path: Path) -> None:
    bodies = BodyReader(max_held=3 * CHUNK)
    async with client_of(make_app(store, tmp_path, bodies=bodies)) as client:
        half_sent, go_on = asyncio.Event(), asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            yield b" " * 2 * CHUNK
            half_sent.set()
            await go_on.wait()
            yield b" "

        first = asyncio.create_task(client.post("/webhook", content=slow(), headers=signed()))
        await half_sent.wait()
        second = await client.post("/webhook", content=b" " * 2 * CHUNK, headers=signed())
        assert second.status_code == 503
        assert "Retry-After" in second.headers
        go_on.set()
        assert (await first).status_code == 401
        third = await client.post("/webhook", content=b" " * 2 * CHUNK, headers=signed())
        assert third.status_code == 401, "the first two gave their room back"


async def test_many_deliveries_at_once_are_all_stored(store: MemoryStore, tmp_path: Path) -> None:
    async with served(make_app(store, tmp_path)) as url, httpx2.AsyncClient(timeout=60) as client:
        body = signed(b'{"action": "labeled", "title": "t"}')
        answers = await asyncio.gather(
            *(
                client.post(
                    f"{url}/webhook",
                    content=b'{"action": "labeled", "title": "t"}',
                    headers=body | {"X-GitHub-Delivery": f"d-{number % 100}"},
                )
                for number in range(200)
            )
        )
    assert {answer.status_code for answer in answers} == {202}
    assert len(store.events) == 100
    assert sum(answer.json()["new"] for answer in answers) == 100
