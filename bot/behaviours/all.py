"""All behaviours together."""

from bot.behaviours import answer, closed, commands, label
from bot.behaviours.context import Bot
from bot.behaviours.permission import is_heard
from bot.events.router import Router
from bot.events.types import AnyEvent

router = Router(label.router, commands.router, answer.router, closed.router)


async def handle(event: AnyEvent, bot: Bot) -> None:
    """Do what the behaviours do for an event; safe to repeat.

    Raises the errors of `bot.github.errors` and InfrastructureError, after which it may be called again.
    """
    if router.matches(event) and await is_heard(event, bot):
        await router.dispatch(event, bot)
