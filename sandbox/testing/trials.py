"""Follows the tests of a session and believes only what fits together."""

from collections.abc import Callable, Mapping
from functools import partial
from operator import is_
from types import FunctionType, SimpleNamespace
from typing import Any

Entry = list[Any]
Trials = SimpleNamespace
_OUTCOMES = ("passed", "failed", "skipped")


def follow_tests(
    emit: Callable[[Entry, bool], None], accuse: Callable[[str], None]
) -> Mapping[str, Callable[..., None]]:
    """What to do on each kind of record; `accuse` is told of what does not fit."""
    state = Trials(
        emit=emit,
        accuse=accuse,
        tests={},
        kept=[],
        hooks=(),
        called=False,
        traced=False,
        started=set(),
        item=None,
        raised=False,
        ran=False,
    )
    told = (_items, _hooks, _start, _calling, _ran, _raised, _failed, _traced, _phase, _end)
    return {function.__name__[1:]: partial(function, state) for function in told}


def _items(state: Trials, found: list[tuple[Any, str, Any, Any]]) -> None:
    """Items with their names, functions and runners; from now on told by their `id`, and kept for that."""
    rows = found if type(found) is list else []
    if (
        state.tests
        or rows is not found
        or not all(type(row) is tuple and type(row[1]) is str for row in rows)
    ):
        state.accuse("the tests were collected a second time")
        return
    for index, (item, node, function, run) in enumerate(rows):
        code = function.__code__ if type(function) is FunctionType else None
        told = (type(item), function, code, run)
        state.tests[id(item)] = (index, node, tuple(map(id, told)))
        state.kept.append((item, *told))
    state.emit(["items", [row[1] for row in rows]], True)


def _hooks(state: Trials, found: list[Any], may_change: bool) -> None:
    """What pytest calls to run a test: compared by identity, and kept for that."""
    same = len(found) == len(state.hooks) and all(map(is_, found, state.hooks))
    if not (same or may_change):
        state.accuse("a plugin was registered or removed by what a test file imports, or by a test")
    if not same:
        state.hooks = tuple(found)
        state.kept.append(found)


def _start(state: Trials, item: int) -> None:
    if item not in state.tests or item in state.started or state.item is not None:
        state.accuse("a test was started that was not collected, or was started before")
        return
    state.started.add(item)
    state.item = item
    state.called = state.raised = state.ran = state.traced = False
    state.emit(["start", state.tests[item][0]], True)


def _calling(state: Trials, item: int, kind: int, function: int, code: int, run: int, altered: bool) -> None:
    """`altered`: the item has methods of its own, instead of its class's."""
    if not _is_current(state, item):
        return
    state.called = True
    if altered or (kind, function, code, run) != state.tests[item][2]:
        state.accuse(f"what {state.tests[item][1]} calls was replaced")


def _ran(state: Trials, item: int) -> None:
    state.ran |= item == state.item


def _raised(state: Trials, item: int) -> None:
    state.raised |= item == state.item


def _failed(state: Trials, node: str) -> None:
    """Part of a test failed."""
    state.raised |= state.item is not None and state.tests[state.item][1] == node


def _traced(state: Trials) -> None:
    """A trace function was set, which can skip lines of the test."""
    state.traced = True


def _phase(
    state: Trials, item: int, when: str, outcome: str, needs_run: bool, seconds: float, message: str
) -> None:
    if not _is_current(state, item):
        return
    if when == "call" and outcome == "passed":
        if state.raised:
            outcome, message = "failed", "the test raised an exception, though something calls it passed"
        elif state.traced:
            outcome, message = "failed", "a trace function was set during the test: it can skip assertions"
        elif not state.called or (needs_run and not state.ran):
            outcome, message = "failed", "the test was never called, though something calls it passed"
    if when == "setup":
        state.called = state.raised = state.ran = False
    outcome = outcome if outcome in _OUTCOMES else "failed"
    state.emit(["phase", when, outcome, round(seconds, 6), message], False)


def _end(state: Trials, item: int) -> None:
    if _is_current(state, item):
        state.item = None
        state.emit(["end"], False)


def _is_current(state: Trials, item: int) -> bool:
    if item == state.item:
        return True
    state.accuse("something was told of a test that was not running")
    return False
