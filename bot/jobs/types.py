"""A Job as data: what was asked, where it stands, what came of it (design section 1)."""

from datetime import datetime
from typing import Literal

from bot.github.types import RepoRef
from bot.record import Record
from pipelines.budget import Budget, Spent

JobKind = Literal["generate", "explain"]
"""`generate` writes code; `explain` answers in a comment and changes nothing."""

JobState = Literal["queued", "running", "finished", "failed", "stopped"]

JobStatus = Literal["green", "draft", "question", "explained", "nothing", "refused", "declined", "failed"]
"""How a Job ended. `nothing`: there was nothing to change; `declined`: people closed its pull request."""


def thread_of(repo: RepoRef, issue: int) -> str:
    """The name of an issue's Jobs, for every spelling of the repository."""
    return f"{repo.key}#{issue}"


class Answer(Record):
    """What a person replied to the bot's question."""

    author: str
    body: str


class JobOrder(Record):
    """What a trusted person asked for, frozen at that moment: later edits of the issue do not count."""

    repo: RepoRef
    issue: int
    title: str
    body: str
    author: str
    html_url: str
    requested_by: str
    requested_at: datetime
    delivery: str = ""
    """The event that asked; the same event asks only once."""
    kind: JobKind = "generate"
    answers: tuple[Answer, ...] = ()
    explicit: bool = False
    """Asked for by a command: an earlier decline does not count any more."""
    at_creation: bool = False
    """Asked for by the label that the issue was opened with; such an order is given at most once."""
    base: str | None = None
    """Branch to start from; None is the configuration's or the default branch."""

    @property
    def thread(self) -> str:
        """What all Jobs of an issue share."""
        return thread_of(self.repo, self.issue)

    def issue_text(self) -> bytes:
        """The issue as the pipelines read it, answers included."""
        answers = "".join(f"\n\n## Answer by @{answer.author}\n\n{answer.body}" for answer in self.answers)
        title = " ".join(self.title.split())
        return f"# {title}\n\n{self.body}{answers}\n".encode()


class JobRequest(Record):
    """An order with its place in the issue's history."""

    order: JobOrder
    generation: int
    """Counts the Jobs of an issue from 1."""

    @property
    def id(self) -> str:
        """Names the Job everywhere, and the durable workflow that does it."""
        return f"{self.order.thread}/{self.generation}"


class JobOutcome(Record):
    """What came of a Job."""

    status: JobStatus
    reasons: tuple[str, ...] = ()
    """Why it is not green, in words for people; for `question` the question."""
    branch: str | None = None
    commit: str | None = None
    pull_request: int | None = None
    pull_request_url: str | None = None
    run_id: str | None = None
    spent: Spent = Spent()
    budget: Budget | None = None
    """The caps that held for it."""


class JobView(Record):
    """A Job as others see it."""

    request: JobRequest
    state: JobState
    outcome: JobOutcome | None = None
    position: int | None = None
    """Place in its repository's queue, from 1, while it is queued."""
    error: str = ""
    """Why it failed, when it did."""

    @property
    def live(self) -> bool:
        """Whether it still waits or works."""
        return self.state in ("queued", "running")
