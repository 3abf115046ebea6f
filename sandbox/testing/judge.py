"""Decides, in the process of the tests, what goes into the report; holds the key that authenticates it.

It hears the plugin through audit events, and believes it only while pytest alone is calling and nothing of
what decides outcomes has been replaced. Nothing but an audit hook refers to it: see `seal`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from gc import freeze
from os import getpid
from sys import _getframe as current_frame
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

from sandbox.testing.files import check_all_there, check_file, remember_files
from sandbox.testing.integrity import deciding_functions, remember
from sandbox.testing.seal import install
from sandbox.testing.stack import (
    CALLERS,
    is_of_installed_plugin,
    may_trace,
    not_pytest,
    not_the_plugin,
    trust_all,
    watch_callers,
)
from sandbox.testing.trials import follow_tests
from sandbox.testing.writer import Entry, open_report

State = SimpleNamespace
_PLAIN = (str, int, float, bool)
_AGAINST_PASSING = frozenset({"raised", "failed", "traced"})  # whoever says so
_CHECKED = frozenset({"collected", "phase", "finish"})


def appoint(orders: dict[str, Any], plugin: ModuleType) -> str:
    """Take the secret part of the orders; returns the name of the audit event that the judge hears."""
    event: str = orders.pop("event")
    state = State(
        event=event,
        pid=getpid(),
        emit=open_report(orders.pop("report"), bytes.fromhex(orders.pop("key"))),
        callers=watch_callers(plugin),
        plugin=plugin,
        files=remember_files(orders["paths"]),
        changed=None,
        deciding=set(),
        problem=None,
    )
    state.told = _what_to_do(state)
    install(event, partial(_judge, state))
    return event


def _what_to_do(state: State) -> Mapping[str, Callable[..., None]]:
    record = partial(_record, state)
    tests = follow_tests(record, partial(_accuse, state))
    return {
        **tests,
        "items": partial(_items, state, tests["items"]),
        "trust": partial(_trust, state),
        "collecting": partial(_collecting, state),
        "collected": lambda node, outcome, message: record(["collected", node, outcome, message], True),
        "finish": lambda status: record(["finish", status], True),
    }


def _judge(state: State, name: str, args: Any) -> str | None:
    if getpid() != state.pid:
        return None  # a forked child of a test goes on as a second pytest
    try:
        if name == state.event:
            return _hear(state, args, current_frame(2))
        if name == "sys.settrace":
            if not may_trace(state.callers, current_frame(2)):
                state.told["traced"]()
        elif id(args[0]) in state.deciding and type(args[1]) is str and args[1] == "__code__":
            _accuse(state, f"the code of {args[0].__qualname__} was replaced")
    except BaseException as error:  # noqa: BLE001 - its traceback would lead to the key
        _accuse(state, f"{type(error).__name__} in the report's judge")
        return "the report's judge could not decide"
    return None


def _hear(state: State, args: tuple[Any, ...], caller: FrameType) -> str | None:
    if not args or type(args[0]) is not str or args[0] not in state.told:
        fault: str | None = "an unknown kind of record"
    elif args[0] in _AGAINST_PASSING:
        fault = None
    elif args[0] in CALLERS:
        fault = not_pytest(state.callers, args[0], caller)
    else:
        fault = not_the_plugin(state.callers, caller)
    if fault is None and any(type(value) not in _allowed_types(args[0]) for value in args):
        fault = "a record of values that could run code of their own"
    if fault is not None:
        _accuse(state, fault)
        return fault
    if args[0] in _CHECKED and "teardown" not in args and (name := state.changed()) is not None:
        _accuse(state, f"{name} was replaced")
    state.told[args[0]](*args[1:], *((caller,) if args[0] == "trust" else ()))
    return None


def _allowed_types(kind: str) -> tuple[type, ...]:
    """Looking at these runs no code of theirs; of what is in the lists, only the identity is looked at."""
    return (*_PLAIN, list) if kind in ("items", "hooks") else _PLAIN


def _trust(state: State, caller: FrameType) -> None:
    """All that is loaded now is pytest and what is installed beside it; what comes later is not trusted."""
    if state.changed is not None:
        _accuse(state, "trust was asked for a second time")
        return
    trust_all(state.callers, caller)
    state.changed = remember(partial(is_of_installed_plugin, state.callers), state.plugin)
    state.deciding.update(map(id, deciding_functions(state.changed)))
    freeze()  # hides what was just made, too


def _collecting(state: State, node: str, path: str) -> None:
    _record(state, ["collecting", node], True)
    if (fault := check_file(state.files, path)) is not None:
        _accuse(state, fault)


def _items(state: State, inner: Callable[[list[Any]], None], found: list[Any]) -> None:
    if (fault := check_all_there(state.files)) is not None:
        _accuse(state, fault)
    inner(found)
    state.deciding.update(id(row[2]) for row in found)


def _record(state: State, entry: Entry, now: bool) -> None:
    if state.problem is not None and entry[0] == "phase":
        entry[2], entry[-1] = "tampered", ""
    state.emit(entry, now)


def _accuse(state: State, what: str) -> None:
    """From now on no test passes."""
    if state.problem is None:
        state.problem = what
        state.emit(["tampered", what], True)
