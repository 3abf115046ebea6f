"""Events as the behaviours see them: what they need of GitHub's payloads, nothing else."""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from bot.github.types import Actor, Comment, Issue, PullRequest, RepoRef
from bot.record import Record


class Event(Record):
    """Something that happened in a repository."""

    delivery: str
    """GitHub's id of the delivery; the same when it is delivered again."""
    name: str
    """Value of X-GitHub-Event."""
    action: str
    repo: RepoRef
    default_branch: str
    sender: Actor


class IssueEvent(Event):
    """`issues`, or a label on a pull request."""

    kind: Literal["issue"] = "issue"
    issue: Issue
    label: str | None = None
    """The label that was put on or taken off by this very event."""


class CommentEvent(Event):
    """`issue_comment`: also on pull requests, which `issue.is_pull_request` tells."""

    kind: Literal["comment"] = "comment"
    issue: Issue
    comment: Comment


class PullRequestEvent(Event):
    """`pull_request`."""

    kind: Literal["pull_request"] = "pull_request"
    pull_request: PullRequest


AnyEvent = IssueEvent | CommentEvent | PullRequestEvent

_STORED: TypeAdapter[AnyEvent] = TypeAdapter(Annotated[AnyEvent, Field(discriminator="kind")])


def read_stored_event(stored: dict[str, Any]) -> AnyEvent:
    """An event as `model_dump` gave it."""
    return _STORED.validate_python(stored)
