"""A worker of its own process, on a GitHub that another process plays: it is there to be killed."""

import asyncio
import multiprocessing
import os
from multiprocessing.process import BaseProcess
from pathlib import Path

from bot.jobs.engine import liveness_for, open_engine
from bot.jobs.steps import Steps
from bot.jobs.store import open_store
from bot.jobs.types import JobOutcome, JobRequest
from bot.jobs.worker import Capacity, Work, running_worker
from bot.record import Record
from bot.settings import Settings
from tests.bot.jobs.github_server import RemoteGitHub

FORKING = multiprocessing.get_context("forkserver")
"""Forks from a process that has everything imported: a start takes no seconds, and no thread is forked."""


def start_worker(folder: Path, settings: Settings, github_url: str) -> BaseProcess:
    """A worker in a process of its own; what it says goes to `worker.log`."""
    FORKING.set_forkserver_preload([__name__])
    worker = FORKING.Process(target=_work, args=(folder, settings.model_dump_json(), github_url), daemon=True)
    worker.start()
    return worker


def start_plain_worker(folder: Path, url: str) -> BaseProcess:
    """A worker that writes down what it does and never ends a Job: GitHub, git and models are left out."""
    FORKING.set_forkserver_preload([__name__])
    worker = FORKING.Process(target=_plainly, args=(folder, url), daemon=True)
    worker.start()
    return worker


def _plainly(folder: Path, url: str) -> None:
    asyncio.run(_plain(folder, url))


async def _plain(folder: Path, url: str) -> None:
    async def job(steps: Steps, request: JobRequest) -> JobOutcome:
        async def first() -> Done:
            write_down(folder, f"{request.id} first")
            return Done()

        async def last() -> Done:
            write_down(folder, f"{request.id} last")
            await asyncio.Event().wait()
            return Done()

        await steps.do("first", first, Done)
        await steps.do("last", last, Done)
        return JobOutcome(status="green")

    async def nothing(_steps: Steps, _about: object) -> None:
        pass

    async with open_store(url) as store:
        work = Work(nothing, job, nothing)
        async with running_worker(url, store, work, liveness_for(url), Capacity(jobs=4)) as name:
            write_down(folder, f"up {name}")
            await asyncio.Event().wait()


class Done(Record):
    """The result of a step that only acts."""


def write_down(folder: Path, line: str) -> None:
    with (folder / "deeds").open("a") as file:
        file.write(f"{line}\n")


def deeds(folder: Path) -> list[str]:
    path = folder / "deeds"
    return path.read_text().splitlines() if path.exists() else []


def _work(folder: Path, settings: str, github_url: str) -> None:
    log = os.open(folder / "worker.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    for name in [name for name in os.environ if name.startswith("ISSUEWRIGHT_")]:
        del os.environ[name]
    asyncio.run(_until_killed(Settings.model_validate_json(settings), github_url))


async def _until_killed(settings: Settings, github_url: str) -> None:
    async with open_engine(settings, github=RemoteGitHub(github_url)):
        await asyncio.Event().wait()
