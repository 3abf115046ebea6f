"""The status comment while no worker has the Job: before it begins, and after it was stopped or declined."""

from bot.behaviours.context import Bot
from bot.github.own_comments import LivingComment, find_own
from bot.jobs.types import JobOrder, JobOutcome, JobView
from bot.speech.markers import STATUS_MARKER
from bot.speech.status import StatusView, render_status
from bot.speech.texts import say
from pipelines.requirement.language import language_of


async def show_status(bot: Bot, job: JobView, *, why: str = "") -> None:
    """Make the status comment say how a Job stands."""
    view = StatusView(
        state=job.state,
        requested_by=job.request.order.requested_by,
        position=job.position,
        outcome=job.outcome,
        error=why or job.error,
    )
    await show(bot, job.request.order, view)


async def refresh_status(bot: Bot, job: JobView) -> None:
    """The same where it is missing or only we keep it; while a Job works, it shows more than we know."""
    order = job.request.order
    there = await find_own(bot.github, order.repo, order.issue, STATUS_MARKER)
    if there is None or job.state == "queued":
        await show_status(bot, job)


async def show_declined(bot: Bot, job: JobView, pull_request_url: str) -> None:
    """Make the status comment say that people closed the pull request."""
    why = say(order_language(job.request.order), "reply.declined", pull_request=pull_request_url)
    declined = JobOutcome(status="declined", reasons=(why,))
    await show_status(bot, job.model_copy(update={"state": "finished", "outcome": declined, "error": ""}))


def order_language(order: JobOrder) -> str:
    """The human language that an order is written in."""
    return language_of(f"{order.title}\n{order.body}")


async def show(bot: Bot, order: JobOrder, view: StatusView) -> None:
    """Make the status comment of an order's issue show this."""
    comment = LivingComment(bot.github, order.repo, order.issue, marker=STATUS_MARKER)
    await comment.show(render_status(view, language=order_language(order)))
