"""A reply to the bot's question: with it the work goes on, on the text that was frozen before."""

from bot.behaviours.command_lines import read_commands, without_commands
from bot.behaviours.context import Bot
from bot.behaviours.control import start_job
from bot.behaviours.orders import answered_order, is_asking, is_served
from bot.behaviours.permission import is_same, may_command
from bot.behaviours.replies import react, reply_once
from bot.events.router import Router
from bot.events.types import CommentEvent
from bot.github.types import Comment, Issue
from bot.jobs.types import Answer, JobOrder, JobView, thread_of
from bot.speech.markers import is_ours

router = Router()


@router.on(CommentEvent, "created")
async def take_answer(event: CommentEvent, bot: Bot) -> None:
    """Go on with a writer's answer; the author's own is kept until a writer confirms it by a command."""
    latest = await bot.jobs.latest(thread_of(event.repo, event.issue.number))
    if latest is None or not is_asking(latest) or not _may_answer(event, latest):
        return
    if await may_command(bot, event.repo, event.sender):
        await react(bot, event, "eyes")
        await start_job(bot, answered_order(event, latest.request.order, _answer(event.comment)))
    elif is_same(event.sender, event.issue.author):
        await react(bot, event, "eyes")
        await reply_once(bot, event, f"confirm {event.comment.id}", "reply.confirm_needed")


async def kept_answers(bot: Bot, issue: Issue, latest: JobView | None, by: Comment) -> tuple[Answer, ...]:
    """What a command that starts again adds to the issue: all answers of its author and of writers.

    Where a question is open that includes what was said since, up to the command's own comment.
    """
    if latest is None:
        return ()
    order = latest.request.order
    if not is_asking(latest):
        return order.answers
    since = [
        comment
        for comment in await bot.github.comments(order.repo, order.issue)
        if comment.created_at <= by.created_at and _is_answer(comment) and _is_new(comment, order)
    ]
    heard = {issue.author.login}
    for author in {comment.author.login: comment.author for comment in since}.values():
        if author.login not in heard and await may_command(bot, order.repo, author):
            heard.add(author.login)
    return (*order.answers, *(_answer(comment) for comment in since if comment.author.login in heard))


def _may_answer(event: CommentEvent, latest: JobView) -> bool:
    comment = event.comment
    served = is_served(latest, delivery=event.delivery, asked_at=comment.created_at)
    return not served and not read_commands(comment.body) and bool(comment.body.strip())


def _answer(comment: Comment) -> Answer:
    return Answer(author=comment.author.login, body=without_commands(comment.body))


def _is_new(comment: Comment, order: JobOrder) -> bool:
    """Whether it was said after the order, which may have come from an answer itself."""
    if comment.created_at == order.requested_at:
        return _answer(comment) not in order.answers
    return comment.created_at > order.requested_at


def _is_answer(comment: Comment) -> bool:
    return not is_ours(comment.body) and bool(without_commands(comment.body))
