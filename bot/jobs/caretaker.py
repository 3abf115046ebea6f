"""What nobody else would notice: work of dead workers, Jobs that died untold, records that nobody needs."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from bot.jobs.liveness import Liveness, is_dead
from bot.jobs.store import JobStore
from pipelines.errors import PipelineError

_log = logging.getLogger(__name__)
_TAKE_OVER_SECONDS = 1.0
_TELL_SECONDS = 5.0
_FORGET_SECONDS = 3600.0

Recover = Callable[[list[str]], None]
"""Puts the unfinished workflows of these workers back into their queues."""


@asynccontextmanager
async def looking_after(
    store: JobStore, liveness: Liveness, own: str, recover: Recover
) -> AsyncIterator[None]:
    """Look after things while the context lasts; every worker does, for any may be the last."""
    duties = [
        every(_TAKE_OVER_SECONDS, lambda: _take_over(store, liveness, own, recover)),
        every(_TELL_SECONDS, store.tell_failures),
        every(_FORGET_SECONDS, store.forget_old),
    ]
    async with duties_beside(duties):
        yield


@asynccontextmanager
async def duties_beside(duties: Sequence[Awaitable[None]]) -> AsyncIterator[None]:
    """Do these endless duties beside the block."""
    tasks = [asyncio.ensure_future(duty) for duty in duties]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def every(seconds: float, duty: Callable[[], Awaitable[object]]) -> None:
    """Do a duty now and again for ever; what fails is logged and tried the next time."""
    while True:
        try:
            await duty()
        except PipelineError as error:
            _log.warning("%s", error)
        except Exception:  # noqa: BLE001  a duty that dies would not be missed until it is too late
            _log.exception("a duty of the caretaker failed")
        await asyncio.sleep(seconds)


async def _take_over(store: JobStore, liveness: Liveness, own: str, recover: Recover) -> None:
    names = await store.working_names() - {own}
    dead = [name for name in sorted(names) if await asyncio.to_thread(is_dead, liveness, name)]
    if dead:
        _log.warning("work of dead workers is taken over: %s", ", ".join(dead))
        await asyncio.to_thread(recover, dead)
