"""What a test run did: one outcome for each test."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from sandbox.protocol import ExecResult

Status = Literal["passed", "failed", "error", "skipped", "timeout", "not_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOutcome:
    """What one test did; a file that could not be imported counts as one test in error."""

    __test__: ClassVar[bool] = False

    node_id: str
    status: Status
    setup_seconds: float = 0.0
    call_seconds: float = 0.0
    teardown_seconds: float = 0.0
    message: str = ""
    """The exception and the lines that led to it; empty for a test that passed."""

    @property
    def seconds(self) -> float:
        """The time of all phases together."""
        return self.setup_seconds + self.call_seconds + self.teardown_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCoverage:
    """Which lines of a file were run."""

    executed: tuple[int, ...]
    missing: tuple[int, ...]
    missing_branches: tuple[tuple[int, int], ...]
    """Jumps from one line to another that never happened; a negative line is the end of its function."""
    percent: float
    """Of lines and branches together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestReport:
    """What a test run did."""

    __test__: ClassVar[bool] = False

    outcomes: tuple[TestOutcome, ...]
    exec: ExecResult
    complete: bool
    """Whether pytest came to its own end, untampered with, and ran every test that it had collected."""
    diagnosis: str = ""
    """Why the report is not complete, or has no coverage though it was asked for."""
    random_order_seed: int | None = None
    """What decided the order of the tests; None for the order in which they are written."""
    coverage: Mapping[str, FileCoverage] | None = None
    """By path under `/work`. A claim of the process that ran the code under test, unlike the outcomes."""

    @property
    def passed(self) -> bool:
        """Whether at least one test passed, none did otherwise than pass or skip, and none is missing."""
        statuses = {outcome.status for outcome in self.outcomes}
        return self.complete and "passed" in statuses and statuses <= {"passed", "skipped"}

    @property
    def blocked_hosts(self) -> tuple[str, ...]:
        """Hosts that the tests tried to reach, as far as they let that be seen."""
        return self.exec.blocked_hosts
