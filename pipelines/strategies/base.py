"""The interface of all strategies."""

from typing import NamedTuple, Protocol

from pipelines.candidate import Candidate, Verdict
from pipelines.run import Run
from pipelines.task import Task


class Attempt(NamedTuple):
    """A candidate with what its given tests said."""

    candidate: Candidate
    verdict: Verdict


class Solution(NamedTuple):
    """The best attempt, and the others whose outputs may be compared with it."""

    best: Attempt | None
    """None when no answer of the model could be used."""
    others: tuple[Attempt, ...] = ()
    stopped: str = ""
    """Why the search ended before its natural end, or ''."""


class Strategy(Protocol):
    """An algorithm from Requirement to Candidate."""

    @property
    def name(self) -> str:
        """As the command line has it."""
        ...

    async def solve(self, run: Run, task: Task) -> Solution:
        """The best candidate found; never one that was not tested after its last change."""
        ...
