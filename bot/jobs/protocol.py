"""What behaviours may ask of the Jobs."""

from typing import NamedTuple, Protocol

from bot.events.types import AnyEvent
from bot.jobs.types import JobOrder, JobView


class Started(NamedTuple):
    """The Job that serves an order, and whether the order made it."""

    job: JobView
    new: bool


class Jobs(Protocol):
    """The durable queue of Jobs."""

    async def start(self, order: JobOrder) -> Started:
        """A new Job for the order, or the one that serves its issue already; never two live ones.

        An `at_creation` order makes only the first Job of an issue.
        """
        ...

    async def latest(self, thread: str) -> JobView | None:
        """The latest Job of an issue, by `JobOrder.thread`."""
        ...

    async def stop(self, job_id: str) -> bool:
        """Cancel a live Job; False when it was over already."""
        ...

    async def recent(self, repo_key: str, *, hours: float) -> list[JobView]:
        """Jobs of a repository that were ordered within the last hours, the latest first."""
        ...


class Inbox(Protocol):
    """Where events are put so that they are handled, whatever happens to this process."""

    async def accept(self, event: AnyEvent) -> bool:
        """Store an event on disk; False for a delivery that is there already, which changes nothing.

        Raises InfrastructureError when it could not be stored; the sender then may try again.
        """
        ...
