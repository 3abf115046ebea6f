"""The worker: a DBOS executor that handles events and does Jobs.

Besides `store` the only module that knows DBOS. What it must not do is written where it does not
(facts of DBOS 3.4): one name per living process, an explicit application version, JSON in the database, few
recovery attempts, steps one after the other, and a look after the dead.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer

from bot.events.types import AnyEvent, read_stored_event
from bot.jobs.caretaker import looking_after
from bot.jobs.durable_steps import DurableSteps
from bot.jobs.liveness import Liveness, own_name
from bot.jobs.steps import Steps
from bot.jobs.store import (
    APPLICATION,
    APPLICATION_VERSION,
    DELIVERIES,
    EVENT_WORKFLOW,
    FAILURE_WORKFLOW,
    JOB_WORKFLOW,
    JOBS,
    JobStore,
)
from bot.jobs.types import JobOutcome, JobRequest, JobView

_POLL_SECONDS = 0.2

HandleEvent = Callable[[Steps, AnyEvent], Awaitable[None]]
DoJob = Callable[[Steps, JobRequest], Awaitable[JobOutcome]]
TellFailure = Callable[[Steps, JobView], Awaitable[None]]


@dataclass(frozen=True)
class Work:
    """What the worker does about an event, a Job, and a Job whose own workflow could not tell its end."""

    handle_event: HandleEvent
    do_job: DoJob
    tell_failure: TellFailure


@dataclass(frozen=True)
class Capacity:
    """How much is done at once."""

    jobs: int = 1
    """By this worker."""
    jobs_per_repository: int = 1
    """By all workers together."""
    events: int = 4
    recoveries: int = 4
    """A Job whose workers die of it is not tried for ever."""


@asynccontextmanager
async def running_worker(
    database_url: str, store: JobStore, work: Work, liveness: Liveness, capacity: Capacity
) -> AsyncIterator[str]:
    """Work while the context lasts; gives the worker's name.

    What it leaves undone is gone on with by its next start, or by another worker. One at a time in a process:
    DBOS is a global of its process.
    """
    with own_name(liveness) as name:
        await asyncio.to_thread(_launch, database_url, work, name, capacity)
        try:
            async with looking_after(store, liveness, name, _recover):
                yield name
        finally:
            await asyncio.to_thread(DBOS.destroy, destroy_registry=True)


def _recover(names: list[str]) -> None:
    """Queue again what these workers left; private, but what counts recoveries and is safe to race with."""
    DBOS._recover_pending_workflows(names)


def _launch(database_url: str, work: Work, name: str, capacity: Capacity) -> None:
    """Register the workflows and start; in a thread, so that they run on DBOS's own event loop."""
    steps = DurableSteps()

    async def handle_event(event: dict[str, Any]) -> None:
        await work.handle_event(steps, read_stored_event(event))

    async def do_job(request: dict[str, Any]) -> dict[str, Any]:
        outcome = await work.do_job(steps, JobRequest.model_validate(request))
        return outcome.model_dump(mode="json")

    async def tell_failure(job: dict[str, Any]) -> None:
        await work.tell_failure(steps, JobView.model_validate(job))

    config: DBOSConfig = {
        "name": APPLICATION,
        "system_database_url": database_url,
        "executor_id": name,
        "application_version": APPLICATION_VERSION,
        "serializer": DBOSPortableJSONSerializer(),
        "enable_otlp": False,
        "log_level": "WARNING",
    }
    DBOS(config=config)
    DBOS.workflow(name=EVENT_WORKFLOW, max_recovery_attempts=capacity.recoveries)(handle_event)
    DBOS.workflow(name=JOB_WORKFLOW, max_recovery_attempts=capacity.recoveries)(do_job)
    DBOS.workflow(name=FAILURE_WORKFLOW, max_recovery_attempts=capacity.recoveries)(tell_failure)
    DBOS.launch()
    DBOS.register_queue(
        DELIVERIES,
        partition_concurrency=1,
        worker_concurrency=capacity.events,
        polling_interval_sec=_POLL_SECONDS,
        on_conflict="always_update",
    )
    DBOS.register_queue(
        JOBS,
        partition_concurrency=capacity.jobs_per_repository,
        worker_concurrency=capacity.jobs,
        polling_interval_sec=_POLL_SECONDS,
        on_conflict="always_update",
    )
