"""What a strategy produces, and what is known about it."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

Trust = Literal["given", "agreed", "guessed"]
Status = Literal["passed", "failed", "error", "skipped", "timeout", "limit", "not_run"]


class Record(BaseModel):
    """Base of the immutable records here."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Candidate(Record):
    """One complete set of files that could be the answer."""

    files: Mapping[str, str]
    """Text by path relative to the repository's root."""
    origin: str
    """How it came to be, such as `greedy`, `sample 3` or `repair 1 of greedy`."""


class TestCase(Record):
    """A runnable check with its trust (design section 4)."""

    __test__ = False

    name: str
    """Name of the test function, unique within the Run."""
    trust: Trust
    body: tuple[str, ...]
    """Statements of the test, in order, without indentation."""
    names: tuple[str, ...]
    """Names of the code under test that the body uses."""
    title: str
    """What is checked, in the words of the issue where it is given."""
    call: str = ""
    """The call under test, normalised, for tests of the form call == value."""
    criteria: tuple[str, ...] = ()
    """Ids of the criteria that it covers."""
    arguments: tuple[str, ...] = ()
    """pytest fixtures that the body uses."""


class Outcome(Record):
    """What became of one test."""

    status: Status
    seconds: float
    message: str = ""

    @property
    def passed(self) -> bool:
        """Whether the test ran and passed."""
        return self.status == "passed"


class Verdict(Record):
    """What the sandbox saw when a Candidate met the TestCases."""

    outcomes: Mapping[str, Outcome]
    """By test name, or by full test id for a repository's own tests."""
    complete: bool
    """Whether the test session came to its proper end."""
    diagnosis: str = ""
    limit: str = ""
    """The resource limit that ended the session, or ''."""
    seconds: float = 0.0
    blocked_hosts: tuple[str, ...] = ()
    """Hosts that the code or its tests tried to reach; the sandbox has no network."""

    @property
    def passed(self) -> int:
        """How many tests passed."""
        return sum(outcome.passed for outcome in self.outcomes.values())

    @property
    def all_passed(self) -> bool:
        """Whether there were tests, all passed, and the session ended properly."""
        return self.complete and bool(self.outcomes) and self.passed == len(self.outcomes)
