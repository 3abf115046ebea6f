"""Spaces writes out, over all Jobs of the process: GitHub asks for a second between two of them."""

import asyncio
import threading
import time
from collections.abc import Callable


class Pace:
    """Gives out turns that lie at least some seconds apart; safe over threads and event loops."""

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._next = 0.0
        self._lock = threading.Lock()

    async def turn(self) -> None:
        """Wait until the next write may start."""
        await asyncio.sleep(self.reserve())

    def reserve(self) -> float:
        """Take the next turn and return the seconds until it."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._seconds
            return start - now
