"""What behaviours say at once: reactions, and short comments that are never written twice."""

from contextlib import suppress

from bot.behaviours.context import Bot
from bot.events.types import CommentEvent, IssueEvent
from bot.github.errors import GitHubError
from bot.github.own_comments import say_once
from bot.github.types import Issue, Reaction, RepoRef
from bot.speech.markers import MARKER
from bot.speech.texts import say
from pipelines.requirement.language import language_of


async def react(bot: Bot, event: IssueEvent | CommentEvent, reaction: Reaction) -> None:
    """React to the issue or the comment; a reaction that fails is no reason to stop."""
    comment = event.comment.id if isinstance(event, CommentEvent) else None
    with suppress(GitHubError):
        await bot.github.react(event.repo, event.issue.number, reaction, comment=comment)


async def reply_once(
    bot: Bot, event: IssueEvent | CommentEvent, name: str, key: str, **values: object
) -> None:
    """Say a fixed text in the thread of the event, in the issue's language; once for each name."""
    text = say(issue_language(event.issue), key, **values)
    await comment_once(bot, event.repo, event.issue.number, name, text)


async def comment_once(bot: Bot, repo: RepoRef, number: int, name: str, text: str) -> None:
    """Comment, unless a comment of ours with this name is there already."""
    marker = f"<!-- issuewright:reply {name} -->"
    await say_once(
        bot.github, repo, number, f"{MARKER}{marker}\n{text.removeprefix(MARKER).strip()}\n", marker=marker
    )


def issue_language(issue: Issue) -> str:
    """The human language that an issue is written in."""
    return language_of(f"{issue.title}\n{issue.body}")
