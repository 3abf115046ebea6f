"""What people close is over: the bot's pull request is declined, the work on a closed issue stops."""

from bot.behaviours.context import Bot
from bot.behaviours.control import stop_job
from bot.behaviours.permission import is_same
from bot.behaviours.status import show_declined
from bot.events.router import Router
from bot.events.types import IssueEvent, PullRequestEvent
from bot.jobs.types import thread_of
from bot.speech.markers import issue_of

router = Router()


@router.on(IssueEvent, "closed")
async def stop_for_closed_issue(event: IssueEvent, bot: Bot) -> None:
    """Stop the Job of an issue that is closed, unless it was opened again since."""
    latest = await bot.jobs.latest(thread_of(event.repo, event.issue.number))
    if latest is None or latest.state not in ("queued", "running", "stopped"):
        return
    if (await bot.github.issue(event.repo, event.issue.number)).state == "closed":
        await stop_job(bot, latest, "reply.issue_closed")


@router.on(PullRequestEvent, "closed")
async def accept_decline(event: PullRequestEvent, bot: Bot) -> None:
    """Stop for good when our pull request is closed unmerged; only a command starts again."""
    pull = event.pull_request
    issue = issue_of(pull.body)
    if pull.merged or issue is None or not is_same(pull.author, await bot.github.identity()):
        return
    latest = await bot.jobs.latest(thread_of(event.repo, issue))
    if latest is None or (await bot.github.pull_request(event.repo, pull.number)).state == "open":
        return
    await bot.jobs.stop(latest.request.id)
    await show_declined(bot, latest, pull.html_url)
