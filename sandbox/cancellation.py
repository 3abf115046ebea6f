"""Work that must be done to its end although whoever waits for it is cancelled, even more than once."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


async def uninterrupted(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Do the work to its end; only then raise CancelledError, if we were cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        task.exception()  # has been heard; the cancellation is what the caller must hear of
        raise asyncio.CancelledError
    return task.result()
