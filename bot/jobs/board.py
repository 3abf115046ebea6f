"""The status comment of a Job: which step it is at, kept up to date while it works."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from bot.github.errors import GitHubError
from bot.github.own_comments import LivingComment
from bot.jobs.desk import Desk
from bot.jobs.job_run import job_run_id
from bot.jobs.types import JobOutcome, JobRequest
from bot.speech.markers import STATUS_MARKER
from bot.speech.status import StatusStep, StatusView, render_status
from pipelines.budget import Budget, Spent
from pipelines.requirement.attachments import unread_attachments
from pipelines.run import Progress
from sandbox.cancellation import uninterrupted

_log = logging.getLogger(__name__)

STEPS = {
    "generate": ("checks", "run", "push", "pull_request"),
    "explain": ("checks", "explain"),
}


class Board:
    """Shows one Job on its issue."""

    def __init__(self, desk: Desk, request: JobRequest, *, language: str) -> None:
        order = request.order
        self._request = request
        self._jobs = desk.jobs
        self._language = language
        self._unread = unread_attachments(order.body)
        self._seconds = desk.settings.service.progress_seconds
        self._comment = LivingComment(desk.github, order.repo, order.issue, marker=STATUS_MARKER)

    async def at(
        self, step: str, detail: str = "", *, spent: Spent | None = None, budget: Budget | None = None
    ) -> None:
        """The Job is at this step."""
        order = self._request.order
        view = StatusView(
            state="running",
            requested_by=order.requested_by,
            steps=steps_at(STEPS[order.kind], step, detail),
            spent=spent or Spent(),
            budget=budget,
            run_id=job_run_id(self._request) if budget else None,
            unread=self._unread,
        )
        await self._show(view)

    async def ended(self, outcome: JobOutcome) -> None:
        """The Job came to its end."""
        state = "failed" if outcome.status == "failed" else "finished"
        view = StatusView(
            state=state,
            requested_by=self._request.order.requested_by,
            outcome=outcome,
            spent=outcome.spent,
            budget=outcome.budget,
            unread=self._unread,
        )
        await self._show(view)

    @asynccontextmanager
    async def following(self, step: str, *, budget: Budget) -> AsyncIterator["Follower"]:
        """A display whose latest news is shown from time to time."""
        follower = Follower()
        writer = asyncio.create_task(self._follow(follower, step, budget))
        try:
            yield follower
        finally:
            late = follower.being_shown
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            if late:
                await uninterrupted(self._tell_stopped())

    async def _follow(self, follower: "Follower", step: str, budget: Budget) -> None:
        while True:
            progress = await follower.news()
            detail = f"{progress.stage}: {progress.detail}" if progress.detail else progress.stage
            follower.being_shown = True
            # A request that is on its way must have arrived before the next may be sent.
            await uninterrupted(self._news(self.at(step, detail, spent=progress.spent, budget=budget)))
            follower.being_shown = False
            await asyncio.sleep(self._seconds)

    async def _news(self, telling: Coroutine[Any, Any, None]) -> None:
        """News may be missed: what came of the Job is told by a step of its own."""
        try:
            await telling
        except GitHubError as error:
            _log.warning("news of %s could not be shown: %s", self._request.id, error)

    async def _tell_stopped(self) -> None:
        """The last news may have come after what was said when the Job was stopped."""
        latest = await self._jobs.latest(self._request.order.thread)
        if latest is not None and latest.request == self._request and latest.state == "stopped":
            stopped = StatusView(state="stopped", requested_by=self._request.order.requested_by)
            await self._news(self._show(stopped))

    async def _show(self, view: StatusView) -> None:
        await self._comment.show(render_status(view, language=self._language))


class Follower:
    """Keeps the latest news of a Run; tells nobody by itself."""

    def __init__(self) -> None:
        self.being_shown = False
        self._latest: Progress | None = None
        self._new = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def show(self, progress: Progress) -> None:
        """As `Display.show`; may be called from any thread."""
        self._latest = progress
        self._loop.call_soon_threadsafe(self._new.set)

    def downloaded(self, done: int, total: int) -> None:
        """As `Display.downloaded`."""
        self.show(Progress(stage="model", detail=f"{done / 1e6:.0f} of {total / 1e6:.0f} MB fetched"))

    async def news(self) -> Progress:
        """The latest news once there is some that was not given yet."""
        await self._new.wait()
        self._new.clear()
        assert self._latest is not None  # noqa: S101
        return self._latest


def steps_at(names: tuple[str, ...], current: str, detail: str) -> tuple[StatusStep, ...]:
    """The checklist of a Job that is at this step."""
    place = names.index(current)
    return tuple(
        StatusStep(name=name, state="done")
        if number < place
        else StatusStep(name=name, state="running", detail=detail)
        if number == place
        else StatusStep(name=name)
        for number, name in enumerate(names)
    )
