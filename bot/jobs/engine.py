"""Everything behind the webhook, put together: database, GitHub, behaviours, worker."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

from bot.behaviours.all import handle
from bot.behaviours.context import Bot
from bot.behaviours.status import show_status
from bot.events.types import AnyEvent
from bot.github.deliveries import redeliver_missed
from bot.github.outgoing import Outgoing
from bot.github.protocol import GitHub
from bot.github.pygithub import PyGitHub
from bot.jobs.caretaker import duties_beside, every
from bot.jobs.desk import Desk, OpenEquipment
from bot.jobs.liveness import FileLiveness, Liveness, PostgresLiveness
from bot.jobs.steps import Steps
from bot.jobs.store import JobStore, open_store, prepare_database
from bot.jobs.types import JobOutcome, JobRequest, JobView
from bot.jobs.work import do_job
from bot.jobs.worker import Capacity, Work, running_worker
from bot.record import Record
from bot.runs import RunStore
from bot.services import equipment_for
from bot.settings import Settings
from bot.speech.redaction import Redactor, secrets_of
from pipelines.errors import RefusalError

_log = logging.getLogger(__name__)
_DIED = "The worker died several times over this job. The log of the service says more."
_REDELIVERY_SECONDS = 600.0
_REDELIVERY_HOURS = 24.0


class _Nothing(Record):
    """The result of a step that only acts."""


@asynccontextmanager
async def open_engine(
    settings: Settings,
    *,
    worker: bool = True,
    github: GitHub | None = None,
    equipment: OpenEquipment = equipment_for,
) -> AsyncIterator[JobStore]:
    """The inbox and the Jobs of these settings; with a worker they are also worked on meanwhile."""
    url = database_url(settings)
    if worker and github is None:
        github = PyGitHub(settings.github)
    await asyncio.to_thread(make_data_folder, settings.data_dir)
    await asyncio.to_thread(prepare_database, url)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(url))
        if worker and github is not None:
            secrets = secrets_of(settings)
            speaking = Outgoing(github, Redactor(secrets))
            work = _work(settings, store, speaking, equipment, secrets)
            capacity = Capacity(
                jobs=settings.service.concurrent_jobs,
                jobs_per_repository=settings.service.jobs_per_repository,
                recoveries=settings.service.recoveries,
            )
            await stack.enter_async_context(running_worker(url, store, work, liveness_for(url), capacity))
            redelivery = every(_REDELIVERY_SECONDS, partial(_redeliver, settings))
            await stack.enter_async_context(duties_beside([redelivery]))
        yield store


async def _redeliver(settings: Settings) -> None:
    """GitHub itself delivers nothing twice: what came while nobody listened has to be asked for."""
    asked = await redeliver_missed(settings.github, hours=_REDELIVERY_HOURS)
    if asked:
        _log.info("%d missed deliveries were asked for again", asked)


def make_data_folder(folder: Path) -> None:
    """A folder for its owner alone; one that is there stays as it is. Raises RefusalError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise RefusalError(
            f"the data folder {folder} cannot be made ({error.strerror}): name another one as data_dir "
            "(ISSUEWRIGHT_DATA_DIR)"
        ) from error


def database_url(settings: Settings) -> str:
    """Where the Jobs are kept. Raises RefusalError for a database of another kind."""
    url = settings.service.database_url or f"sqlite:///{settings.data_dir.absolute() / 'jobs.sqlite3'}"
    if not url.startswith(("sqlite:///", "postgresql://")):
        raise RefusalError(
            "service.database_url must start with sqlite:/// (and a path) or postgresql://, "
            "as in postgresql://user@host/issuewright"
        )
    return url


def liveness_for(url: str) -> Liveness:
    """How workers of this database know each other alive."""
    if url.startswith("sqlite:"):
        return FileLiveness(Path(url.removeprefix("sqlite:///")).absolute().parent / "workers")
    return PostgresLiveness(url)


def _work(
    settings: Settings,
    store: JobStore,
    github: GitHub,
    equipment: OpenEquipment,
    secrets: tuple[str, ...],
) -> Work:
    runs = RunStore(settings.data_dir)
    bot = Bot(
        github,
        store,
        settings.github,
        settings.service,
        offered_models=frozenset(settings.offered_models),
        runs=runs,
    )
    desk = Desk(
        bot=bot,
        settings=settings,
        runs=runs,
        clones=settings.data_dir / "clones",
        equipment=equipment,
        secrets=secrets,
    )

    async def handle_event(steps: Steps, event: AnyEvent) -> None:
        async def handled() -> _Nothing:
            await handle(event, bot)
            return _Nothing()

        try:
            await steps.do("handle", handled, _Nothing)
        except RefusalError as error:
            _log.warning("delivery %s: %s", event.delivery, error)

    async def job(steps: Steps, request: JobRequest) -> JobOutcome:
        return await do_job(steps, request, desk)

    async def tell_failure(steps: Steps, view: JobView) -> None:
        async def told() -> _Nothing:
            latest = await store.latest(view.request.order.thread)
            if latest is not None and latest.request == view.request:
                await show_status(bot, view, why=_DIED)
            return _Nothing()

        await steps.do("tell", told, _Nothing)

    return Work(handle_event, job, tell_failure)
