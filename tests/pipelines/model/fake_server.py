"""A real HTTP server that behaves, well or badly, as a script says."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]

LLAMACPP = {"data": [{"id": "tiny", "owned_by": "llamacpp", "meta": {"n_ctx": 4096, "n_ctx_train": 32768}}]}
VLLM = {"data": [{"id": "tiny", "owned_by": "vllm", "max_model_len": 8192}]}
OTHER = {"data": [{"id": "tiny", "owned_by": "somebody"}]}


class FakeServer:
    """Answers POST by the scripted replies, in order (the last one again and again), and keeps the bodies."""

    def __init__(
        self, *replies: Reply, models: object = LLAMACPP, pages: dict[str, object] | None = None
    ) -> None:
        self.replies = list(replies)
        self.pages: dict[str, object] = {"/v1/models": models, **(pages or {})}
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[str] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.base_url = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.headers.append(head)
        method, path = head.split(" ")[:2]
        if method == "GET":
            page = self.pages.get(path)
            await (page if callable(page) else json_reply(200 if page is not None else 404, page))(writer)
            return
        length = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
        self.bodies.append(json.loads(await reader.readexactly(length)))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.begun.set()
        try:
            await (self.replies.pop(0) if len(self.replies) > 1 else self.replies[0])(writer)
        finally:
            self.in_flight -= 1
            self.ended.set()


@asynccontextmanager
async def serving(*replies: Reply, models: object = LLAMACPP, **pages: object) -> AsyncIterator[FakeServer]:
    fake = FakeServer(*replies, models=models, pages={f"/{name}": page for name, page in pages.items()})
    server = await asyncio.start_server(fake.handle, "127.0.0.1", 0)
    fake.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield fake
    finally:
        server.close()
        await asyncio.sleep(0)


def raw_reply(status: int, body: bytes, *, headers: str = "", kind: str = "application/json") -> Reply:
    async def reply(writer: asyncio.StreamWriter) -> None:
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Connection: close\r\n{headers}\r\n".encode() + body)
        await writer.drain()

    return reply


def json_reply(status: int, body: object, *, headers: str = "") -> Reply:
    return raw_reply(status, json.dumps(body).encode(), headers=headers)


def error_reply(status: int, message: str, *, headers: str = "") -> Reply:
    return json_reply(status, {"error": {"message": message, "code": status}}, headers=headers)


def chunk(content: str | None = None, *, finish: str | None = None, **delta: object) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": content, **delta}, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [choice]}


def usage(prompt: int, completion: int) -> dict[str, Any]:
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return {**chunk(), "choices": [], "usage": counts}


async def start_stream(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    await writer.drain()


async def send(writer: asyncio.StreamWriter, event: object) -> None:
    data = event if isinstance(event, str) else json.dumps(event)
    writer.write(f"data: {data}\n\n".encode())
    await writer.drain()


def stream(*events: object, hang: float = 0.0, pause: float = 0.0, done: bool = True) -> Reply:
    """Send events, `pause` seconds before each, then stay silent for `hang` seconds."""

    async def reply(writer: asyncio.StreamWriter) -> None:
        await start_stream(writer)
        for event in events:
            await asyncio.sleep(pause)
            await send(writer, event)
        await asyncio.sleep(hang)
        if done:
            await send(writer, "[DONE]")

    return reply


def answer(text: str, *, finish: str = "stop", tokens: int = 5) -> Reply:
    return stream(chunk("", role="assistant"), chunk(text), chunk(finish=finish), usage(11, tokens))
