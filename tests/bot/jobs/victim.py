"""A worker of its own process, on a GitHub that another process plays: it is there to be killed."""

import asyncio
import multiprocessing
import os
from multiprocessing.process import BaseProcess
from pathlib import Path

from bot.jobs.engine import open_engine
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
