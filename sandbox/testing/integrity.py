"""Whether what decides the outcome of a test is still what it was before any code of the repository ran."""

import builtins
import doctest  # noqa: F401 - pytest loads it late, when it could not be trusted any more
import sys
import unittest.case  # noqa: F401 - the same
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import compress, repeat
from operator import is_
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

_DECIDING_MODULES = (
    *("_pytest._code.code", "_pytest.assertion", "_pytest.assertion.rewrite", "_pytest.assertion.util"),
    *("_pytest.capture", "_pytest.config", "_pytest.fixtures", "_pytest.legacypath", "_pytest.logging"),
    *("_pytest.main", "_pytest.nodes", "_pytest.outcomes", "_pytest.python", "_pytest.python_api"),
    *("_pytest.raises", "_pytest.recwarn", "_pytest.reports", "_pytest.runner", "_pytest.skipping"),
    *("_pytest.subtests", "_pytest.threadexception", "_pytest.unittest", "_pytest.unraisableexception"),
    *("_pytest.doctest", "_pytest.warnings", "pytest"),
    *("pluggy", "pluggy._callers", "pluggy._hooks", "pluggy._manager", "pluggy._result", "pluggy._tracing"),
    *("pluggy._caller", "pluggy._execution"),
    *("contextlib", "doctest", "unittest.case"),
)
"""Where they exist: not all are there in every version of pytest and pluggy."""
_DECIDING_BUILTINS = frozenset(
    {
        *("all", "any", "bool", "callable", "delattr", "dict", "getattr", "hasattr", "isinstance"),
        *("issubclass", "len", "list", "repr", "setattr", "str", "super", "tuple", "type"),
    }
)
_MAY_CHANGE = frozenset({("pytest", "xfail")})  # --runxfail replaces it by something that does nothing
_DECIDING_TYPES = (FunctionType, type, ModuleType, property, classmethod, staticmethod, type(len))
_PLAIN = (bool, int, float, str, type(None))
Check = Callable[[], str | None]
Harmless = Callable[[FunctionType], bool]
Space = SimpleNamespace
"""The names of one module or class; a class of our own could be found, and changed, by any code."""


def remember(harmless: Harmless, *more: ModuleType) -> Check:
    """A check that names what has been replaced since now, other than by a `harmless` function.

    Two things are compared by identity, which no object can fake.
    """
    modules = {name: sys.modules[name] for name in _DECIDING_MODULES if name in sys.modules}
    spaces = [_space(name, vars(module), _decides) for name, module in modules.items()]
    for module in more:
        spaces.append(_space(module.__name__, vars(module), _decides, closed=True))
        spaces.append(_space("builtins", vars(module)["__builtins__"], _decides_as_builtin))
    for cls in _classes([*modules.values(), *more]):
        spaces.append(_space(f"{cls.__module__}.{cls.__qualname__}", vars(cls), _decides, closed=True))
    spaces.append(_space("builtins", vars(builtins), _decides_as_builtin))
    legacy = vars(sys.modules["_pytest.legacypath"])
    return partial(_changed, modules, sys.modules, spaces, partial(_is_allowed, legacy, harmless))


def deciding_functions(check: Check) -> list[FunctionType]:
    """The functions whose code must stay as it is."""
    spaces: list[Space] = check.args[2]  # type: ignore[attr-defined]
    functions = [_function(value) for space in spaces for value in space.values]
    return [function for function in functions if function is not None]


def _changed(
    modules: Mapping[str, ModuleType],
    current: Mapping[str, ModuleType],
    spaces: Sequence[Space],
    allowed: Callable[[Any], bool],
) -> str | None:
    for name, module in current.items():
        if type(name) is str and name in modules and module is not modules[name]:
            return f"sys.modules[{name!r}]"
    for space in spaces:
        if not _is_as_before(space) and (found := _difference(space, allowed)) is not None:
            return found
    return None


def _space(
    name: str, names: Mapping[str, Any], decides: Callable[[str, str, Any], bool], *, closed: bool = False
) -> Space:
    """`closed`: no name may be added at all; else, only none that hides a builtin."""
    space = Space(
        name=name, names=names, closed=closed, kept=[], hiding=frozenset(vars(builtins)) - set(names)
    )
    space.deciding = {key: value for key, value in names.items() if decides(name, key, value)}
    _note_order(space, list(names.items()))
    return space


def _note_order(space: Space, items: Sequence[tuple[str, Any]]) -> None:
    space.keys = tuple(key for key, _ in items)
    space.known = frozenset(space.keys)
    space.mask = tuple(key in space.deciding for key in space.keys)
    space.values = tuple(space.deciding[key] for key in space.keys if key in space.deciding)


def _is_as_before(space: Space) -> bool:
    """Compares in order and by identity: a key put there could answer a look-up with its own code."""
    names = space.names
    return (
        len(names) == len(space.keys)
        and all(map(is_, names, space.keys))
        and all(map(is_, compress(names.values(), space.mask), space.values))
    )


def _difference(space: Space, allowed: Callable[[Any], bool]) -> str | None:
    """The name of what must not have changed; what harmlessly did is the standard from now on."""
    items = list(space.names.items())
    space.kept.append(items)  # a deletion could run code of its own in front of the judge
    if any(type(key) is not str for key, _ in items):
        return f"the names in {space.name}"
    now = dict(items)
    for key, value in space.deciding.items():
        if now.get(key) is not value:
            if not allowed(now.get(key)):
                return f"{space.name}.{key}"
            space.deciding[key] = now[key]
    for key in now.keys() - space.known:
        intrudes = type(now[key]) not in _PLAIN if space.closed else key in space.hiding
        if intrudes and not allowed(now[key]):
            return f"{space.name}.{key}"
    _note_order(space, items)
    return None


def _is_allowed(legacy: Mapping[str, Any], harmless: Harmless, value: Any) -> bool:
    """Whether this is a function with which pytest patches itself, or a harmless one."""
    function = _function(value)
    if function is None:
        return False
    return any(map(is_, legacy.values(), repeat(function))) or harmless(function)


def _function(value: Any) -> FunctionType | None:
    """The function in it; asks nothing of objects of other types, which could answer with their own code."""
    if type(value) is property:
        value = value.fget
    elif type(value) in (classmethod, staticmethod):
        value = value.__func__
    return value if type(value) is FunctionType else None


def _decides(space: str, key: str, value: Any) -> bool:
    return isinstance(value, _DECIDING_TYPES) and (space, key) not in _MAY_CHANGE


def _decides_as_builtin(_space: str, key: str, value: Any) -> bool:
    return key in _DECIDING_BUILTINS or (isinstance(value, type) and issubclass(value, BaseException))


def _classes(modules: Sequence[ModuleType]) -> list[type]:
    names = {module.__name__ for module in modules}
    found = {
        id(value): value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ in names
    }
    return list(found.values())
