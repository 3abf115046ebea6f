"""The pytest plugin of a test run: tells the judge what happens, through audit events.

Only API of pytest 7.0 and pluggy 1.0 is used, because a repository may bring its own.
"""

import os
import random
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from sys import audit
from types import FunctionType
from typing import Any

import pytest
from _pytest.unittest import TestCaseFunction

_MESSAGE_CHARS = 2000
_METHODS = ("runtest", "setup", "teardown", "repr_failure", "ihook")
_DECIDING_HOOKS = (
    *("pytest_runtest_protocol", "pytest_runtest_setup", "pytest_runtest_call", "pytest_runtest_teardown"),
    *("pytest_pyfunc_call", "pytest_runtest_makereport"),
)
_OLDEST = (7, 0)
Tell = Callable[..., None]
Wrapper = Generator[None, Any, None]


def require_pytest() -> None:
    """Raises UsageError for a pytest that is too old."""
    version = tuple(int(part) for part in pytest.__version__.split(".")[:2])
    if version < _OLDEST:
        raise pytest.UsageError(f"pytest {pytest.__version__} is older than 7.0, which the report needs")


def plugins(event: str, orders: Mapping[str, Any]) -> list[object]:
    """The plugins to register, which speak to the judge by this audit event."""

    def tell(kind: str, *values: object) -> None:
        with suppress(RuntimeError):  # a refusal: the judge has written down why
            audit(event, kind, *values)

    _watch_unittest(tell)
    return [_Reporter(tell, _Witness(tell), orders["python_path"], orders["random_order_seed"])]


class _Reporter:
    """Outside all other plugins, as far as the order of hooks allows."""

    def __init__(self, tell: Tell, witness: "_Witness", python_path: list[str], seed: int | None) -> None:
        self._tell = tell
        self._witness = witness
        self._python_path = python_path
        self._seed = seed
        self._in_call = False

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self) -> Wrapper:
        """All that is loaded by now are pytest and installed plugins."""
        self._tell("trust")
        # Only now: what lies there could call itself an installed plugin.
        sys.path[:0] = self._python_path
        inherited = filter(None, [os.environ.get("PYTHONPATH")])
        os.environ["PYTHONPATH"] = os.pathsep.join([*self._python_path, *inherited])
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Wrapper:
        is_file = isinstance(collector, pytest.File)
        if is_file:
            self._tell("collecting", collector.nodeid, str(collector.path))
            self._tell("hooks", _hooks(collector.config), True)
        outcome = yield
        if is_file:
            # A test file may name plugins; otherwise nothing it imports has to register any.
            self._tell("hooks", _hooks(collector.config), _may_name_plugins(collector.path))
        if outcome.excinfo is None:
            report = outcome.get_result()
            if is_file or report.outcome != "passed":
                self._tell("collected", collector.nodeid, report.outcome, _message(report))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """First of all, so that pytest still groups the tests that share a costly fixture."""
        if self._seed is not None:
            items[:] = _shuffled(items, random.Random(self._seed))  # noqa: S311 - no secret

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._tell("items", [(item, item.nodeid, _function(item), _run(item)) for item in session.items])
        # All conftest files are known by now: of wrappers, the last registered is outermost (or innermost).
        manager = session.config.pluginmanager
        manager.unregister(self)
        manager.register(self)
        manager.register(self._witness)
        self._tell("hooks", _hooks(session.config), True)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Wrapper:
        self._tell("start", id(item))
        yield
        self._tell("end", id(item))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Wrapper:
        function = _function(item)
        code = function.__code__ if function is not None else None
        altered = not vars(item).keys().isdisjoint(_METHODS)
        self._tell("hooks", _hooks(item.config), False)
        self._tell("calling", id(item), id(type(item)), id(function), id(code), id(_run(item)), altered)
        self._in_call = True
        yield
        self._in_call = False

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Wrapper:
        outcome = yield
        if outcome.excinfo is None:
            report = outcome.get_result()
            if self._in_call:  # the report of a part of the test
                return
            if call.excinfo is not None:
                self._tell("raised", id(item))
            needs_run = isinstance(item, pytest.Function) and type(item).runtest is pytest.Function.runtest
            seconds, message = float(call.duration), _message(report)
            self._tell("phase", id(item), call.when, report.outcome, needs_run, seconds, message)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Parts of a test, such as subtests, are only reported here."""
        if report.outcome == "failed":
            self._tell("failed", report.nodeid)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> Wrapper:
        yield
        self._tell("finish", int(exitstatus))


class _Witness:
    """Inside all other plugins: sees whether the test ran, and whether it raised."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Wrapper:
        self._tell("ran", id(pyfuncitem))
        outcome = yield
        self._check(pyfuncitem, outcome)

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Wrapper:
        outcome = yield
        self._check(item, outcome)

    def _check(self, item: pytest.Item, outcome: Any) -> None:
        if outcome.excinfo is not None:
            self._tell("raised", id(item))


def _run(item: pytest.Item) -> object:
    """The method of a unittest.TestCase that runs its tests."""
    is_unittest = isinstance(item, TestCaseFunction)
    return getattr(getattr(item.parent, "obj", None), "run", None) if is_unittest else None


def _may_name_plugins(path: Path) -> bool:
    try:
        return b"pytest_plugins" in path.read_bytes()
    except OSError:
        return False


def _watch_unittest(tell: Tell) -> None:
    """unittest keeps the exceptions of a test to itself, where they could be removed again."""
    keep = TestCaseFunction._addexcinfo

    def keep_and_tell(self: Any, *exception: Any) -> None:
        tell("raised", id(self))
        keep(self, *exception)

    TestCaseFunction._addexcinfo = keep_and_tell  # type: ignore[method-assign,assignment]


def _hooks(config: pytest.Config) -> list[object]:
    """What is called to run a test, in its order."""
    implementations = [
        each for name in _DECIDING_HOOKS for each in getattr(config.hook, name).get_hookimpls()
    ]
    return [part for each in implementations for part in (each, each.function)]


def _function(item: pytest.Item) -> FunctionType | None:
    found = getattr(item, "obj", None)
    function = getattr(found, "__func__", found)
    return function if isinstance(function, FunctionType) else None


def _shuffled(items: list[pytest.Item], chance: random.Random, depth: int = 0) -> list[pytest.Item]:
    """Files in random order; in them classes, and functions outside any; in those the tests."""
    levels = (pytest.File, pytest.Class)
    if depth == len(levels):
        chance.shuffle(items)
        return items
    groups = [list(group) for _, group in groupby(items, lambda item: item.getparent(levels[depth]) or item)]
    chance.shuffle(groups)
    return [item for group in groups for item in _shuffled(group, chance, depth + 1)]


def _message(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The exception and the lines that led to it, as text that can be written anywhere."""
    return _traceback(report).encode("utf-8", "backslashreplace").decode()


def _traceback(report: pytest.TestReport | pytest.CollectReport) -> str:
    if report.passed:
        return ""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])[:_MESSAGE_CHARS]
    text = report.longreprtext
    crash = getattr(report.longrepr, "reprcrash", None)
    where = [f"{os.path.relpath(crash.path)}:{crash.lineno}"] if crash is not None else []
    told = [line for line in text.splitlines() if line.startswith((">", "E "))]
    return "\n".join(where + (told or [text]))[:_MESSAGE_CHARS]
