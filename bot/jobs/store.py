"""The durable queues, seen from outside the workflows: orders and events go in, Jobs can be looked at.

The only module besides `worker` that knows DBOS. Workflow ids are what makes things happen once: a delivery's
id names its workflow, a Job's id names the Job's.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer, EnqueueOptions, WorkflowStatus
from dbos import error as dbos_error
from sqlalchemy.exc import SQLAlchemyError

from bot.events.types import AnyEvent
from bot.jobs.history import next_generation
from bot.jobs.protocol import Started
from bot.jobs.types import JobOrder, JobOutcome, JobRequest, JobState, JobView
from bot.record import Record
from pipelines.errors import InfrastructureError

APPLICATION = "issuewright"
APPLICATION_VERSION = "1"
"""Raised only when a change makes unfinished workflows impossible to go on with."""

DELIVERIES = "deliveries"
JOBS = "jobs"
EVENT_WORKFLOW = "handle_event"
JOB_WORKFLOW = "do_job"
FAILURE_WORKFLOW = "tell_failure"

_FORGET_DELIVERIES_DAYS = 30
"""GitHub delivers again for three days."""
_FORGET_JOBS_DAYS = 365
_FORGET_AT_ONCE = 500

_STATES: dict[str, JobState] = {
    "ENQUEUED": "queued",
    "DELAYED": "queued",
    "PENDING": "running",
    "SUCCESS": "finished",
    "CANCELLED": "stopped",
    "ERROR": "failed",
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "failed",
}
_LIVE = ["ENQUEUED", "DELAYED", "PENDING"]
_OVER = [status for status in _STATES if status not in _LIVE]

ResultT = TypeVar("ResultT")


class JobStore:
    """Inbox and Jobs on the database of the workflows."""

    def __init__(self, client: DBOSClient) -> None:
        self._client = client

    async def accept(self, event: AnyEvent) -> bool:
        """As `Inbox.accept`."""
        return await self._enqueue(EVENT_WORKFLOW, DELIVERIES, delivery_id(event), event.repo.key, event)

    async def start(self, order: JobOrder) -> Started:
        """As `Jobs.start`."""
        latest = await self.latest(order.thread)
        generation = next_generation(latest, order)
        if generation is None and latest is not None:
            return Started(latest, new=False)
        request = JobRequest(order=order, generation=generation or 1)
        new = await self._enqueue(JOB_WORKFLOW, JOBS, request.id, order.repo.key, request)
        made = await self.latest(order.thread)
        if made is None:
            raise InfrastructureError(f"job {request.id} was stored and cannot be found again")
        return Started(made, new=new)

    async def latest(self, thread: str) -> JobView | None:
        """As `Jobs.latest`."""
        found = await self._call(lambda: self._find(name=JOB_WORKFLOW, prefix=f"{thread}/"))
        views = [job_view(status) for status in found]
        if not views:
            return None
        latest = max(views, key=lambda view: view.request.generation)
        return await self._with_position(latest)

    async def stop(self, job_id: str) -> bool:
        """As `Jobs.stop`."""
        live = await self._call(lambda: self._find(workflow_ids=[job_id], status=_LIVE, load_input=False))
        if live:
            await self._call(lambda: self._client.cancel_workflow(job_id))
        return bool(live)

    async def recent(self, repo_key: str, *, hours: float) -> list[JobView]:
        """As `Jobs.recent`."""
        oldest = (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
        found = await self._call(
            lambda: self._find(name=JOB_WORKFLOW, prefix=f"{repo_key}#", start_time=oldest, sort_desc=True)
        )
        return [job_view(status) for status in found]

    async def counts(self) -> dict[JobState, int]:
        """How many Jobs of each state there are that still wait or work."""
        found = await self._call(
            lambda: self._find(name=JOB_WORKFLOW, status=_LIVE, load_input=False, load_output=False)
        )
        counted: dict[JobState, int] = {"queued": 0, "running": 0}
        for status in found:
            counted[_STATES[status.status]] += 1
        return counted

    async def ordered(self, *, hours: float) -> list[JobView]:
        """All Jobs that were ordered within the last hours."""
        oldest = (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
        found = await self._call(lambda: self._find(name=JOB_WORKFLOW, start_time=oldest))
        return [job_view(status) for status in found]

    async def working_names(self) -> set[str]:
        """Names of the workers that have begun and not finished something."""
        found = await self._call(lambda: self._find(status=["PENDING"], load_input=False, load_output=False))
        return {status.executor_id for status in found if status.executor_id}

    async def tell_failures(self) -> None:
        """Order that Jobs whose workflow died lately are shown as failed; each once."""
        lately = (datetime.now(UTC) - timedelta(days=1)).isoformat()
        dead = ["ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
        found = await self._call(
            lambda: self._find(name=JOB_WORKFLOW, status=dead, start_time=lately, load_output=True)
        )
        for status in found:
            view = job_view(status)
            workflow_id = f"failure:{view.request.id}"
            partition = view.request.order.repo.key
            await self._enqueue(FAILURE_WORKFLOW, DELIVERIES, workflow_id, partition, view)

    async def forget_old(self) -> None:
        """Delete what is over and long past."""
        for names, days in (
            ((EVENT_WORKFLOW, FAILURE_WORKFLOW), _FORGET_DELIVERIES_DAYS),
            ((JOB_WORKFLOW,), _FORGET_JOBS_DAYS),
        ):
            before = (datetime.now(UTC) - timedelta(days=days)).isoformat()
            over = partial(self._find, name=list(names), end_time=before, status=_OVER, limit=_FORGET_AT_ONCE)
            found = await self._call(partial(over, load_input=False, load_output=False))
            if found:
                ids = [status.workflow_id for status in found]
                await self._call(partial(self._client.delete_workflows, ids))

    async def healthy(self) -> str | None:
        """Why nothing can be stored just now, or None."""
        try:
            await self._call(self._client.check_connection)
        except InfrastructureError as error:
            return str(error)
        return None

    async def _with_position(self, view: JobView) -> JobView:
        if view.state != "queued":
            return view
        prefix = f"{view.request.order.repo.key}#"
        queued = await self._call(
            lambda: self._find(name=JOB_WORKFLOW, status=["ENQUEUED"], prefix=prefix, load_input=False)
        )
        ids = [status.workflow_id for status in queued]
        position = ids.index(view.request.id) + 1 if view.request.id in ids else None
        return view.model_copy(update={"position": position})

    async def _enqueue(
        self, workflow: str, queue: str, workflow_id: str, partition: str, argument: Record
    ) -> bool:
        """Whether this id was new."""
        options: EnqueueOptions = {
            "workflow_name": workflow,
            "queue_name": queue,
            "workflow_id": workflow_id,
            "workflow_id_reuse_policy": "reject",
            "queue_partition_key": partition,
            "app_version": APPLICATION_VERSION,
        }
        try:
            await self._call(lambda: self._client.enqueue(options, argument.model_dump(mode="json")))
        except dbos_error.DBOSWorkflowIDInUseError:
            return False
        return True

    def _find(self, *, prefix: str = "", **conditions: Any) -> list[WorkflowStatus]:
        found = self._client.list_workflows(workflow_id_prefix=prefix or None, **conditions)
        # The database takes `_` in a prefix for any letter.
        return [status for status in found if status.workflow_id.startswith(prefix)]

    async def _call(self, operation: Callable[[], ResultT]) -> ResultT:
        try:
            return await asyncio.to_thread(operation)
        except SQLAlchemyError as error:
            raise _unusable(error) from error


def _unusable(error: Exception) -> InfrastructureError:
    """Without the error's own text, which may quote the URL with its password."""
    return InfrastructureError(
        f"the database of the jobs cannot be used ({type(error).__name__}): check "
        "ISSUEWRIGHT_SERVICE__DATABASE_URL, the disk and the server"
    )


