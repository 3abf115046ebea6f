"""Whether pytest itself is speaking: every caller must be code that is older than the repository's."""

import bdb
import gc
import sys
from collections.abc import Iterator
from sys import _getframe as current_frame
from types import CodeType, FrameType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

CALLERS = {
    "collecting": ("_pytest.runner", "collect_one_node"),
    "collected": ("_pytest.runner", "collect_one_node"),
    "items": ("_pytest.main", "Session.perform_collect"),
    "start": ("_pytest.main", "pytest_runtestloop"),
    "phase": ("_pytest.runner", "call_and_report"),
    "end": ("_pytest.main", "pytest_runtestloop"),
    "finish": ("_pytest.main", "wrap_session"),
}
"""The function of pytest that calls the hook in which the plugin makes this kind of record."""
_OUTSIDE_TESTS = frozenset({"items", "start", "phase", "end", "finish"})
Fault = str | None
Callers = SimpleNamespace
"""The state of what follows; a class of our own could be found, and changed, by any code."""


def watch_callers(plugin: ModuleType) -> Callers:
    """Trust pytest and all else that is loaded now."""
    state = Callers(
        plugin=vars(plugin),
        callers={kind: _code_of(*where) for kind, where in CALLERS.items()},
        runs_tests=_code_of("_pytest.runner", "CallInfo.from_call"),
        debugger=vars(bdb),
        pluggy=set(),
        pytest_code=set(),
        trusted=set(),
        kept=[],  # what is trusted must not make room for something else at its address
    )
    trust_all(state, current_frame())
    state.pytest_code.update(state.trusted)
    return state


def trust_all(state: Callers, caller: FrameType) -> None:
    """Trust all code that is loaded now too, and what runs from `caller` down."""
    functions = [value for value in gc.get_objects() if type(value) is FunctionType]
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "pluggy"]
    frames = list(_callers_of(caller))
    state.kept += [functions, modules, *((frame.f_code, frame.f_globals) for frame in frames)]
    state.pluggy.update(id(vars(module)) for module in modules)
    state.trusted.update((id(frame.f_code), id(frame.f_globals)) for frame in frames)
    for function in functions:
        space = id(function.__globals__)
        state.trusted.update((id(code), space) for code in _nested(function.__code__))


def is_of_installed_plugin(state: Callers, function: FunctionType) -> bool:
    """Whether it came after pytest, and before anything of the repository."""
    found = (id(function.__code__), id(function.__globals__))
    return found in state.trusted and found not in state.pytest_code


def may_trace(state: Callers, frame: FrameType) -> bool:
    """Whether a tracing tool that was there before the repository's code is at work; a debugger is none."""
    return _is_trusted(state, frame) and frame.f_globals is not state.debugger


def not_the_plugin(state: Callers, frame: FrameType) -> Fault:
    """What is wrong with a record that needs to come from the plugin, called by pluggy."""
    for caller in _callers_of(frame):
        if id(caller.f_globals) in state.pluggy and caller is not frame:
            return None
        if caller.f_globals is not state.plugin or not _is_trusted(state, caller):
            return f"{_place(caller)} spoke in the name of the report plugin"
    return "the report plugin spoke without being called"


def not_pytest(state: Callers, kind: str, frame: FrameType) -> Fault:
    """What is wrong with a record that needs to come from pytest alone, through the plugin."""
    if (fault := not_the_plugin(state, frame)) is not None:
        return fault
    beyond = state.pluggy | {id(state.plugin)}
    expected: Any = state.callers[kind]
    for caller in _callers_of(frame):
        code, space = caller.f_code, id(caller.f_globals)
        if (id(code), space) not in state.trusted:
            return f"{_place(caller)} called pytest's {kind} hook"
        if expected is not None and space not in beyond:
            if code is not expected:
                return f"pytest's {kind} hook was called out of its place"
            expected = None
        if code is state.runs_tests and kind in _OUTSIDE_TESTS:
            return f"pytest's {kind} hook was called by something that a test left behind"
    return None if expected is None else f"pytest's {kind} hook was called by nothing"


def _is_trusted(state: Callers, frame: FrameType) -> bool:
    return (id(frame.f_code), id(frame.f_globals)) in state.trusted


def _callers_of(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _place(frame: FrameType) -> str:
    file = frame.f_code.co_filename
    return f"{file if type(file) is str else '?'}:{frame.f_lineno}"


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _nested(part)


def _code_of(module: str, path: str) -> CodeType:
    value: Any = sys.modules[module]
    for name in path.split("."):
        value = getattr(value, name)
    code: CodeType = getattr(value, "__func__", value).__code__
    return code
