"""Caps on what a Run may spend, checked before each call."""

import time
from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, Field

from pipelines.errors import BudgetExceeded


class Budget(BaseModel):
    """Caps of a Run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens: int = Field(default=200_000, gt=0)
    """Prompt and completion tokens together."""
    model_calls: int = Field(default=200, gt=0)
    sandbox_seconds: float = Field(default=1800, gt=0)
    wall_seconds: float = Field(default=3600, gt=0)


class Spent(BaseModel):
    """What a Run has used so far. Answers taken from the Ledger count as well."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    model_calls: int = 0
    sandbox_seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens


class Meter:
    """Counts what is spent and says when a cap is reached; one per Run, shared by all its branches."""

    def __init__(self, budget: Budget, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.budget = budget
        self.spent = Spent()
        self.by_role: dict[str, Spent] = {}
        self.models: dict[str, None] = {}
        """Names of the models that answered, in the order of their first answer."""
        self._clock = clock
        self._started = clock()

    def check_model(self) -> None:
        """Raise BudgetExceeded, naming the cap, when no further model call is allowed."""
        self._check(tokens=self.spent.tokens, model_calls=self.spent.model_calls)

    def check_sandbox(self) -> None:
        """Raise BudgetExceeded, naming the cap, when no further sandbox execution is allowed.

        What the model has already written may still be tested when only model caps are reached.
        """
        self._check(sandbox_seconds=self.spent.sandbox_seconds)

    def _check(self, **used: float) -> None:
        used["wall_seconds"] = self._clock() - self._started
        for name, value in used.items():
            cap = getattr(self.budget, name)
            if value >= cap:
                option = f"--budget-{name.replace('_', '-')}"
                raise BudgetExceeded(f"the budget of {cap:g} {name} is used up ({value:.0f}); see {option}")

    def charge_call(self, role: str, prompt_tokens: int, completion_tokens: int, *, model: str = "") -> None:
        """Count one model call."""
        if model:
            self.models[model] = None
        for spent in (self.spent, self.by_role.setdefault(role, Spent())):
            spent.prompt_tokens += prompt_tokens
            spent.completion_tokens += completion_tokens
            spent.model_calls += 1

    def charge_sandbox(self, seconds: float) -> None:
        """Count sandbox time."""
        self.spent.sandbox_seconds += seconds
