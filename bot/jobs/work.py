"""A Job from its order to its outcome: the durable workflow, in words.

Each step may be done twice when a process dies in it; each finds what the first try has left.
"""

import logging
from functools import partial

from bot.behaviours.status import order_language
from bot.jobs.board import Board
from bot.jobs.checking_step import Checked, checked
from bot.jobs.desk import Desk
from bot.jobs.explaining_step import explained
from bot.jobs.publishing_step import Opened, Pushed, pull_request_opened, pushed
from bot.jobs.solving_step import Solved, solved
from bot.jobs.steps import Steps
from bot.jobs.types import JobOutcome, JobRequest, JobStatus
from pipelines.errors import PipelineError, RefusalError
from pipelines.pipeline import Result

_log = logging.getLogger(__name__)


async def do_job(steps: Steps, request: JobRequest, desk: Desk) -> JobOutcome:
    """Do a Job and say on the issue what came of it; never raises for what people can read about there."""
    board = Board(desk, request, language=order_language(request.order))
    try:
        outcome = await _outcome(steps, request, desk, board)
    except RefusalError as error:
        outcome = JobOutcome(status="refused", reasons=(str(error),))
    except PipelineError as error:
        outcome = JobOutcome(status="failed", reasons=(str(error),))
    except Exception:  # noqa: BLE001  the Job loop: a bug must not leave people waiting
        _log.exception("job %s failed by a fault of our own", request.id)
        reason = "A fault in issuewright itself; the log of the service has the details."
        outcome = JobOutcome(status="failed", reasons=(reason,))
    return await steps.do("tell", partial(_told, board, outcome), JobOutcome)


async def _outcome(steps: Steps, request: JobRequest, desk: Desk, board: Board) -> JobOutcome:
    check = await steps.do("check", partial(_checked, desk, request, board), Checked)
    if check.outcome is not None:
        return check.outcome
    if request.order.kind == "explain":
        return await steps.do("explain", partial(explained, desk, request, check, board), JobOutcome)
    work = await steps.do("run", partial(solved, desk, request, check, board), Solved)
    if not work.result.files:
        return outcome_of(work)
    push = await steps.do("push", partial(pushed, desk, request, check, work, board), Pushed)
    opened = await steps.do(
        "pull request", partial(pull_request_opened, desk, request, check, work, push, board), Opened
    )
    return outcome_of(work, push, opened)


async def _checked(desk: Desk, request: JobRequest, board: Board) -> Checked:
    await board.at("checks")
    return await checked(desk, request)


async def _told(board: Board, outcome: JobOutcome) -> JobOutcome:
    await board.ended(outcome)
    return outcome


def outcome_of(work: Solved, push: Pushed | None = None, opened: Opened | None = None) -> JobOutcome:
    """What came of a Run, which without files has nothing that could be published."""
    result = work.result
    reasons = result.reasons
    if push is not None and push.kept_commits:
        reasons = (*reasons, f"{push.kept_commits} commits of other people are kept on the branch.")
    return JobOutcome(
        status=_status(result),
        reasons=reasons,
        branch=push.branch if push else None,
        commit=push.commit if push else None,
        pull_request=opened.number if opened else None,
        pull_request_url=opened.url if opened else None,
        run_id=work.run_id,
        spent=result.spent,
        budget=work.manifest.budget,
    )


def _status(result: Result) -> JobStatus:
    if result.files or result.status == "question":
        return result.status
    return "failed" if result.candidate is None else "nothing"
