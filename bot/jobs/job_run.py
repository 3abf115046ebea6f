"""The Run of a Job: its clone, its record and its manifest, begun once and taken up again after a crash."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass

from bot.configured import configured
from bot.git.clone import Checkout, ensure_clone
from bot.git.repository import GitRepository
from bot.jobs.author import bot_author
from bot.jobs.checking_step import Checked
from bot.jobs.desk import Desk
from bot.jobs.types import JobRequest
from bot.runs import Manifest, RunStore, read_manifest
from bot.settings import Settings
from bot.solving import new_manifest
from pipelines.ledger import Ledger


@dataclass(frozen=True)
class JobRun:
    """A Run that this process works on, alone."""

    id: str
    manifest: Manifest
    ledger: Ledger
    repository: GitRepository
    settings: Settings
    """The owner's, as the repository's configuration narrows them."""


@asynccontextmanager
async def open_job_run(desk: Desk, request: JobRequest, check: Checked) -> AsyncIterator[JobRun]:
    """The Job's Run on its base's present commit, or on the commit that it has begun with.

    Raises RunBusy, and what `ensure_clone` does.
    """
    run_id = job_run_id(request)
    with desk.runs.lock(run_id):
        manifest = _begun(desk.runs, run_id)
        access = await desk.github.push_access(request.order.repo)
        checkout = await ensure_clone(
            desk.clones,
            access,
            branch=check.base,
            commit=manifest.base if manifest else None,
            ca_bundle=desk.settings.github.ca_bundle,
        )
        settings = configured(desk.settings, check.config)
        if manifest is None:
            author = bot_author(await desk.github.identity(), settings)
            manifest = _manifest(settings.model_copy(update=author), request, check, checkout)
            desk.runs.begin_named(run_id, manifest).close()
        with closing(desk.runs.ledger(run_id)) as ledger:
            yield JobRun(run_id, manifest, ledger, checkout.repository, settings)


def job_run_id(request: JobRequest) -> str:
    """The Run of a Job: the same however often the Job is begun."""
    order = request.order
    return f"{order.repo.owner}__{order.repo.name}__{order.issue}__{request.generation}".lower()


def _begun(runs: RunStore, run_id: str) -> Manifest | None:
    """What the Run has begun with, if it has."""
    if not runs.begun(run_id):
        return None
    with closing(runs.ledger(run_id)) as ledger:
        return read_manifest(ledger)


def _manifest(settings: Settings, request: JobRequest, check: Checked, checkout: Checkout) -> Manifest:
    return new_manifest(
        settings,
        issue_path=request.order.html_url,
        issue_text=request.order.issue_text(),
        repository=checkout.repository,
        base=checkout.commit,
        strategy=check.config.strategy or "direct",
        branch=check.branch,
        issue=request.order.issue,
        rules=check.config.rules,
    )
