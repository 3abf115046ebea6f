"""An issue that gets the trigger label, or is opened with it, becomes a Job.

Only the event's own label counts, never the issue's list: six labels at once are six events, and one Job.
"""

from bot.behaviours.context import Bot
from bot.behaviours.control import start_job
from bot.behaviours.orders import label_order
from bot.behaviours.permission import may_command
from bot.behaviours.replies import react, reply_once
from bot.events.router import Router
from bot.events.types import IssueEvent
from bot.github.types import RepoRef
from bot.repository_config import load_config
from pipelines.errors import RefusalError

router = Router()


@router.on(IssueEvent, "labeled", "opened")
async def take_label(event: IssueEvent, bot: Bot) -> None:
    """Start a Job when a writer asks for one; anyone else's label waits for a writer."""
    labels = new_labels(event)
    if not labels or not is_labelled(labels, await trigger_label(bot, event.repo, event.default_branch)):
        return
    if event.issue.is_pull_request:
        await react(bot, event, "confused")
    elif await may_command(bot, event.repo, event.sender):
        await react(bot, event, "eyes")
        await start_job(bot, label_order(event))
    else:
        await react(bot, event, "confused")
        await reply_once(bot, event, "confirm", "reply.confirm_needed")


def new_labels(event: IssueEvent) -> tuple[str, ...]:
    """The labels that this very event put on."""
    if event.action == "opened":
        return event.issue.labels
    return (event.label,) if event.label else ()


def is_labelled(labels: tuple[str, ...], trigger: str) -> bool:
    """Whether the trigger is among the labels; GitHub does not tell letter case apart."""
    return trigger.casefold() in {label.casefold() for label in labels}


async def trigger_label(bot: Bot, repo: RepoRef, base: str) -> str:
    """The label that the repository's configuration names, or the server's.

    Of a configuration that is not valid it is the server's: the Job then says what is wrong there.
    """
    default = bot.service_settings.label
    try:
        config = await load_config(bot.github, repo, base, models=bot.offered_models)
    except RefusalError:
        return default
    return config.label or default
