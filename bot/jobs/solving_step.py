"""The Job's Run: clone, solve, record. Repeated after a crash it goes on where its Ledger ends."""

from contextlib import closing

from bot.configured import configured
from bot.git.clone import Checkout, ensure_clone
from bot.git.commit import CommitDetails
from bot.git.repository import GitRepository
from bot.jobs.board import Board
from bot.jobs.checking_step import Checked
from bot.jobs.desk import Desk
from bot.jobs.types import JobRequest
from bot.record import Record
from bot.runs import Manifest, RunStore, read_manifest
from bot.settings import Settings
from bot.solving import new_manifest, solve
from bot.speech.pull_request import commit_message, pull_request_body
from pipelines.ledger import Ledger
from pipelines.pipeline import Result


class Solved(Record):
    """A Run's result with all that publishing it needs, wherever that is done."""

    run_id: str
    manifest: Manifest
    result: Result


async def solved(desk: Desk, request: JobRequest, check: Checked, board: Board) -> Solved:
    """Run the pipelines on the base's present commit, or on the one that the Run has begun with."""
    run_id = job_run_id(request)
    with desk.runs.lock(run_id):
        manifest = _begun(desk.runs, run_id)
        checkout = await _checkout(desk, request, check, commit=manifest.base if manifest else None)
        settings = configured(desk.settings, check.config)
        if manifest is None:
            manifest = _manifest(settings, request, check, checkout)
            desk.runs.begin_named(run_id, manifest).close()
        with closing(desk.runs.ledger(run_id)) as ledger:
            async with board.following("run", budget=manifest.budget) as display:
                equipment = desk.equipment(settings, display)
                result = await solve(
                    ledger, checkout.repository, manifest, equipment, display.show, run_id=run_id
                )
            _record(desk.runs, ledger, checkout.repository, manifest, result, run_id)
    return Solved(run_id=run_id, manifest=manifest, result=result)


def _begun(runs: RunStore, run_id: str) -> Manifest | None:
    """What the Run has begun with, if it has."""
    if not runs.begun(run_id):
        return None
    with closing(runs.ledger(run_id)) as ledger:
        return read_manifest(ledger)


def job_run_id(request: JobRequest) -> str:
    """The Run of a Job: the same however often the Job is begun."""
    order = request.order
    return f"{order.repo.owner}__{order.repo.name}__{order.issue}__{request.generation}".lower()


async def _checkout(desk: Desk, request: JobRequest, check: Checked, *, commit: str | None) -> Checkout:
    access = await desk.github.push_access(request.order.repo)
    return await ensure_clone(
        desk.clones,
        access,
        branch=check.base,
        commit=commit,
        ca_bundle=desk.settings.github.ca_bundle,
    )


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


def _record(
    runs: RunStore,
    ledger: Ledger,
    repository: GitRepository,
    manifest: Manifest,
    result: Result,
    run_id: str,
) -> None:
    """What `issuewright show` and `replay` want to know of a finished Run."""
    commit = branch = None
    if result.files:
        files = {path: text.encode() for path, text in result.files.items()}
        details = job_commit_details(manifest, result, run_id)
        commit = repository.build_commit(base=manifest.base, files=files, details=details)
        branch = manifest.branch
    body = pull_request_body(result, manifest, run_id=run_id, branch=branch, issue=manifest.issue)
    runs.write_body(run_id, body)
    ledger.set_meta("branch", branch)
    ledger.set_meta("commit", commit)
    ledger.set_meta("state", result.status)


def job_commit_details(manifest: Manifest, result: Result, run_id: str) -> CommitDetails:
    """The commit's words and time, the same at every try."""
    return CommitDetails(
        message=commit_message(result, run_id=run_id),
        author_name=manifest.author_name,
        author_email=manifest.author_email,
        when=manifest.started,
    )
