"""Reads the bodies of requests from anyone: bounded in size, in time, and all together in memory."""

import asyncio

from fastapi import Request
from starlette.requests import ClientDisconnect

from bot.service.refused import Refused

MAX_BYTES = 25 * 1024 * 1024
"""GitHub never sends more."""


class BodyReader:
    """Reads bodies. `max_held` bounds the bytes of all unfinished ones, `seconds` the time for each."""

    def __init__(
        self, *, max_bytes: int = MAX_BYTES, max_held: int = 8 * MAX_BYTES, seconds: float = 30
    ) -> None:
        self._max_bytes = max_bytes
        self._max_held = max_held
        self._seconds = seconds
        self._held = 0

    async def read(self, request: Request) -> bytes:
        """The body. Raises Refused: 413 too large, 408 too slow, 400 broken off, 503 no room."""
        declared = request.headers.get("Content-Length", "")
        if declared.isdecimal() and int(declared) > self._max_bytes:
            raise self._too_large()
        try:
            async with asyncio.timeout(self._seconds):
                return await self._collect(request)
        except TimeoutError:
            reason = f"the body did not arrive within {self._seconds:g} s"
            raise Refused(408, reason, unread=True) from None
        except ClientDisconnect:
            raise Refused(400, "the connection ended before the body did", unread=True) from None

    async def _collect(self, request: Request) -> bytes:
        chunks: list[bytes] = []
        size = 0
        try:
            async for chunk in request.stream():
                size += len(chunk)
                self._held += len(chunk)
                self._check(size)
                chunks.append(chunk)
        finally:
            self._held -= size
        return b"".join(chunks)

    def _check(self, size: int) -> None:
        if size > self._max_bytes:
            raise self._too_large()
        if self._held > self._max_held:
            raise Refused(503, "too many large bodies arrive at once; send this one again", unread=True)

    def _too_large(self) -> Refused:
        return Refused(413, f"the body has more than {self._max_bytes} bytes", unread=True)
