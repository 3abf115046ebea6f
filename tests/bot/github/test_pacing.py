import asyncio
import threading

from hypothesis import given
from hypothesis import strategies as st

from bot.github.pacing import Pace


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.floats(0, 5), min_size=2, max_size=20), st.floats(0, 3))
def test_turns_lie_apart_and_none_is_later_than_need_be(waits: list[float], seconds: float) -> None:
    clock = Clock()
    pace = Pace(seconds, clock=clock)
    before = -1000.0
    for wait in waits:
        clock.now += wait
        start = clock.now + pace.reserve()
        assert abs(start - max(clock.now, before + seconds)) < 1e-6
        before = start


def test_threads_share_the_turns() -> None:
    pace = Pace(1, clock=lambda: 0.0)
    taken: list[float] = []
    threads = [
        threading.Thread(target=lambda: taken.extend(pace.reserve() for _ in range(50))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(200))


async def test_a_turn_is_waited_for() -> None:
    pace = Pace(3600)
    await pace.turn()
    second = asyncio.create_task(pace.turn())
    done, waiting = await asyncio.wait([second], timeout=0.05)
    assert (done, waiting) == (set(), {second})
    second.cancel()


async def test_without_spacing_nobody_waits() -> None:
    pace = Pace(0)
    await asyncio.wait_for(asyncio.gather(*(pace.turn() for _ in range(100))), 5)
