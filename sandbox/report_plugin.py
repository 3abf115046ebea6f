"""A pytest plugin that is copied into the box and records what each test did; needs only pytest.

The first line of standard input says where to write and with which key. Every record carries a chained
HMAC, so that a test can neither forge nor drop one without its being seen. The key is never in the
environment or in a file. (Code in the same process that digs through the interpreter could still find it.)
"""

import hmac
import json
import os
import sys
from collections.abc import Generator
from typing import Any

import pytest

_MESSAGE_CHARS = 2000


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, Any, Any]:
    """Take the orders before pytest closes standard input and imports any code of the repository."""
    orders = json.loads(sys.stdin.buffer.readline())
    sys.path[:] = [path for path in sys.path if path != orders["plugin_path"]]
    sys.path[:0] = orders["python_path"]
    os.environ["PYTHONPATH"] = os.pathsep.join(orders["python_path"])
    recorder = _Recorder(orders["report"], bytes.fromhex(orders["key"]))
    early_config.pluginmanager.register(_Reporter(recorder), "issuewright-reporter")
    return (yield)


class _Recorder:
    """Appends records, each authenticated together with all before it."""

    def __init__(self, path: str, key: bytes) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        self._key = key
        self._mac = ""
        self._pid = os.getpid()

    def record(self, kind: str, **values: object) -> None:
        if os.getpid() != self._pid:
            return  # a forked child of a test goes on as a second pytest
        data = json.dumps({"kind": kind, **values})
        self._mac = hmac.new(self._key, (self._mac + data).encode(), "sha256").hexdigest()
        os.write(self._descriptor, json.dumps([self._mac, data]).encode() + b"\n")


class _Reporter:
    def __init__(self, recorder: _Recorder) -> None:
        self._record = recorder.record

    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        self._record("collecting", node=collector.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._record("collected", node=report.nodeid, outcome=report.outcome, message=_message(report))

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._record("items", nodes=[item.nodeid for item in session.items])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._record("start", node=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._record(
            "phase",
            node=report.nodeid,
            when=report.when,
            outcome=report.outcome,
            seconds=report.duration,
            message=_message(report),
        )

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._record("end", node=nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, exitstatus: int) -> Generator[None, Any, Any]:
        result = yield
        self._record("finish", status=int(exitstatus))
        return result


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
