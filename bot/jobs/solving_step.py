"""The Job's main step: run the pipelines and record what came of it."""

from bot.git.commit import CommitDetails
from bot.jobs.board import Board
from bot.jobs.checking_step import Checked
from bot.jobs.desk import Desk
from bot.jobs.job_run import JobRun, open_job_run
from bot.jobs.types import JobRequest
from bot.record import Record
from bot.runs import Manifest, RunStore
from bot.solving import solve
from bot.speech.pull_request import commit_message, pull_request_body
from pipelines.pipeline import Result


class Solved(Record):
    """A Run's result with all that publishing it needs, wherever that is done."""

    run_id: str
    manifest: Manifest
    result: Result


async def solved(desk: Desk, request: JobRequest, check: Checked, board: Board) -> Solved:
    """The Run's result; repeated after a crash it goes on where the Run's Ledger ends."""
    async with open_job_run(desk, request, check) as run:
        async with board.following("run", budget=run.manifest.budget) as display:
            equipment = desk.equipment(run.settings, display)
            result = await solve(
                run.ledger, run.repository, run.manifest, equipment, display.show, run_id=run.id
            )
        _record(desk.runs, run, result)
        return Solved(run_id=run.id, manifest=run.manifest, result=result)


def job_commit_details(manifest: Manifest, result: Result, run_id: str) -> CommitDetails:
    """The commit's words and time, the same at every try."""
    return CommitDetails(
        message=commit_message(result, run_id=run_id),
        author_name=manifest.author_name,
        author_email=manifest.author_email,
        when=manifest.started,
    )


def _record(runs: RunStore, run: JobRun, result: Result) -> None:
    """What `issuewright show` and `replay` want to know of a finished Run."""
    manifest = run.manifest
    commit = branch = None
    if result.files:
        files = {path: text.encode() for path, text in result.files.items()}
        details = job_commit_details(manifest, result, run.id)
        commit = run.repository.build_commit(base=manifest.base, files=files, details=details)
        branch = manifest.branch
    body = pull_request_body(result, manifest, run_id=run.id, branch=branch, issue=manifest.issue)
    runs.write_body(run.id, body)
    run.ledger.set_meta("branch", branch)
    run.ledger.set_meta("commit", commit)
    run.ledger.set_meta("state", result.status)
