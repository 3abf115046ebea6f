"""GitHub's JSON as our types: reads only what the bot uses and ignores the rest."""

from datetime import datetime
from typing import Any, Literal, TypeVar, get_args

from pydantic import Base64Bytes, BaseModel, TypeAdapter, ValidationError

from bot.github.answers import Answer
from bot.github.errors import Unavailable
from bot.github.types import (
    Actor,
    BranchRule,
    Comment,
    Issue,
    PullRequest,
    Repository,
    Role,
)

ReadT = TypeVar("ReadT")
_GHOST = Actor(login="ghost", id=10137)
"""Who GitHub shows for an account that is gone."""


def read(shape: type[ReadT], answer: Answer) -> ReadT:
    """An answer's data in this shape. Raises Unavailable for anything else."""
    return _validate(TypeAdapter(shape), answer.data)


def read_list(shape: type[ReadT], answer: Answer) -> list[ReadT]:
    """The same for an answer that is a list."""
    return _validate(TypeAdapter(list[shape]), answer.data)  # type: ignore[valid-type]


def _validate(adapter: TypeAdapter[ReadT], data: Any) -> ReadT:
    try:
        return adapter.validate_python(data)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"])) or "the answer"
        raise Unavailable(
            f"the server's answer is not GitHub's: {where}: {fault['msg']}; check that github.api_url is the "
            "root of its REST API (https://HOST/api/v3 for GitHub Enterprise Server)"
        ) from error


class UserReading(BaseModel):
    """A user, bot or organization."""

    login: str
    id: int
    type: str = "User"

    def actor(self) -> Actor:
        """In our words."""
        return Actor(login=self.login, id=self.id, type=self.type)


def actor_of(user: UserReading | None) -> Actor:
    """A user, or whom GitHub shows in place of one who is gone."""
    return user.actor() if user else _GHOST


class AppReading(BaseModel):
    """A GitHub App."""

    slug: str


class InstallationReading(BaseModel):
    """An App at an account."""

    id: int
    permissions: dict[str, str] = {}


class TokenReading(BaseModel):
    """A new installation token."""

    token: str
    expires_at: datetime


class RepositoryReading(BaseModel):
    """A repository."""

    full_name: str
    default_branch: str
    html_url: str
    private: bool = False
    archived: bool = False
    permissions: dict[str, bool] = {}

    def repository(self) -> Repository:
        """In our words."""
        return Repository(**self.model_dump(exclude={"permissions"}))


class RoleReading(BaseModel):
    """A collaborator's rights."""

    permission: str = "none"
    role_name: str = ""

    def role(self) -> Role:
        """GitHub's own role, or what a custom role is worth."""
        for name in (self.role_name, self.permission):
            if name in get_args(Role):
                return name  # type: ignore[return-value]
        return "none"


class _Label(BaseModel):
    name: str = ""


class IssueReading(BaseModel):
    """An issue."""

    number: int
    title: str
    body: str | None = None
    state: Literal["open", "closed"]
    locked: bool = False
    labels: list[_Label | str] = []
    user: UserReading | None = None
    html_url: str
    pull_request: dict[str, Any] | None = None
    created_at: datetime
    updated_at: datetime

    def issue(self) -> Issue:
        """In our words."""
        return Issue(
            number=self.number,
            title=self.title,
            body=self.body or "",
            state=self.state,
            locked=self.locked,
            labels=tuple(label if isinstance(label, str) else label.name for label in self.labels),
            author=actor_of(self.user),
            html_url=self.html_url,
            is_pull_request=self.pull_request is not None,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )


class CommentReading(BaseModel):
    """A comment on an issue or pull request."""

    id: int
    body: str | None = None
    user: UserReading | None = None
    html_url: str
    created_at: datetime

    def comment(self) -> Comment:
        """In our words."""
        return Comment(
            id=self.id,
            body=self.body or "",
            author=actor_of(self.user),
            html_url=self.html_url,
            created_at=self.created_at,
        )


class _RepoName(BaseModel):
    full_name: str


class _Side(BaseModel):
    ref: str
    sha: str
    repo: _RepoName | None = None


class PullRequestReading(BaseModel):
    """A pull request; lists leave `merged` out and have the time of the merge alone."""

    number: int
    title: str
    body: str | None = None
    state: Literal["open", "closed"]
    merged: bool = False
    merged_at: datetime | None = None
    draft: bool = False
    head: _Side
    base: _Side
    user: UserReading | None = None
    html_url: str

    def pull_request(self) -> PullRequest:
        """In our words."""
        return PullRequest(
            number=self.number,
            title=self.title,
            body=self.body or "",
            state=self.state,
            merged=self.merged or self.merged_at is not None,
            draft=self.draft,
            head_ref=self.head.ref,
            head_sha=self.head.sha,
            head_repo=self.head.repo.full_name if self.head.repo else None,
            base_ref=self.base.ref,
            author=actor_of(self.user),
            html_url=self.html_url,
        )


class RuleReading(BaseModel):
    """A rule that is active for a branch."""

    type: str
    parameters: dict[str, object] | None = None
    ruleset_source: str = ""
    ruleset_id: int | None = None

    def rule(self) -> BranchRule:
        """In our words; GitHub gives a ruleset's number and owner here, not its name."""
        source = f"ruleset {self.ruleset_id} of {self.ruleset_source}" if self.ruleset_id else ""
        return BranchRule(type=self.type, parameters=self.parameters or {}, source=source)


class _Object(BaseModel):
    sha: str


class RefReading(BaseModel):
    """A git reference."""

    object: _Object


class ContentReading(BaseModel):
    """A file or something else at a path; a folder is a list."""

    type: str = "file"
    sha: str = ""
    encoding: str = ""
    content: Base64Bytes = b""
