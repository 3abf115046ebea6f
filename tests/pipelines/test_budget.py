import pytest

from pipelines.budget import Budget, Meter
from pipelines.errors import BudgetExceeded


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_nothing_spent_is_within_every_cap() -> None:
    Meter(Budget()).check_model()
    Meter(Budget()).check_sandbox()


@pytest.mark.parametrize(
    ("budget", "cap"),
    [
        (Budget(tokens=100), "tokens"),
        (Budget(model_calls=1), "model_calls"),
        (Budget(sandbox_seconds=2), "sandbox_seconds"),
        (Budget(wall_seconds=5), "wall_seconds"),
    ],
)
def test_the_cap_that_is_reached_is_named_with_its_option(budget: Budget, cap: str) -> None:
    clock = Clock()
    meter = Meter(budget, clock=clock)
    meter.charge_call("executor", 60, 40)
    meter.charge_sandbox(2.0)
    clock.now = 5.0
    check = meter.check_sandbox if cap == "sandbox_seconds" else meter.check_model
    with pytest.raises(BudgetExceeded, match=cap) as raised:
        check()
    assert f"--budget-{cap.replace('_', '-')}" in str(raised.value)


def test_one_below_the_cap_is_still_allowed() -> None:
    meter = Meter(Budget(tokens=101))
    meter.charge_call("executor", 60, 40)
    meter.check_model()


def test_what_is_written_may_be_tested_when_only_model_caps_are_reached() -> None:
    meter = Meter(Budget(model_calls=1))
    meter.charge_call("executor", 1, 1)
    meter.check_sandbox()


def test_the_wall_clock_stops_both() -> None:
    clock = Clock()
    meter = Meter(Budget(wall_seconds=5), clock=clock)
    clock.now = 6.0
    for check in (meter.check_model, meter.check_sandbox):
        with pytest.raises(BudgetExceeded, match="wall_seconds"):
            check()


def test_calls_are_counted_in_all_and_by_role() -> None:
    meter = Meter(Budget())
    meter.charge_call("planner", 10, 1)
    meter.charge_call("executor", 20, 2)
    meter.charge_call("executor", 30, 3)
    assert (meter.spent.prompt_tokens, meter.spent.completion_tokens, meter.spent.model_calls) == (60, 6, 3)
    assert meter.by_role["executor"].tokens == 55
    assert meter.by_role["planner"].model_calls == 1


@pytest.mark.parametrize("field", ["tokens", "model_calls", "sandbox_seconds", "wall_seconds"])
def test_a_cap_of_nothing_is_refused(field: str) -> None:
    with pytest.raises(ValueError, match=field):
        Budget(**{field: 0})
