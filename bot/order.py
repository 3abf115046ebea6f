"""The command line's job: an issue file becomes a commit on a branch, with the pull request's text."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bot.configured import configured
from bot.git.branch import branch_slug
from bot.git.repository import CommitDetails, GitRepository
from bot.repository_config import config_in
from bot.runs import Manifest, RunStore, read_manifest
from bot.settings import Settings
from bot.solving import Equipment, new_manifest, no_equipment, solve
from bot.speech.pull_request import commit_message, pull_request_body
from pipelines.errors import RefusalError
from pipelines.ledger import Ledger
from pipelines.pipeline import Result, question_before
from pipelines.requirement.parse import parse_issue
from pipelines.run import Listener

BRANCH_PREFIX = "issuewright/"


@dataclass(frozen=True)
class Order:
    """What the person asks for."""

    issue_path: str
    issue_text: bytes
    repository: Path
    base: str | None = None
    branch: str | None = None
    strategy: str = "direct"
    fresh: bool = False
    """Start anew although the same work lies there unfinished."""


@dataclass(frozen=True)
class Outcome:
    """What came of it."""

    run_id: str
    result: Result
    base: str
    branch: str | None
    commit: str | None
    body: str
    resumed: bool = False


async def run_order(
    order: Order, settings: Settings, equipment: Equipment, *, listener: Listener = lambda _: None
) -> Outcome:
    """Run an order to its end. Bad input is refused before a model is started."""
    repository = GitRepository.open(order.repository)
    base = repository.base(order.base)
    requirement = parse_issue(order.issue_text, path=order.issue_path)
    snapshot = repository.snapshot(base.commit)
    config = config_in(snapshot.files, models=settings.offered_models)
    settings = configured(settings, config)
    question_before(requirement, snapshot, config.rules)
    manifest = new_manifest(
        settings,
        issue_path=order.issue_path,
        issue_text=order.issue_text,
        repository=repository,
        base=base.commit,
        strategy=order.strategy,
        branch=order.branch,
        rules=config.rules,
    )
    store = RunStore(settings.data_dir)
    earlier = None if order.fresh else store.unfinished(manifest)
    if earlier:
        return await resume(store, earlier, equipment, listener=listener)
    slug = branch_slug(requirement.title, fallback="issue")
    run_id, ledger = store.begin(manifest, slug)
    with store.lock(run_id):
        return await _work(store, run_id, ledger, repository, equipment, listener)


async def resume(
    store: RunStore, run_id: str, equipment: Equipment, *, listener: Listener = lambda _: None
) -> Outcome:
    """Go on with an interrupted run; finished calls come from its Ledger."""
    ledger = store.ledger(run_id)
    repository = GitRepository.open(Path(read_manifest(ledger).repository))
    with store.lock(run_id):
        outcome = await _work(store, run_id, ledger, repository, equipment, listener)
    return Outcome(**{**vars(outcome), "resumed": True})


class Ending(NamedTuple):
    """How a run ended: what a replay must give again."""

    status: str
    commit: str | None
    body: str


class Replayed(NamedTuple):
    """A run as it was recorded, and as its record gives it now."""

    recorded: Ending
    repeated: Ending


async def replay(store: RunStore, run_id: str, *, repository: Path | None = None) -> Replayed:
    """Repeat a finished run from its Ledger alone, without model, sandbox or any change to the repository.

    Raises RefusalError for a run that never came to its end, InfrastructureError for a record that lacks
    something.
    """
    with closing(store.ledger(run_id)) as ledger, store.lock(run_id):
        manifest = read_manifest(ledger)
        if ledger.meta("state") == "unfinished":
            raise RefusalError(f"run {run_id} was interrupted; its own command goes on with it")
        if ledger.meta("state") == "explained":
            raise RefusalError(f"run {run_id} explained something; there is no commit to make again")
        opened = GitRepository.open(repository or Path(manifest.repository))
        result = await solve(ledger, opened, manifest, no_equipment, lambda _: None, run_id=run_id)
        commit = _commit(opened, manifest, run_id, result, branch=None) if result.files else None
        body = pull_request_body(
            result, manifest, run_id=run_id, branch=ledger.meta("branch"), issue=manifest.issue
        )
        recorded = Ending(ledger.meta("state"), ledger.meta("commit"), store.read_body(run_id))
        return Replayed(recorded, Ending(result.status, commit, body))


async def _work(
    store: RunStore,
    run_id: str,
    ledger: Ledger,
    repository: GitRepository,
    equipment: Equipment,
    listener: Listener,
) -> Outcome:
    with closing(ledger):
        manifest = read_manifest(ledger)
        result = await solve(ledger, repository, manifest, equipment, listener, run_id=run_id)
        branch = _branch(repository, manifest, ledger, run_id, result) if result.files else None
        commit = _commit(repository, manifest, run_id, result, branch=branch) if branch else None
        body = pull_request_body(result, manifest, run_id=run_id, branch=branch)
        store.write_body(run_id, body)
        ledger.set_meta("commit", commit)
        ledger.set_meta("state", result.status)
        return Outcome(run_id, result, manifest.base, branch, commit, body)


def _branch(
    repository: GitRepository, manifest: Manifest, ledger: Ledger, run_id: str, result: Result
) -> str:
    """The name of the branch; once chosen it is kept with the run, so that a repetition meets it."""
    chosen = ledger.meta("branch")
    if chosen is None:
        slug = branch_slug(result.requirement.title, fallback=run_id)
        chosen = repository.free_branch(manifest.branch or BRANCH_PREFIX + slug)
        ledger.set_meta("branch", chosen)
    return str(chosen)


def _commit(
    repository: GitRepository, manifest: Manifest, run_id: str, result: Result, *, branch: str | None
) -> str:
    """The commit of the result on this branch, or on none."""
    files = {path: text.encode() for path, text in result.files.items()}
    details = CommitDetails(
        message=commit_message(result, run_id=run_id),
        author_name=manifest.author_name,
        author_email=manifest.author_email,
        when=manifest.started,
    )
    if branch is None:
        return repository.build_commit(base=manifest.base, files=files, details=details)
    return repository.commit(base=manifest.base, branch=branch, files=files, details=details)
