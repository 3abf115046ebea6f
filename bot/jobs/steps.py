"""Steps of a durable piece of work: done once, remembered, never repeated when finished."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from pydantic import BaseModel

ResultT = TypeVar("ResultT", bound=BaseModel)


class Steps(Protocol):
    """How a workflow does its steps, one after the other and never side by side.

    A step may be tried more than once when the process dies in it: what it does to the world must be
    idempotent. Whatever decides the course of the workflow comes from steps' results alone.
    """

    async def do(
        self, name: str, action: Callable[[], Awaitable[ResultT]], returns: type[ResultT]
    ) -> ResultT:
        """The step's result: remembered from before, or now of the action.

        The action is tried again on InfrastructureError, some times.

        A cancelled Job cancels the action where it stands.
        """
        ...


class InlineSteps:
    """Does each step at once and remembers nothing: for runs that end with their process."""

    async def do(
        self, name: str, action: Callable[[], Awaitable[ResultT]], returns: type[ResultT]
    ) -> ResultT:
        """The action's result."""
        return await action()
