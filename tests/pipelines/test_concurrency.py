import asyncio

import pytest

from pipelines.concurrency import together


async def after(delay: float, value: int, ended: list[int]) -> int:
    try:
        await asyncio.sleep(delay)
        return value
    finally:
        ended.append(value)


async def fail() -> int:
    raise KeyError("first")


async def test_results_come_in_the_order_of_the_works() -> None:
    assert await together(after(0.02 * (3 - n), n, []) for n in range(3)) == [0, 1, 2]
    assert await together([]) == []


async def test_a_failure_ends_the_others_before_it_is_raised() -> None:
    ended: list[int] = []
    with pytest.raises(KeyError, match="first"):
        await together([after(60, 1, ended), fail(), after(60, 2, ended)])
    assert sorted(ended) == [1, 2]


async def test_cancelling_the_whole_ends_every_part() -> None:
    ended: list[int] = []
    whole = asyncio.ensure_future(together([after(60, 1, ended), after(60, 2, ended)]))
    await asyncio.sleep(0.01)
    whole.cancel()
    with pytest.raises(asyncio.CancelledError):
        await whole
    assert sorted(ended) == [1, 2]
