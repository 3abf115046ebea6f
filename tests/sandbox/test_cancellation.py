"""Work that is done to its end, and threads that hold nobody up."""

import asyncio
import secrets
import subprocess
import sys
import threading
import time

import pytest

from sandbox import Limits
from sandbox.cancellation import uninterrupted
from sandbox.process import never, run_process
from sandbox.threads import in_own_thread

from .processes import gone_within


async def test_work_that_nobody_cancels_gives_its_result() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    assert await uninterrupted(work()) == 7


async def test_what_work_raises_is_raised() -> None:
    async def work() -> None:
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        await uninterrupted(work())


@pytest.mark.parametrize("times", [1, 2, 5])
async def test_work_comes_to_its_end_however_often_its_caller_is_cancelled(times: int) -> None:
    done = []

    async def work() -> None:
        await asyncio.sleep(0.1)
        done.append(True)

    caller = asyncio.create_task(uninterrupted(work()))
    for _ in range(times):
        await asyncio.sleep(0.01)
        caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert done == [True]


@pytest.mark.parametrize("delay", [0.0, 0.001, 0.005, 0.02])
async def test_a_process_whose_start_is_cancelled_twice_is_gone(delay: float) -> None:
    token = f"86{secrets.randbelow(10**9):09d}"
    running = asyncio.create_task(
        run_process(["sleep", token], env={}, stdin=b"", limits=Limits(), watch=never)
    )
    await asyncio.sleep(delay)
    for _ in range(3):
        running.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await running
    assert gone_within(token, 2)


async def test_more_threads_than_the_executor_has_can_be_held() -> None:
    gate = threading.Event()
    held = [asyncio.create_task(in_own_thread(gate.wait)) for _ in range(60)]
    assert await asyncio.wait_for(in_own_thread(lambda: 5), 10) == 5
    gate.set()
    assert await asyncio.gather(*held) == [True] * 60


async def test_what_a_thread_raises_is_raised() -> None:
    def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await in_own_thread(work)


async def test_a_result_that_nobody_waits_for_is_dropped() -> None:
    waiting = asyncio.create_task(in_own_thread(lambda: time.sleep(0.1)))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.sleep(0.2)


def test_a_blocked_thread_keeps_no_ended_program_alive() -> None:
    code = """
import asyncio, time
from sandbox.threads import in_own_thread
async def main():
    waiting = asyncio.create_task(in_own_thread(lambda: time.sleep(600)))
    await asyncio.sleep(0.1)
asyncio.run(main())
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
