"""Which behaviours an event sets off: by its kind and action, and by nothing else."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from bot.behaviours.context import Bot
from bot.events.types import AnyEvent, Event

EventT = TypeVar("EventT", bound=Event)
Handler = Callable[[EventT, Bot], Awaitable[None]]
Key = tuple[type[Event], str]


class Router:
    """Handlers by kind of event and action; what none is registered for matches nothing."""

    def __init__(self, *others: "Router") -> None:
        self._handlers: dict[Key, list[Handler[AnyEvent]]] = {}
        for other in others:
            for key, handlers in other._handlers.items():
                self._handlers.setdefault(key, []).extend(handlers)

    def on(self, kind: type[EventT], *actions: str) -> Callable[[Handler[EventT]], Handler[EventT]]:
        """Register a handler for these actions: `@router.on(IssueEvent, "labeled")`."""

        def register(handler: Handler[EventT]) -> Handler[EventT]:
            async def checked(event: AnyEvent, bot: Bot) -> None:
                assert isinstance(event, kind)  # noqa: S101
                await handler(event, bot)

            for action in actions:
                self._handlers.setdefault((kind, action), []).append(checked)
            return handler

        return register

    def matches(self, event: AnyEvent) -> bool:
        """Whether any handler is registered for it."""
        return (type(event), event.action) in self._handlers

    async def dispatch(self, event: AnyEvent, bot: Bot) -> None:
        """Call the event's handlers one after the other, in the order in which they were registered."""
        for handler in self._handlers.get((type(event), event.action), ()):
            await handler(event, bot)
