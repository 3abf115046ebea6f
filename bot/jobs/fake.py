"""Jobs in memory, for tests of behaviours and for trying things out."""

from datetime import UTC, datetime, timedelta

from bot.jobs.history import next_generation
from bot.jobs.protocol import Started
from bot.jobs.types import JobOrder, JobOutcome, JobRequest, JobState, JobView


class FakeJobs:
    """Keeps Jobs in a list; `finish` ends one, which nothing else does."""

    def __init__(self) -> None:
        self.views: list[JobView] = []

    async def start(self, order: JobOrder) -> Started:
        """As `Jobs.start`."""
        latest = await self.latest(order.thread)
        generation = next_generation(latest, order)
        if generation is None:
            assert latest is not None  # noqa: S101
            return Started(latest, new=False)
        view = JobView(request=JobRequest(order=order, generation=generation), state="queued", position=1)
        self.views.append(view)
        return Started(view, new=True)

    async def latest(self, thread: str) -> JobView | None:
        """As `Jobs.latest`."""
        found = [view for view in self.views if view.request.order.thread == thread]
        return found[-1] if found else None

    async def stop(self, job_id: str) -> bool:
        """As `Jobs.stop`."""
        live = any(view.live for view in self.views if view.request.id == job_id)
        if live:
            self._change(job_id, "stopped", None)
        return live

    async def recent(self, repo_key: str, *, hours: float) -> list[JobView]:
        """As `Jobs.recent`."""
        oldest = datetime.now(UTC) - timedelta(hours=hours)
        return [
            view
            for view in reversed(self.views)
            if view.request.order.repo.key == repo_key and view.request.order.requested_at >= oldest
        ]

    def finish(self, job_id: str, outcome: JobOutcome) -> None:
        """End a Job with this outcome."""
        self._change(job_id, "finished", outcome)

    def _change(self, job_id: str, state: JobState, outcome: JobOutcome | None) -> None:
        self.views = [
            view.model_copy(update={"state": state, "outcome": outcome, "position": None})
            if view.request.id == job_id
            else view
            for view in self.views
        ]
