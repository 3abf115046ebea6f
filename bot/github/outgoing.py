"""The last thing that every text passes on its way to GitHub."""

import asyncio
import re
from collections.abc import Callable

from bot.github.protocol import GitHub
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
from bot.speech.capping import COMMENT_LIMIT, cap
from bot.speech.harmless import inert
from bot.speech.markers import MARKER, is_ours

TITLE_LIMIT = 256
"""Characters of a title that GitHub takes."""

_CLOSING = re.compile(r"\n\nCloses #([0-9]+)\n\n<!-- issuewright:issue=\1 -->\s*\Z")
"""The end of our pull requests, which is meant to act."""


def outgoing_text(text: str, redact: Callable[[str], str]) -> str:
    """A comment or pull request body as it may be sent: marked as ours, without secrets, and short enough.

    It mentions nobody, and closes nothing but the issue that a pull request of ours is for.
    """
    clean = redact(text)
    closing = _CLOSING.search(clean)
    main, keep = (clean[: closing.start()], closing.group().strip()) if closing else (clean, "")
    # Cut before, so that a huge text is not read to its end, and after, as it may have grown.
    main = inert(cap(main, COMMENT_LIMIT))
    return cap(main if is_ours(main) else f"{MARKER}\n{main}", COMMENT_LIMIT, keep=keep)


def outgoing_title(title: str, redact: Callable[[str], str]) -> str:
    """A title on one line, otherwise verbatim."""
    line = " ".join(redact(title).split())
    return line if len(line) <= TITLE_LIMIT else f"{line[: TITLE_LIMIT - 1]}…"


class Outgoing:
    """A `GitHub` whose every text goes through `outgoing_text`; all else goes through as it is."""

    def __init__(self, github: GitHub, redact: Callable[[str], str]) -> None:
        self._github = github
        self._redact = redact

    async def create_comment(self, repo: RepoRef, number: int, body: str) -> Comment:
        """As `GitHub.create_comment`."""
        return await self._github.create_comment(repo, number, await self._text(body))

    async def edit_comment(self, repo: RepoRef, comment: int, body: str) -> Comment:
        """As `GitHub.edit_comment`."""
        return await self._github.edit_comment(repo, comment, await self._text(body))

    async def create_pull_request(
        self, repo: RepoRef, *, head: str, base: str, title: str, body: str, draft: bool
    ) -> PullRequest:
        """As `GitHub.create_pull_request`."""
        return await self._github.create_pull_request(
            repo,
            head=head,
            base=base,
            title=outgoing_title(title, self._redact),
            body=await self._text(body),
            draft=draft,
        )

    async def edit_pull_request(
        self, repo: RepoRef, number: int, *, body: str | None = None, reopen: bool = False
    ) -> PullRequest:
        """As `GitHub.edit_pull_request`."""
        text = None if body is None else await self._text(body)
        return await self._github.edit_pull_request(repo, number, body=text, reopen=reopen)

    async def react(
        self, repo: RepoRef, number: int, reaction: Reaction, *, comment: int | None = None
    ) -> None:
        """As `GitHub.react`."""
        await self._github.react(repo, number, reaction, comment=comment)

    async def add_label(self, repo: RepoRef, number: int, label: str) -> None:
        """As `GitHub.add_label`."""
        await self._github.add_label(repo, number, label)

    async def identity(self) -> Actor:
        """As `GitHub.identity`."""
        return await self._github.identity()

    async def repository(self, repo: RepoRef) -> Repository:
        """As `GitHub.repository`."""
        return await self._github.repository(repo)

    async def role(self, repo: RepoRef, login: str) -> Role:
        """As `GitHub.role`."""
        return await self._github.role(repo, login)

    async def missing_permissions(self, repo: RepoRef) -> tuple[str, ...]:
        """As `GitHub.missing_permissions`."""
        return await self._github.missing_permissions(repo)

    async def issue(self, repo: RepoRef, number: int) -> Issue:
        """As `GitHub.issue`."""
        return await self._github.issue(repo, number)

    async def comments(self, repo: RepoRef, number: int) -> list[Comment]:
        """As `GitHub.comments`."""
        return await self._github.comments(repo, number)

    async def file(self, repo: RepoRef, path: str, *, ref: str) -> bytes | None:
        """As `GitHub.file`."""
        return await self._github.file(repo, path, ref=ref)

    async def branch(self, repo: RepoRef, name: str) -> str | None:
        """As `GitHub.branch`."""
        return await self._github.branch(repo, name)

    async def branch_rules(self, repo: RepoRef, name: str) -> tuple[BranchRule, ...]:
        """As `GitHub.branch_rules`."""
        return await self._github.branch_rules(repo, name)

    async def pull_request(self, repo: RepoRef, number: int) -> PullRequest:
        """As `GitHub.pull_request`."""
        return await self._github.pull_request(repo, number)

    async def pull_requests(self, repo: RepoRef, *, head: str) -> list[PullRequest]:
        """As `GitHub.pull_requests`."""
        return await self._github.pull_requests(repo, head=head)

    async def recent_pull_requests(self, repo: RepoRef) -> list[PullRequest]:
        """As `GitHub.recent_pull_requests`."""
        return await self._github.recent_pull_requests(repo)

    async def push_access(self, repo: RepoRef) -> PushAccess:
        """As `GitHub.push_access`."""
        return await self._github.push_access(repo)

    async def _text(self, text: str) -> str:
        """Off the event loop: a long body takes a noticeable while."""
        return await asyncio.to_thread(outgoing_text, text, self._redact)
