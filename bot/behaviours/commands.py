"""`/issuewright retry|stop|status|explain|spec` in a comment, by someone with write permission.

On the bot's own pull request a command is for the issue behind it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import NamedTuple

from bot.behaviours.answer import kept_answers
from bot.behaviours.command_lines import read_commands
from bot.behaviours.context import Bot
from bot.behaviours.control import start_job, stop_job
from bot.behaviours.orders import command_order, is_served
from bot.behaviours.permission import is_same, may_command
from bot.behaviours.replies import comment_once, issue_language, react
from bot.behaviours.status import refresh_status
from bot.events.router import Router
from bot.events.types import CommentEvent
from bot.github.types import Issue
from bot.jobs.types import JobView, thread_of
from bot.runs import RunStore
from bot.speech.account import explain_text, spec_text
from bot.speech.harmless import prose
from bot.speech.markers import issue_of
from bot.speech.status import commands_line
from bot.speech.texts import say
from pipelines.errors import RefusalError
from pipelines.ledger import Decision
from pipelines.requirement.parse import parse_issue

router = Router()


class Asked(NamedTuple):
    """A command's circumstances: the issue as it is now, and its latest Job."""

    bot: Bot
    event: CommentEvent
    issue: Issue
    latest: JobView | None

    async def reply(self, name: str, text: str) -> None:
        """Answer once where the command was given."""
        event = self.event
        await comment_once(self.bot, event.repo, event.issue.number, f"{name} {event.comment.id}", text)

    def say(self, key: str, **values: object) -> str:
        """A fixed text in the issue's language."""
        return say(issue_language(self.issue), key, **values)


@router.on(CommentEvent, "created")
async def obey(event: CommentEvent, bot: Bot) -> None:
    """Do what a writer's comment commands; anyone else's is only marked as not understood."""
    names = read_commands(event.comment.body)
    if not names:
        return
    allowed = await may_command(bot, event.repo, event.sender)
    issue = await _commanded_issue(event, bot) if allowed else None
    if issue is None:
        await react(bot, event, "confused")
        return
    await react(bot, event, "eyes")
    for name in names:
        latest = await bot.jobs.latest(thread_of(event.repo, issue.number))
        asked = Asked(bot, event, issue, latest)
        command = _COMMANDS.get(name)
        await (command(asked) if command else _help(asked, name))


async def _commanded_issue(event: CommentEvent, bot: Bot) -> Issue | None:
    """The issue as it is now; None on a pull request that is not ours."""
    if not event.issue.is_pull_request:
        return await bot.github.issue(event.repo, event.issue.number)
    number = issue_of(event.issue.body)
    if number is None or not is_same(event.issue.author, await bot.github.identity()):
        return None
    return await bot.github.issue(event.repo, number)


async def _retry(asked: Asked) -> None:
    answers = await kept_answers(asked.bot, asked.issue, asked.latest, asked.event.comment)
    await start_job(asked.bot, command_order(asked.event, asked.issue, answers=answers))


async def _stop(asked: Asked) -> None:
    latest, event = asked.latest, asked.event
    if is_served(latest, delivery=event.delivery, asked_at=event.comment.created_at):
        return  # what was ordered since is not meant
    if latest is not None and latest.state in ("queued", "running", "stopped"):
        await stop_job(asked.bot, latest, "reply.stopped", login=event.sender.login)
    else:
        await asked.reply("stop", asked.say("reply.not_running"))


async def _status(asked: Asked) -> None:
    if asked.latest is None:
        await asked.reply("status", asked.say("reply.no_job"))
    else:
        await refresh_status(asked.bot, asked.latest)


async def _explain(asked: Asked) -> None:
    outcome = asked.latest.outcome if asked.latest else None
    if outcome is not None:
        decisions = await asyncio.to_thread(_decisions, asked.bot.runs, outcome.run_id)
        await asked.reply("explain", explain_text(decisions, outcome, issue_language(asked.issue)))
    elif asked.latest is not None:
        await refresh_status(asked.bot, asked.latest)
    else:
        await start_job(asked.bot, command_order(asked.event, asked.issue, kind="explain"))


async def _spec(asked: Asked) -> None:
    answers = await kept_answers(asked.bot, asked.issue, asked.latest, asked.event.comment)
    order = command_order(asked.event, asked.issue, answers=answers)
    try:
        requirement = await asyncio.to_thread(parse_issue, order.issue_text(), path=f"#{asked.issue.number}")
    except RefusalError as error:
        await asked.reply("spec", prose(str(error)))
    else:
        await asked.reply("spec", spec_text(requirement, requirement.language))


async def _help(asked: Asked, name: str) -> None:
    known = commands_line(issue_language(asked.issue))
    unknown = [] if name in ("", "help") else [asked.say("reply.unknown_command", command=name)]
    await asked.reply("help", "\n\n".join((*unknown, known)))


def _decisions(runs: RunStore | None, run_id: str | None) -> list[Decision]:
    """What a Run decided; nothing where its record is on another machine."""
    if runs is None or run_id is None or not runs.begun(run_id):
        return []
    with closing(runs.ledger(run_id)) as ledger:
        return ledger.decisions()


_COMMANDS: dict[str, Callable[[Asked], Awaitable[None]]] = {
    "retry": _retry,
    "stop": _stop,
    "status": _status,
    "explain": _explain,
    "spec": _spec,
}
