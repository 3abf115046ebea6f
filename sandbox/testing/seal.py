"""Keeps the key of the report where Python code in the same process cannot get at it.

Whatever a Python object refers to can be reached from it: attributes, closures, frames. So the judge, who
holds the key, hangs on an audit hook (which cannot be listed or removed) and nowhere else, hidden from `gc`.
A signal handler could look at the frames of what it interrupts, so the hook itself is a function that has
neither variables nor globals, only constants, and calls the judge when no other Python code can run there.

What remains possible: native code in the process (ctypes with arithmetic on addresses, extension modules), a
second thread that wins a race of microseconds, a conftest file of the repository that decides not to call the
tests, and an object under test that claims to be equal to everything.
"""

import ast
import gc
import signal
import sys
import warnings
from _signal import SIG_IGN  # type: ignore[import-not-found]
from _signal import getsignal as get_handler
from _signal import signal as set_handler
from _thread import get_ident
from collections.abc import Callable, Mapping
from functools import partial
from gc import disable as gc_disable
from gc import enable as gc_enable
from gc import get_freeze_count as frozen_count
from gc import isenabled as gc_is_enabled
from itertools import repeat
from os import stat as status
from types import CodeType, FrameType, FunctionType
from typing import Any

Judge = Callable[[str, Any], str | None]
_INERT = """
def entry(name, args):
    if name in JUDGED:
        if THREAD() == MAIN:
            QUIET()
            refusal = JUDGE(name, args)
            LOUD()
            if refusal is not None:
                raise ERROR(refusal)
        elif name == EVENT:
            raise ERROR("records are made by the main thread")
"""
_JUDGED = ("object.__setattr__", "sys.settrace")
_WATCHED = frozenset(
    {
        *("gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys.addaudithook", "open"),
        *("sys._current_frames", "sys._current_exceptions", "object.__getattr__", "object.__setattr__"),
    }
)
_SILENT = (int, type(None))


def install(event: str, judge: Judge) -> None:
    """From now on `sys.audit(event, ...)` leads to the judge, and what could reach the judge is denied."""
    private: dict[str, Any] = {}
    quiet, loud = _quietness()
    constants = {
        "EVENT": event,
        "JUDGED": frozenset((event, *_JUDGED)),
        "THREAD": get_ident,
        "MAIN": get_ident(),
        "ERROR": RuntimeError,
        "QUIET": quiet,
        "LOUD": loud,
        "JUDGE": judge,
    }
    sys.addaudithook(_inert(_INERT, private, constants))
    sys.addaudithook(_denial(private))
    gc.collect()
    gc.freeze()


def _inert(source: str, space: dict[str, Any], constants: Mapping[str, Any]) -> FunctionType:
    """The function in `source` with its names made constants: a frame of it gives nothing away."""
    marks = {name: f"constant {name}" for name in constants}

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.copy_location(ast.Constant(marks[node.id]), node) if node.id in marks else node

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # about the marks, which are not called in the end
        module = compile(Fill().visit(ast.parse(source)), "<seal>", "exec")
    code = next(part for part in module.co_consts if isinstance(part, CodeType))
    values = {marks[name]: value for name, value in constants.items()}
    filled = tuple(values.get(part, part) if isinstance(part, str) else part for part in code.co_consts)
    return FunctionType(code.replace(co_consts=filled), space)


def _quietness() -> tuple[Callable[[], None], Callable[[], None]]:
    """Functions that keep other Python code of the main thread from running in between ours, and let it."""
    numbers = sorted(signal.valid_signals())
    system, unraisable = sys, sys.__unraisablehook__
    stash: list[Any] = []

    def quiet() -> None:
        if stash:
            loud()  # a handler raised while we were at it
        stash.append((gc_is_enabled(), system.unraisablehook))
        gc_disable()
        busy = True
        while busy:
            busy = False
            for number in numbers:
                handler = get_handler(number)
                if type(handler) not in _SILENT:
                    stash.append((number, handler))
                    set_handler(number, SIG_IGN)
                    busy = True
        system.unraisablehook = unraisable

    def loud() -> None:
        (collecting, hook), *handlers = stash
        stash.clear()
        system.unraisablehook = hook
        for number, handler in handlers:
            set_handler(number, handler)
        if collecting:
            gc_enable()

    return quiet, loud


def _denial(private: Mapping[str, Any]) -> Callable[[str, Any], None]:
    """An audit hook that has no secrets: its frames are in the traceback of what it denies."""
    process_files = status("/proc/self").st_dev  # noqa: PTH116
    check = partial(_is_denied, private, get_ident(), process_files)

    def deny(name: str, args: Any) -> None:
        if name in _WATCHED and check(name, args):
            raise RuntimeError(f"{name} is not allowed here: it could reach what makes the report")

    return deny


def _is_denied(private: Mapping[str, Any], main: int, process_files: int, name: str, args: Any) -> bool:
    match name:
        case "object.__getattr__":
            return args[1] == "f_code" and _is_ours(private, args[0])
        case "object.__setattr__":
            return args[1] == "__code__" and get_ident() != main
        case "gc.get_referents":
            return any(map(_is_ours, repeat(private), args[0]))
        case "gc.get_objects" | "gc.get_referrers":
            return frozen_count() == 0  # all was unfrozen: only then do they find our objects
        case "sys._current_frames" | "sys._current_exceptions":
            return get_ident() != main
        case "open":
            return _is_memory(process_files, args[0])
    return name == "sys.addaudithook"


def _is_ours(private: Mapping[str, Any], value: Any) -> bool:
    return isinstance(value, FrameType) and value.f_globals is private


def _is_memory(process_files: int, path: Any) -> bool:
    """Whether opening this gives the memory of a process: the one file in /proc with this mode."""
    if not isinstance(path, str | bytes):
        return False
    if path in ("mem", b"mem"):  # relative to a folder that the event does not tell
        return True
    try:
        found = status(path)  # noqa: PTH116
    except (OSError, ValueError):
        return False
    return found.st_dev == process_files and found.st_mode & 0o7777 == 0o600
