"""Ready items are used once, refilled in the background, and never lost."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from sandbox.docker.pool import PoolSettings, WarmPool


@dataclass
class Factory:
    """Makes numbered items and remembers what became of them."""

    made: list[str] = field(default_factory=list)
    discarded: list[str] = field(default_factory=list)
    failing: bool = False
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    async def make(self, key: str) -> str:
        await self.gate.wait()
        if self.failing:
            raise RuntimeError("no room")
        self.made.append(f"{key}{len(self.made)}")
        return self.made[-1]

    async def discard(self, item: str) -> None:
        await asyncio.sleep(0)
        self.discarded.append(item)


@pytest.fixture
def factory() -> Factory:
    return Factory()


@pytest.fixture
async def pool(factory: Factory) -> AsyncIterator[WarmPool[str, str]]:
    made: WarmPool[str, str] = WarmPool(
        factory.make, factory.discard, settings=PoolSettings(size=2, idle_seconds=60)
    )
    yield made
    await made.close()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_nothing_is_made_before_it_is_asked_for(pool: WarmPool[str, str], factory: Factory) -> None:
    assert pool.take("a") is None
    await settle()
    assert factory.made == []


async def test_a_refill_makes_as_many_as_are_wanted_and_each_is_given_once(
    pool: WarmPool[str, str], factory: Factory
) -> None:
    pool.refill("a")
    await settle()
    assert factory.made == ["a0", "a1"]
    assert [pool.take("a"), pool.take("a"), pool.take("a")] == ["a0", "a1", None]
    pool.refill("a")
    await settle()
    assert factory.made == ["a0", "a1", "a2", "a3"]


async def test_a_refill_can_wait_for_what_is_more_urgent(pool: WarmPool[str, str], factory: Factory) -> None:
    pool.refill("a", after=0.1)
    await settle()
    assert factory.made == []
    await asyncio.sleep(0.2)
    assert factory.made == ["a0", "a1"]


async def test_keys_do_not_share(pool: WarmPool[str, str]) -> None:
    pool.refill("a")
    await settle()
    assert pool.take("b") is None
    assert pool.take("a") == "a0"


async def test_two_refills_at_once_do_not_make_too_many(pool: WarmPool[str, str], factory: Factory) -> None:
    pool.refill("a")
    pool.refill("a")
    await settle()
    pool.refill("a")
    await settle()
    assert len(factory.made) == 2


async def test_a_failing_refill_leaves_the_pool_usable(pool: WarmPool[str, str], factory: Factory) -> None:
    factory.failing = True
    pool.refill("a")
    await settle()
    assert pool.take("a") is None
    factory.failing = False
    pool.refill("a")
    await settle()
    assert pool.take("a") == "a0"


async def test_idle_items_are_thrown_away(factory: Factory) -> None:
    pool: WarmPool[str, str] = WarmPool(
        factory.make, factory.discard, settings=PoolSettings(size=1, idle_seconds=0.05)
    )
    pool.take("a")
    pool.refill("a")
    await settle()
    assert factory.made == ["a0"]
    await asyncio.sleep(0.2)
    assert factory.discarded == ["a0"]
    assert pool.take("a") is None
    await pool.close()


async def test_items_made_while_the_idle_time_ran_out_are_not_lost(factory: Factory) -> None:
    pool: WarmPool[str, str] = WarmPool(
        factory.make, factory.discard, settings=PoolSettings(size=2, idle_seconds=0.05)
    )
    factory.gate.clear()
    pool.refill("a")
    await asyncio.sleep(0.1)
    factory.gate.set()
    await settle()
    assert len(factory.made) == 2
    await asyncio.sleep(0.2)
    assert sorted(factory.discarded) == sorted(factory.made)
    await pool.close()


async def test_closing_discards_what_is_ready_and_what_is_being_made(factory: Factory) -> None:
    pool: WarmPool[str, str] = WarmPool(factory.make, factory.discard, settings=PoolSettings(size=2))
    pool.refill("a")
    await settle()
    factory.gate.clear()
    pool.refill("b")
    await settle()
    closing = asyncio.create_task(pool.close())
    await settle()
    assert not closing.done()
    factory.gate.set()
    await closing
    assert sorted(factory.discarded) == sorted(factory.made)
    assert "b2" in factory.made
    pool.refill("c")
    await settle()
    assert not any(item.startswith("c") for item in factory.made)


async def test_a_size_of_nothing_makes_nothing(factory: Factory) -> None:
    pool: WarmPool[str, str] = WarmPool(factory.make, factory.discard, settings=PoolSettings(size=0))
    pool.refill("a")
    await settle()
    assert (factory.made, pool.take("a")) == ([], None)
    await pool.close()


async def test_an_item_that_cannot_be_discarded_does_not_stop_the_closing(factory: Factory) -> None:
    async def refuse(_item: str) -> None:
        raise RuntimeError("still in use")

    pool: WarmPool[str, str] = WarmPool(factory.make, refuse, settings=PoolSettings(size=1))
    pool.refill("a")
    await settle()
    await pool.close()


@pytest.mark.parametrize("bad", [{"size": -1}, {"idle_seconds": 0.0}])
def test_impossible_settings_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="pool"):
        PoolSettings(**bad)  # type: ignore[arg-type]
