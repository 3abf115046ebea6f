"""Turns what the report plugin wrote in the box into a TestReport."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from hmac import compare_digest
from typing import Any

from sandbox.protocol import ExecResult, LimitKind
from sandbox.testing.outcome import FileCoverage, Status, TestOutcome, TestReport

Record = Sequence[Any]
"""A kind, and the values that belong to it."""
_ENDED_WELL = (0, 1, 5)  # pytest's exit statuses: all passed, some failed, none collected
_WORSE_AND_WORSE: tuple[Status, ...] = ("passed", "skipped", "not_run", "error", "failed", "timeout")
_LAST_WORDS = 2000
_TAMPERED = "tampered with pytest: "


def read_records(report: bytes, key: bytes) -> list[Record]:
    """The records up to the first block that is damaged, forged or out of its place."""
    records: list[Record] = []
    previous = b""
    for line in report.split(b"\n"):
        mac, _, data = line.partition(b" ")
        expected = blake2b(previous + data, key=key, digest_size=16).hexdigest().encode()
        if not compare_digest(mac, expected):
            break
        previous = mac
        records += json.loads(data)
    return records


def summarize(records: Iterable[Record], result: ExecResult) -> TestReport:
    """One outcome for each test that was collected, and for each file that could not be."""
    tests = _Tests(_reason_of_end(result))
    for kind, *values in records:
        tests.take(kind, values)
    outcomes = tuple(tests.outcomes())
    diagnosis = _diagnosis(tests, outcomes, result)
    return TestReport(outcomes=outcomes, exec=result, complete=not diagnosis, diagnosis=diagnosis)


def read_coverage(measured: bytes | None, root: str) -> Mapping[str, FileCoverage] | None:
    """The figures in coverage's JSON report, by path below `root`; None if there is no such report."""
    try:
        files = json.loads(measured or b"null")["files"]
        return {path.removeprefix(f"{root}/"): _figures(file) for path, file in files.items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _figures(file: Mapping[str, Any]) -> FileCoverage:
    return FileCoverage(
        executed=tuple(map(int, file["executed_lines"])),
        missing=tuple(map(int, file["missing_lines"])),
        missing_branches=tuple((int(start), int(end)) for start, end in file["missing_branches"]),
        percent=float(file["summary"]["percent_covered"]),
    )


def _reason_of_end(result: ExecResult) -> tuple[Status, str]:
    """What to say of a test during which the process ended."""
    if result.limit is LimitKind.WALL:
        return "timeout", "ran until the time limit"
    if result.limit is not None:
        return "error", f"hit the {result.limit} limit"
    return "error", f"the process ended here, with exit code {result.exit_code}"


def _badness(outcome: TestOutcome) -> int:
    return _WORSE_AND_WORSE.index(outcome.status)


def _diagnosis(tests: "_Tests", outcomes: Sequence[TestOutcome], result: ExecResult) -> str:
    """Why the report is not complete; empty for one that is."""
    where = f" during {tests.current}" if tests.current else ""
    lost = [outcome.node_id for outcome in outcomes if outcome.status == "not_run"]
    if tests.tampered:
        return _TAMPERED + tests.tampered
    if tests.status is None:
        reason = f"the {result.limit} limit ended it" if result.limit else f"exit code {result.exit_code}"
        what = f"pytest did not come to its end: {reason}{where}"
    elif tests.status not in _ENDED_WELL:
        what = f"pytest gave up with status {tests.status}{where}"
    elif lost:
        return f"{len(lost)} collected tests did not run, {lost[0]} for one"
    else:
        return ""
    said = (result.stderr.text.strip() or result.stdout.text.strip())[-_LAST_WORDS:]
    return f"{what}\n{said}".strip()


@dataclass(frozen=True, slots=True)
class _Phase:
    when: str
    outcome: str
    seconds: float
    message: str


@dataclass(slots=True)
class _Tests:
    """Replays the records; `current` is the file or test that was being worked on at the end."""

    end: tuple[Status, str]
    current: str | None = None
    nodes: Sequence[str] = ()
    index: int = -1
    files: dict[str, TestOutcome] = field(default_factory=dict)
    ended: dict[int, TestOutcome] = field(default_factory=dict)
    phases: list[_Phase] = field(default_factory=list)
    tampered: str = ""
    status: int | None = None

    def take(self, kind: str, values: Sequence[Any]) -> None:
        match kind, values:
            case "collecting", [node]:
                self.current = node
            case "collected", [node, outcome, message]:
                self._collected(node, outcome, message)
            case "items", [nodes]:
                self.nodes = nodes
            case "start", [index]:
                self.index, self.current, self.phases = index, self.nodes[index], []
            case "phase", [when, *_]:
                # A test that is tried again begins anew: its last attempt counts.
                self.phases = [*([] if when == "setup" else self.phases), _Phase(*values)]
            case "end", _:
                self.ended[self.index] = self._outcome(*self._status())
                self.current = None
            case "tampered", [what]:
                self.tampered = what
            case "finish", [status]:
                self.status = status

    def outcomes(self) -> Iterable[TestOutcome]:
        """By name; of two tests with the same name, the worse outcome."""
        found = dict(self.files)
        for index, node in enumerate(self.nodes):
            outcome = self.ended.get(index, TestOutcome(node_id=node, status="not_run"))
            found[node] = max(found.get(node, outcome), outcome, key=_badness)
        if self.current:
            found[self.current] = self._outcome(*self.end)
        return found.values()

    def _collected(self, node: str, outcome: str, message: str) -> None:
        self.current = None
        if self.tampered:
            outcome, message = "error", _TAMPERED + self.tampered
        if outcome != "passed":
            status: Status = "skipped" if outcome == "skipped" else "error"
            self.files[node] = TestOutcome(node_id=node, status=status, message=message)

    def _outcome(self, status: Status, message: str) -> TestOutcome:
        seconds = {phase.when: phase.seconds for phase in self.phases}
        return TestOutcome(
            node_id=self.current or "",
            status=status,
            setup_seconds=seconds.get("setup", 0.0),
            call_seconds=seconds.get("call", 0.0),
            teardown_seconds=seconds.get("teardown", 0.0),
            message=message,
        )

    def _status(self) -> tuple[Status, str]:
        for phase in self.phases:
            match phase.outcome:
                case "tampered":
                    return "error", _TAMPERED + self.tampered
                case "failed":
                    return ("failed" if phase.when == "call" else "error"), phase.message
                case "skipped":
                    return "skipped", phase.message
        if any(phase.when == "call" for phase in self.phases):
            return "passed", ""
        return "not_run", ""