def job_view(status: WorkflowStatus) -> JobView:
    """A Job as its workflow's row shows it."""
    assert status.input is not None  # noqa: S101
    return JobView(
        request=JobRequest.model_validate(status.input["args"][0]),
        state=_STATES[status.status],
        outcome=JobOutcome.model_validate(status.output) if status.output else None,
        error=str(status.error or ""),
    )


def delivery_id(event: AnyEvent) -> str:
    """The workflow that handles a delivery; GitHub keeps the id when it delivers again."""
    return f"delivery:{event.delivery}"


def prepare_database(database_url: str) -> None:
    """Create or bring up to date the tables; a SQLite file's folder has to be there.

    SQLite gets the journal that readers do not block. Raises InfrastructureError.
    """
    path = database_url.removeprefix("sqlite:///") if database_url.startswith("sqlite:///") else None
    try:
        if path is not None:
            with closing(sqlite3.connect(path)) as database:
                database.execute("PRAGMA journal_mode=WAL")
        DBOS.migrate(database_url)
    except (OSError, sqlite3.Error, SQLAlchemyError, dbos_error.DBOSException) as error:
        raise _unusable(error) from error


@asynccontextmanager
async def open_store(database_url: str) -> AsyncIterator[JobStore]:
    """The store of a database whose tables are there (`prepare_database`)."""
    client = await asyncio.to_thread(
        lambda: DBOSClient(
            system_database_url=database_url,
            serializer=DBOSPortableJSONSerializer(),
            application_name=APPLICATION,
            retry_connection_errors=False,
        )
    )
    try:
        yield JobStore(client)
    finally:
        await asyncio.to_thread(client.destroy)
