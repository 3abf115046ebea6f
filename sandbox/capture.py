"""Keeps the first and last bytes of a stream, whatever its length."""

from sandbox.protocol import Output


class Capture:
    """Holds at most `limit_bytes` of a stream: one half from its start, the rest from its end."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._head_limit = limit_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._seen = 0

    @property
    def overflowed(self) -> bool:
        """Whether the stream brought more bytes than the limit."""
        return self._seen > self._limit

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        self._seen += len(chunk)
        room = self._head_limit - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        del self._tail[: max(0, len(self._tail) - (self._limit - self._head_limit))]

    def output(self) -> Output:
        """What is kept so far."""
        return Output(
            head=bytes(self._head),
            tail=bytes(self._tail),
            dropped_bytes=self._seen - len(self._head) - len(self._tail),
        )
