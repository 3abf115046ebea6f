"""Steps that DBOS remembers."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import stamina
from dbos import DBOS

from bot.github.errors import RateLimited
from bot.jobs.steps import ResultT
from pipelines.errors import BudgetExceeded, InfrastructureError, ModelError, PipelineError, RefusalError

_ERRORS: dict[str, type[PipelineError]] = {
    "refusal": RefusalError,
    "model": ModelError,
    "budget": BudgetExceeded,
    "infrastructure": InfrastructureError,
}
_LONGEST_WAIT = 3600.0


class DurableSteps:
    """Steps of the workflow that this is called in. An expected error is a result like any other."""

    def __init__(self, *, attempts: int = 10, first_wait: float = 2.0) -> None:
        self._attempts = attempts
        self._first_wait = first_wait

    async def do(
        self, name: str, action: Callable[[], Awaitable[ResultT]], returns: type[ResultT]
    ) -> ResultT:
        """As `Steps.do`."""

        async def step() -> dict[str, str]:
            try:
                return {"result": (await self._tried(action)).model_dump_json(exclude_defaults=True)}
            except PipelineError as error:
                return {"error": error_kind(error), "message": str(error)}

        stored = await DBOS.run_step_async({"name": name, "preemptible": True}, step)
        if "error" in stored:
            raise _ERRORS[stored["error"]](stored["message"])
        return returns.model_validate_json(stored["result"])

    async def _tried(self, action: Callable[[], Awaitable[ResultT]]) -> ResultT:
        async for attempt in stamina.retry_context(
            on=_wait_before_retry,
            attempts=self._attempts,
            timeout=None,
            wait_initial=self._first_wait,
            wait_max=300,
        ):
            with attempt:
                return await action()
        raise AssertionError("a retry context ends with a result or an error")


def error_kind(error: PipelineError) -> str:
    """Who must react, as a word that can be stored."""
    return next(kind for kind, cls in _ERRORS.items() if isinstance(error, cls))


def _wait_before_retry(error: Exception) -> bool | float:
    """Whether to try again; GitHub itself may say when, in seconds from now."""
    if isinstance(error, RateLimited):
        wait = (error.retry_at - datetime.now(UTC)).total_seconds()
        return min(max(wait, 1.0), _LONGEST_WAIT)
    return isinstance(error, InfrastructureError)
