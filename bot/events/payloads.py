"""GitHub's webhook payloads, read tolerantly: what is not used may be missing, new or odd."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.events.types import AnyEvent, CommentEvent, IssueEvent, PullRequestEvent
from bot.github.types import Actor, Comment, Issue, PullRequest, RepoRef
from pipelines.errors import RefusalError

GHOST = Actor(login="ghost")
"""Stands for someone whose account is gone."""

MAX_FAULTS = 5


def read_event(name: str, delivery: str, payload: Mapping[str, Any]) -> AnyEvent | None:
    """The event; None for one that no behaviour is for.

    Raises RefusalError naming the fields of a payload that lacks what is needed.
    """
    action = payload.get("action")
    reader = _READERS.get((name, action)) if isinstance(action, str) else None
    if reader is None:
        return None
    try:
        return reader(name, delivery, payload)
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()[:MAX_FAULTS]
        ]
        raise RefusalError(
            f"the payload of {name}.{action} in delivery {delivery} is not what GitHub documents "
            f"({'; '.join(faults)}); look at the sender"
        ) from error


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _User(_Part):
    login: str
    id: int = 0
    type: str = "User"

    def actor(self) -> Actor:
        return Actor(login=self.login, id=self.id, type=self.type)


def _actor(user: _User | None) -> Actor:
    return user.actor() if user else GHOST


class _Label(_Part):
    name: str


class _Repository(_Part):
    full_name: str = Field(pattern=r"^[^/\s]+/[^/\s]+$")
    default_branch: str


class _Installation(_Part):
    id: int


class _Issue(_Part):
    number: int
    title: str | None
    body: str | None = None
    state: Literal["open", "closed"]
    locked: bool = False
    labels: list[_Label] = []
    user: _User | None = None
    html_url: str
    pull_request: dict[str, Any] | None = None
    created_at: datetime
    updated_at: datetime

    def issue(self, *, is_pull_request: bool = False) -> Issue:
        return Issue(
            number=self.number,
            title=self.title or "",
            body=self.body or "",
            state=self.state,
            locked=self.locked,
            labels=tuple(label.name for label in self.labels),
            author=_actor(self.user),
            html_url=self.html_url,
            is_pull_request=is_pull_request or self.pull_request is not None,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )


class _Comment(_Part):
    id: int
    body: str | None = None
    user: _User | None = None
    html_url: str
    created_at: datetime


class _HeadRepository(_Part):
    full_name: str


class _Head(_Part):
    ref: str
    sha: str
    repo: _HeadRepository | None = None


class _Base(_Part):
    ref: str


class _PullRequest(_Part):
    number: int
    title: str | None
    body: str | None = None
    state: Literal["open", "closed"]
    merged: bool | None = None
    draft: bool | None = None
    head: _Head
    base: _Base
    user: _User | None = None
    html_url: str

    def pull_request(self) -> PullRequest:
        return PullRequest(
            number=self.number,
            title=self.title or "",
            body=self.body or "",
            state=self.state,
            merged=bool(self.merged),
            draft=bool(self.draft),
            head_ref=self.head.ref,
            head_sha=self.head.sha,
            head_repo=self.head.repo.full_name if self.head.repo else None,
            base_ref=self.base.ref,
            author=_actor(self.user),
            html_url=self.html_url,
        )


class _Payload(_Part):
    action: str
    repository: _Repository
    installation: _Installation | None = None
    sender: _User | None = None

    def common(self, name: str, delivery: str) -> dict[str, Any]:
        owner, _, repository = self.repository.full_name.partition("/")
        installation = self.installation.id if self.installation else None
        return {
            "delivery": delivery,
            "name": name,
            "action": self.action,
            "repo": RepoRef(owner=owner, name=repository, installation=installation),
            "default_branch": self.repository.default_branch,
            "sender": _actor(self.sender),
        }


class _IssuePayload(_Payload):
    issue: _Issue
    label: _Label | None = None


class _LabelledPullRequestPayload(_Payload):
    pull_request: _Issue
    label: _Label | None = None


class _CommentPayload(_Payload):
    issue: _Issue
    comment: _Comment


class _PullRequestPayload(_Payload):
    pull_request: _PullRequest


def _issue_event(name: str, delivery: str, payload: Mapping[str, Any]) -> IssueEvent:
    read = _IssuePayload.model_validate(payload)
    label = read.label.name if read.label else None
    return IssueEvent(**read.common(name, delivery), issue=read.issue.issue(), label=label)


def _labelled_pull_request_event(name: str, delivery: str, payload: Mapping[str, Any]) -> IssueEvent:
    read = _LabelledPullRequestPayload.model_validate(payload)
    issue = read.pull_request.issue(is_pull_request=True)
    return IssueEvent(
        **read.common(name, delivery), issue=issue, label=read.label.name if read.label else None
    )


def _comment_event(name: str, delivery: str, payload: Mapping[str, Any]) -> CommentEvent:
    read = _CommentPayload.model_validate(payload)
    comment = Comment(
        id=read.comment.id,
        body=read.comment.body or "",
        author=_actor(read.comment.user),
        html_url=read.comment.html_url,
        created_at=read.comment.created_at,
    )
    return CommentEvent(**read.common(name, delivery), issue=read.issue.issue(), comment=comment)


def _pull_request_event(name: str, delivery: str, payload: Mapping[str, Any]) -> PullRequestEvent:
    read = _PullRequestPayload.model_validate(payload)
    return PullRequestEvent(**read.common(name, delivery), pull_request=read.pull_request.pull_request())


_Reader = Callable[[str, str, Mapping[str, Any]], AnyEvent]

_READERS: dict[tuple[str, str], _Reader] = {
    ("issues", "opened"): _issue_event,
    ("issues", "labeled"): _issue_event,
    ("issues", "closed"): _issue_event,
    ("issue_comment", "created"): _comment_event,
    ("pull_request", "labeled"): _labelled_pull_request_event,
    ("pull_request", "closed"): _pull_request_event,
}
