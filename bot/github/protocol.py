"""What the bot asks of GitHub."""

from typing import Protocol

from bot.github.types import (
    Actor,
    BranchRule,
    Comment,
    Issue,
    PullRequest,
    PushAccess,
    Reaction,
    RepoRef,
    Repository,
    Role,
)


class GitHub(Protocol):
    """The gateway. Every method raises the errors of `bot.github.errors` and nothing else of its own.

    Reads may be repeated by an implementation, writes never: whoever wants a write again looks first whether
    it has happened.
    """

    async def identity(self) -> Actor:
        """Who we are in comments and pull requests: the App's bot, or the token's owner."""
        ...

    async def repository(self, repo: RepoRef) -> Repository:
        """The repository's facts, under its present name."""
        ...

    async def role(self, repo: RepoRef, login: str) -> Role:
        """What someone may do; `none` for someone whom the repository does not know."""
        ...

    async def missing_permissions(self, repo: RepoRef) -> tuple[str, ...]:
        """Permissions that the bot's work needs and this identity lacks, as `contents: write`."""
        ...

    async def issue(self, repo: RepoRef, number: int) -> Issue:
        """An issue or pull request as it is now."""
        ...

    async def comments(self, repo: RepoRef, number: int) -> list[Comment]:
        """All comments of an issue or pull request, the oldest first."""
        ...

    async def create_comment(self, repo: RepoRef, number: int, body: str) -> Comment:
        """Comment on an issue or pull request."""
        ...

    async def edit_comment(self, repo: RepoRef, comment: int, body: str) -> Comment:
        """Replace the text of one of our comments."""
        ...

    async def react(
        self, repo: RepoRef, number: int, reaction: Reaction, *, comment: int | None = None
    ) -> None:
        """React to an issue, or to one of its comments; reacting twice is fine."""
        ...

    async def add_label(self, repo: RepoRef, number: int, label: str) -> None:
        """Label an issue or pull request."""
        ...

    async def file(self, repo: RepoRef, path: str, *, ref: str) -> bytes | None:
        """A file's content at a branch or commit; None where there is none."""
        ...

    async def branch(self, repo: RepoRef, name: str) -> str | None:
        """The commit that a branch stands at; None where there is no such branch."""
        ...

    async def branch_rules(self, repo: RepoRef, name: str) -> tuple[BranchRule, ...]:
        """The active rules for a branch of this name, whether or not it exists."""
        ...

    async def pull_request(self, repo: RepoRef, number: int) -> PullRequest:
        """A pull request as it is now."""
        ...

    async def pull_requests(self, repo: RepoRef, *, head: str) -> list[PullRequest]:
        """Pull requests in any state from this branch of the repository itself, the latest first."""
        ...

    async def recent_pull_requests(self, repo: RepoRef) -> list[PullRequest]:
        """All open pull requests and the latest closed ones, at most a few hundred, the latest first."""
        ...

    async def create_pull_request(
        self, repo: RepoRef, *, head: str, base: str, title: str, body: str, draft: bool
    ) -> PullRequest:
        """Open a pull request from a branch of the repository itself."""
        ...

    async def edit_pull_request(
        self, repo: RepoRef, number: int, *, body: str | None = None, reopen: bool = False
    ) -> PullRequest:
        """Change the text of a pull request, or open it again."""
        ...

    async def push_access(self, repo: RepoRef) -> PushAccess:
        """Where git clones from and pushes to, with credentials that are good for this moment."""
        ...
