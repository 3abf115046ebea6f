"""Things that are slow to make, kept ready: used once and thrown away, never cleaned and used again."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)
ItemT = TypeVar("ItemT")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSettings:
    """How much is kept ready, and for how long."""

    size: int = 2
    """Items ready for each key; 0 keeps none."""
    idle_seconds: float = 300.0
    """Items of a key that nobody took for so long are thrown away."""

    def __post_init__(self) -> None:
        if self.size < 0 or self.idle_seconds <= 0:
            raise ValueError("a pool's size cannot be negative, and its idle time must be positive")


class WarmPool(Generic[KeyT, ItemT]):
    """Ready items by key, made in the background after the first one was asked for. For one event loop."""

    def __init__(
        self,
        make: Callable[[KeyT], Awaitable[ItemT]],
        discard: Callable[[ItemT], Awaitable[None]],
        *,
        settings: PoolSettings,
    ) -> None:
        self._make = make
        self._discard = discard
        self._settings = settings
        self._ready: defaultdict[KeyT, list[ItemT]] = defaultdict(list)
        self._refills: dict[KeyT, asyncio.Task[None]] = {}
        self._idle: dict[KeyT, asyncio.TimerHandle] = {}
        self._discards: set[asyncio.Task[None]] = set()
        self._closed = False

    def take(self, key: KeyT) -> ItemT | None:
        """A ready item, now the caller's own; None when there is none now."""
        ready = self._ready[key]
        return ready.pop(0) if ready else None

    def refill(self, key: KeyT, *, after: float = 0.0) -> None:
        """See to it that enough items of the key are ready soon; starts after that many seconds."""
        if self._closed or not self._settings.size:
            return
        self._watch_idleness(key)
        if key not in self._refills:
            self._refills[key] = asyncio.create_task(self._fill(key, after))

    async def filled(self, key: KeyT) -> None:
        """Wait until enough items of the key are ready, or until making one fails."""
        self.refill(key)
        if key in self._refills:
            await asyncio.shield(self._refills[key])

    def throw_away(self, item: ItemT) -> None:
        """Discard an item in the background."""
        task = asyncio.create_task(self._discarded(item))
        self._discards.add(task)
        task.add_done_callback(self._discards.discard)

    async def close(self) -> None:
        """Discard everything that is ready or being made; nothing is made any more."""
        self._closed = True
        for timer in self._idle.values():
            timer.cancel()
        await asyncio.gather(*self._refills.values())
        for items in self._ready.values():
            for item in items:
                self.throw_away(item)
        self._ready.clear()
        while self._discards:
            await asyncio.wait(self._discards)

    async def _fill(self, key: KeyT, after: float) -> None:
        try:
            await asyncio.sleep(after)
            while len(self._ready[key]) < self._settings.size and not self._closed:
                # Shielded: a half-made item would be lost to us, but not to the machine.
                item = await asyncio.shield(self._make(key))
                self._ready[key].append(item)
                self._watch_idleness(key)
        except Exception as error:  # noqa: BLE001  whoever asks next starts a cold one and hears of it
            _log.warning("nothing can be kept ready: %s", error)
        finally:
            del self._refills[key]

    def _watch_idleness(self, key: KeyT) -> None:
        if key in self._idle:
            self._idle[key].cancel()
        loop = asyncio.get_running_loop()
        self._idle[key] = loop.call_later(self._settings.idle_seconds, self._forget, key)

    def _forget(self, key: KeyT) -> None:
        del self._idle[key]
        for item in self._ready.pop(key, []):
            self.throw_away(item)

    async def _discarded(self, item: ItemT) -> None:
        try:
            await self._discard(item)
        except Exception as error:  # noqa: BLE001  the reaper takes what is left
            _log.warning("what was kept ready could not be removed: %s", error)
