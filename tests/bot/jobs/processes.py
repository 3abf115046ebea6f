"""Workers in processes of their own on a scene: started again when they die, until the Job has ended."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.process import BaseProcess
from typing import Any

from bot.events.types import CommentEvent, IssueEvent
from bot.github.types import Actor, Comment, Issue
from bot.jobs.store import JobStore
from bot.jobs.types import JobView
from bot.settings import Settings
from pipelines.model.endpoint import Endpoint
from tests.bot.jobs.scene import REPO, Scene
from tests.bot.model_server import ModelServer

WRITES = ("react", "create_comment", "edit_comment", "create_pull_request", "edit_pull_request")


@dataclass
class Killer:
    """Kills the worker the first time that each of these moments comes."""

    moments: list[str] = field(default_factory=list)
    worker: BaseProcess | None = None
    armed: bool = True
    forgetful: bool = False
    """Kills each time."""

    def at_github(self, method: str, arguments: str, done: bool) -> None:
        if method in WRITES:
            which = hashlib.sha256(arguments.encode()).hexdigest()[:6]
            self.strike(f"{'after' if done else 'before'} {method} {which}")

    def at_model(self, number: int) -> None:
        self.strike(f"before the model's answer {min(number, 2)}")

    def at_push(self) -> None:
        self.strike("after the push")

    def strike(self, moment: str) -> None:
        known = moment in self.moments and not self.forgetful
        if self.armed and not known and self.worker is not None:
            self.moments.append(moment)
            self.worker.kill()
            self.worker.join()


def worker_settings(stage: Scene, server: ModelServer, **service: Any) -> Settings:
    settings = stage.desk.settings
    settings.data_dir.mkdir()
    return settings.model_copy(
        update={
            "executor": Endpoint(base_url=server.url),
            "sandbox": "bubblewrap",
            "service": settings.service.model_copy(
                update={"recoveries": 100, "progress_seconds": 600, **service}
            ),
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


def commented(issue: Issue, body: str) -> CommentEvent:
    said = Comment(
        id=5000, body=body, author=Actor(login="maria", id=7), html_url="", created_at=datetime.now(UTC)
    )
    return CommentEvent(
        delivery=f"d-{body}",
        name="issue_comment",
        action="created",
        repo=REPO,
        default_branch="main",
        sender=Actor(login="maria", id=7),
        issue=issue,
        comment=said,
    )


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what another process does."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.05)


async def ended(store: JobStore, thread: str, *, generation: int = 1) -> JobView:
    """The issue's Job of this generation once it is over."""
    while True:
        job = await store.latest(thread)
        if job is not None and job.request.generation == generation and not job.live:
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
