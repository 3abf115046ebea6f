"""GitHub's things in our own words; only what the bot uses."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from bot.record import Record

Role = Literal["none", "read", "triage", "write", "maintain", "admin"]
"""What someone may do in a repository: GitHub's `role_name`, custom roles as the role they are based on."""

WRITERS: frozenset[Role] = frozenset(("write", "maintain", "admin"))
"""Roles that may set the bot to work."""

Reaction = Literal["+1", "-1", "confused", "eyes", "rocket"]


class RepoRef(Record):
    """Which repository, and through which installation of the App it is reached."""

    owner: str
    name: str
    installation: int | None = None
    """None with a personal token, or where the gateway has to look it up."""

    @property
    def full_name(self) -> str:
        """`owner/name`, as GitHub spelled it."""
        return f"{self.owner}/{self.name}"

    @property
    def key(self) -> str:
        """The same for every spelling: GitHub does not tell letter case apart."""
        return self.full_name.lower()


class Actor(Record):
    """Who did something."""

    login: str
    id: int = 0
    type: str = "User"
    """`User`, `Bot`, `Organization`, ..."""


class Repository(Record):
    """A repository's own facts."""

    full_name: str
    default_branch: str
    html_url: str
    private: bool = False
    archived: bool = False


class Issue(Record):
    """An issue, or a pull request seen as one."""

    number: int
    title: str
    body: str
    state: Literal["open", "closed"]
    locked: bool
    labels: tuple[str, ...]
    author: Actor
    html_url: str
    is_pull_request: bool = False
    created_at: datetime
    updated_at: datetime


class Comment(Record):
    """A comment on an issue or pull request."""

    id: int
    body: str
    author: Actor
    html_url: str
    created_at: datetime


class PullRequest(Record):
    """A pull request."""

    number: int
    title: str
    body: str
    state: Literal["open", "closed"]
    merged: bool
    draft: bool
    head_ref: str
    head_sha: str
    head_repo: str | None
    """`owner/name` of the head; None when that repository is gone."""
    base_ref: str
    author: Actor
    html_url: str


class BranchRule(Record):
    """A rule of the repository that a branch name or a push has to meet."""

    type: str
    """GitHub's name, such as `branch_name_pattern`, `required_signatures`, `creation`."""
    parameters: dict[str, object] = Field(default_factory=dict)
    source: str = ""
    """Name of the ruleset, for messages."""


class PushAccess(Record):
    """Where and as whom git pushes; made right before use, never stored or logged."""

    url: str
    """Without credentials."""
    authorization: str = Field(repr=False)
    """Value of the Authorization header."""
