"""Workers as processes: limits, stopping, dying, and being taken over."""

import asyncio
from multiprocessing.process import BaseProcess
from pathlib import Path

from bot.jobs.store import open_store
from tests.bot.jobs.processes import until
from tests.bot.jobs.test_store import order
from tests.bot.jobs.victim import deeds, start_plain_worker


def end(*workers: BaseProcess) -> None:
    for worker in workers:
        worker.kill()
        worker.join()


async def test_another_worker_takes_over_what_a_dead_one_left(url: str, tmp_path: Path) -> None:
    async with open_store(url) as store:
        first = await asyncio.to_thread(start_plain_worker, tmp_path, url)
        await store.start(order())
        await until(lambda: "octo/repo#1/1 last" in deeds(tmp_path))
        second = await asyncio.to_thread(start_plain_worker, tmp_path, url)
        await until(lambda: sum(deed.startswith("up ") for deed in deeds(tmp_path)) == 2)
        assert deeds(tmp_path).count("octo/repo#1/1 last") == 1
        end(first)
        await until(lambda: deeds(tmp_path).count("octo/repo#1/1 last") == 2)
        end(second)
    assert deeds(tmp_path).count("octo/repo#1/1 first") == 1
    names = [deed for deed in deeds(tmp_path) if deed.startswith("up ")]
    assert len(set(names)) == 2


async def test_a_worker_that_starts_again_takes_its_old_name_and_its_work(
    sqlite_url: str, tmp_path: Path
) -> None:
    async with open_store(sqlite_url) as store:
        first = await asyncio.to_thread(start_plain_worker, tmp_path, sqlite_url)
        await store.start(order())
        await until(lambda: "octo/repo#1/1 last" in deeds(tmp_path))
        end(first)
        again = await asyncio.to_thread(start_plain_worker, tmp_path, sqlite_url)
        await until(lambda: deeds(tmp_path).count("octo/repo#1/1 last") == 2)
        end(again)
    assert len({deed for deed in deeds(tmp_path) if deed.startswith("up ")}) == 1


async def test_a_repository_has_one_job_at_a_time_and_a_stopped_one_makes_room(
    url: str, tmp_path: Path
) -> None:
    async with open_store(url) as store:
        worker = await asyncio.to_thread(start_plain_worker, tmp_path, url)
        for number, repo in ((1, "octo/repo"), (2, "octo/repo"), (1, "octo/other")):
            await store.start(order(number, repo))
        await until(lambda: {"octo/repo#1/1 last", "octo/other#1/1 last"} <= set(deeds(tmp_path)))
        second = await store.latest("octo/repo#2")
        assert second is not None
        assert (second.state, second.position) == ("queued", 1)
        assert await store.counts() == {"queued": 1, "running": 2}
        await store.stop("octo/repo#1/1")
        await until(lambda: "octo/repo#2/1 last" in deeds(tmp_path))
        stopped = await store.latest("octo/repo#1")
        assert stopped is not None
        assert stopped.state == "stopped"
        end(worker)
