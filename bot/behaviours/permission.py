"""Whose events count: never our own, no bot that the owner has not named, and only writers command."""

from bot.behaviours.context import Bot
from bot.behaviours.replies import reply_once
from bot.events.types import AnyEvent, CommentEvent
from bot.github.types import WRITERS, Actor, Comment, RepoRef
from bot.speech.markers import is_ours

MAX_BOT_COMMENTS = 5
"""Comments of trusted bots in one thread; more are taken for a conversation of bots."""


async def may_command(bot: Bot, repo: RepoRef, actor: Actor) -> bool:
    """Whether someone may set the bot to work: by role, or as a bot that the owner trusts by its id."""
    return is_trusted_bot(bot, actor) or await bot.github.role(repo, actor.login) in WRITERS


async def is_heard(event: AnyEvent, bot: Bot) -> bool:
    """Whether an event counts at all."""
    if event.action == "closed":
        return True  # a fact, whoever brought it about
    if isinstance(event, CommentEvent) and is_ours(event.comment.body):
        return False
    me = await bot.github.identity()
    if is_own(event.sender, me) or (event.sender.type == "Bot" and not is_trusted_bot(bot, event.sender)):
        return False
    if isinstance(event, CommentEvent) and is_trusted_bot(bot, event.sender):
        return await _bots_are_few(event, bot)
    return True


def is_own(sender: Actor, me: Actor) -> bool:
    """Whether we caused it.

    With a person's token the account is shared: there only our marked texts are ours, for nothing else that
    the bot does sets itself off.
    """
    return me.type == "Bot" and is_same(sender, me)


def is_same(one: Actor, other: Actor) -> bool:
    """Whether two names mean one account: by id, or by login where an id is missing."""
    if one.id and other.id:
        return one.id == other.id
    return one.login.casefold() == other.login.casefold()


def is_trusted_bot(bot: Bot, actor: Actor) -> bool:
    """Named by the owner, by id: anyone may give an App any name."""
    return actor.id != 0 and actor.id in bot.github_settings.trusted_bots


def too_many(comments: list[Comment], trusted: tuple[int, ...]) -> bool:
    """Whether trusted bots have written here more often than a thread bears."""
    return sum(comment.author.id in trusted for comment in comments) > MAX_BOT_COMMENTS


async def _bots_are_few(event: CommentEvent, bot: Bot) -> bool:
    comments = await bot.github.comments(event.repo, event.issue.number)
    if not too_many(comments, bot.github_settings.trusted_bots):
        return True
    await reply_once(bot, event, "bots", "reply.bot_events")
    return False
