"""Turns the records of the pytest plugin into one outcome for each test."""

import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from sandbox.protocol import ExecResult, LimitKind

Status = Literal["passed", "failed", "error", "skipped", "timeout", "not_run"]
Record = Mapping[str, Any]
_ENDED_WELL = (0, 1, 5)  # pytest's exit statuses: all passed, some failed, none collected
_LAST_WORDS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """What one test did; a file that could not be imported counts as one test in error."""

    __test__: ClassVar[bool] = False

    node_id: str
    status: Status
    seconds: float = 0.0
    message: str = ""
    """The exception and the lines that led to it; empty for a test that passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestReport:
    """What a test run did."""

    __test__: ClassVar[bool] = False

    outcomes: tuple[TestOutcome, ...]
    exec: ExecResult
    complete: bool
    """Whether pytest came to its own end; if not, some tests may be missing altogether."""
    diagnosis: str = ""
    """Why the report is not complete."""

    @property
    def passed(self) -> bool:
        """Whether at least one test passed, none did otherwise than pass or skip, and none is missing."""
        statuses = {outcome.status for outcome in self.outcomes}
        return self.complete and "passed" in statuses and statuses <= {"passed", "skipped"}


def read_records(report: bytes, key: bytes) -> list[Record]:
    """The records up to the first that is damaged, forged or out of its place."""
    records: list[Record] = []
    previous = ""
    for line in report.splitlines():
        try:
            mac, data = json.loads(line)
            expected = hmac.new(key, (previous + data).encode(), "sha256").hexdigest()
            if not hmac.compare_digest(mac, expected):
                break
        except (ValueError, TypeError):
            break
        previous = mac
        records.append(json.loads(data))
    return records


def summarize(records: Sequence[Record], result: ExecResult) -> TestReport:
    """One outcome for each test that was collected, and for each file that could not be."""
    status = next((record["status"] for record in records if record["kind"] == "finish"), None)
    complete = status in _ENDED_WELL
    tests = _Tests(_reason_of_end(result))
    for record in records:
        tests.take(record)
    return TestReport(
        outcomes=tuple(tests.outcomes()),
        exec=result,
        complete=complete,
        diagnosis="" if complete else _diagnosis(status, tests.current, result),
    )


def _reason_of_end(result: ExecResult) -> TestOutcome:
    """The outcome, still without its test, of a test during which the process ended."""
    if result.limit is LimitKind.WALL:
        return TestOutcome(node_id="", status="timeout", message="ran until the time limit")
    if result.limit is not None:
        return TestOutcome(node_id="", status="error", message=f"hit the {result.limit} limit")
    return TestOutcome(
        node_id="", status="error", message=f"the process ended here, with exit code {result.exit_code}"
    )


def _diagnosis(status: int | None, current: str | None, result: ExecResult) -> str:
    where = f" during {current}" if current else ""
    if status is None:
        reason = f"the {result.limit} limit ended it" if result.limit else f"exit code {result.exit_code}"
        what = f"pytest did not come to its end: {reason}{where}"
    else:
        what = f"pytest gave up with status {status}{where}"
    said = (result.stderr.text.strip() or result.stdout.text.strip())[-_LAST_WORDS:]
    return f"{what}\n{said}".strip()


@dataclass(slots=True)
class _Tests:
    """Replays the records; `current` is the file or test that was being worked on at the end."""

    end: TestOutcome
    current: str | None = None
    found: dict[str, TestOutcome] = field(default_factory=dict)
    phases: list[Record] = field(default_factory=list)

    def take(self, record: Record) -> None:
        match record["kind"]:
            case "collecting":
                self.current = record["node"]
            case "collected":
                self._collected(record)
            case "items":
                self.found.update({n: TestOutcome(node_id=n, status="not_run") for n in record["nodes"]})
            case "start":
                self.current, self.phases = record["node"], []
            case "phase":
                self.phases.append(record)
            case "end":
                self.found[record["node"]] = _outcome(record["node"], self.phases)
                self.current = None

    def outcomes(self) -> Iterable[TestOutcome]:
        found = dict(self.found)
        if self.current:
            found[self.current] = TestOutcome(
                node_id=self.current,
                status=self.end.status,
                seconds=_seconds(self.phases),
                message=self.end.message,
            )
        return found.values()

    def _collected(self, record: Record) -> None:
        node = record["node"]
        if record["outcome"] == "failed":
            self.found[node] = TestOutcome(node_id=node, status="error", message=record["message"])
        elif record["outcome"] == "skipped":
            self.found[node] = TestOutcome(node_id=node, status="skipped", message=record["message"])
        self.current = None


def _outcome(node: str, phases: Sequence[Record]) -> TestOutcome:
    status, message = _status(phases)
    return TestOutcome(node_id=node, status=status, seconds=_seconds(phases), message=message)


def _seconds(phases: Sequence[Record]) -> float:
    return sum((phase["seconds"] for phase in phases), start=0.0)


def _status(phases: Sequence[Record]) -> tuple[Status, str]:
    for phase in phases:
        if phase["outcome"] == "failed":
            return ("failed" if phase["when"] == "call" else "error"), phase["message"]
        if phase["outcome"] == "skipped":
            return "skipped", phase["message"]
    if any(phase["when"] == "call" for phase in phases):
        return "passed", ""
    return "not_run", ""
