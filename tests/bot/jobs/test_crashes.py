"""kill -9 at every boundary of a Job: what is done is not done again, and what is not is done once."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from bot.events.types import IssueEvent
from bot.github.types import Actor, Issue
from bot.jobs.engine import database_url
from bot.jobs.store import JobStore, open_store, prepare_database
from bot.jobs.types import JobView
from bot.settings import Settings
from pipelines.model.endpoint import Endpoint
from sandbox import SandboxBackend
from tests.bot.conftest import git
from tests.bot.jobs.github_server import served
from tests.bot.jobs.scene import REPO, Scene, scene
from tests.bot.jobs.victim import start_worker
from tests.bot.model_server import ModelServer, model_server
from tests.bot.test_program import answer

pytestmark = pytest.mark.sandbox
WRITES = ("react", "create_comment", "edit_comment", "create_pull_request", "edit_pull_request")


@dataclass
class Killer:
    """Kills the worker the first time that each of these moments comes."""

    moments: list[str] = field(default_factory=list)
    worker: BaseProcess | None = None
    armed: bool = True

    def at_github(self, method: str, arguments: str, done: bool) -> None:
        if method in WRITES:
            which = hashlib.sha256(arguments.encode()).hexdigest()[:6]
            self.strike(f"{'after' if done else 'before'} {method} {which}")

    def at_model(self, number: int) -> None:
        self.strike(f"before the model's answer {min(number, 2)}")

    def at_push(self) -> None:
        self.strike("after the push")

    def strike(self, moment: str) -> None:
        if self.armed and moment not in self.moments and self.worker is not None:
            self.moments.append(moment)
            self.worker.kill()
            self.worker.join()


def worker_settings(stage: Scene, server: ModelServer) -> Settings:
    settings = stage.desk.settings
    return settings.model_copy(
        update={
            "executor": Endpoint(base_url=server.url),
            "sandbox": "bubblewrap",
            "service": settings.service.model_copy(update={"recoveries": 100, "progress_seconds": 600}),
        }
    )


def labelled(issue: Issue) -> IssueEvent:
    return IssueEvent(
        delivery="d-1",
        name="issues",
        action="labeled",
        repo=REPO,
        default_branch="main",
        sender=Actor(login="maria", id=7),
        issue=issue,
        label="issuewright",
    )


async def ended(store: JobStore, thread: str) -> JobView:
    while True:
        job = await store.latest(thread)
        if job is not None and not job.live:
            return job
        await asyncio.sleep(0.1)


async def work_on(store: JobStore, killer: Killer, start: Callable[[], BaseProcess]) -> JobView:
    """Start the worker again after each kill until the Job has ended."""
    waiting = asyncio.create_task(ended(store, "octo/repo#1"))
    while not waiting.done():
        killer.worker = worker = await asyncio.to_thread(start)
        dying = asyncio.create_task(asyncio.to_thread(worker.join))
        await asyncio.wait({waiting, dying}, return_when=asyncio.FIRST_COMPLETED)
        killer.armed = not waiting.done()
        worker.kill()
        await dying
    return waiting.result()


async def test_a_worker_that_is_killed_everywhere_makes_one_pull_request(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    killer = Killer()
    with (
        scene(tmp_path, backend, on_push=killer.at_push) as stage,
        model_server(answer) as server,
        served(stage.github, killer.at_github) as github_url,
    ):
        server.before_answer = killer.at_model
        settings = worker_settings(stage, server)
        url = database_url(settings)
        await asyncio.to_thread(prepare_database, url)
        async with open_store(url) as store:
            assert await store.accept(labelled(stage.repository.issues[1]))
            job = await work_on(store, killer, lambda: start_worker(tmp_path, settings, github_url))
            again = await store.accept(labelled(stage.repository.issues[1]))
    print("\n".join(killer.moments))
    assert job.outcome is not None, job
    assert job.outcome.status == "green", job.outcome
    assert not again
    assert len(stage.github.written("create_pull_request")) == 1
    assert len([c for c in stage.repository.talk[1] if "issuewright:status" in c.body]) == 1
    assert git(stage.remote, "rev-list", "--count", f"main..{job.outcome.branch}") == "1"
    assert max(Counter(server.answered).values()) == 1
