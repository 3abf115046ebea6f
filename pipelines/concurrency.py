"""Concurrent work that leaves nothing running behind."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


async def together(works: Iterable[Coroutine[Any, Any, ResultT]]) -> list[ResultT]:
    """All results in order; the first failure is raised after everything else was cancelled and has ended."""
    tasks = [asyncio.ensure_future(work) for work in works]
    await settle(*tasks)
    return [task.result() for task in tasks]


async def settle(*tasks: asyncio.Future[Any]) -> None:
    """Wait for all; the first failure cancels the others and is raised once they have ended."""
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
