"""The other kind of Job: an answer in a comment, and nothing changed."""

from bot.github.own_comments import say_once
from bot.jobs.board import Board
from bot.jobs.checking_step import Checked
from bot.jobs.desk import Desk
from bot.jobs.job_run import open_job_run
from bot.jobs.types import JobOutcome, JobRequest
from bot.speech.harmless import prose
from bot.speech.markers import MARKER, data_marker
from pipelines.budget import Meter
from pipelines.explanation import explain
from pipelines.requirement.parse import parse_issue
from pipelines.run import Run, Services


async def explained(desk: Desk, request: JobRequest, check: Checked, board: Board) -> JobOutcome:
    """Answer the issue's question in a comment of its own."""
    order = request.order
    marker = data_marker(explanation=request.generation)
    async with open_job_run(desk, request, check) as run:
        async with board.following("explain", budget=run.manifest.budget) as display:
            meter = Meter(run.manifest.budget)
            equipment = desk.equipment(run.settings, display)
            snapshot = run.repository.snapshot(run.manifest.base)
            async with equipment({}) as (model, _):
                services = Services(model, None, run.ledger, meter, display.show, job=run.id)
                requirement = parse_issue(run.manifest.issue_text, path=run.manifest.issue_path)
                answer = await explain(Run(services, seed=run.manifest.seed), requirement, snapshot)
        await say_once(
            desk.github, order.repo, order.issue, f"{MARKER}{marker}\n{prose(answer)}\n", marker=marker
        )
        run.ledger.set_meta("state", "explained")
    return JobOutcome(status="explained", run_id=run.id, spent=meter.spent, budget=run.manifest.budget)
