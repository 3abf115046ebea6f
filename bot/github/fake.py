"""GitHub in memory, for tests and demonstrations: it refuses what GitHub refuses and fails on demand."""

import asyncio
from base64 import b64encode
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from bot.github.errors import NotFound, Rejected
from bot.github.fake_repository import FakeRepository, check_body
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

BOT = Actor(login="issuewright[bot]", id=9_000_001, type="Bot")


class Write(NamedTuple):
    """One write that took place."""

    operation: str
    """The protocol's method."""
    repo: str
    number: int | None
    """Issue or pull request."""
    text: str
    """Body, label, reaction or branch."""


@dataclass
class _Fault:
    error: Exception
    done: bool


@dataclass
class FakeGitHub:
    """Keeps repositories in memory; every call gives other tasks a turn first, as a real one does."""

    actor: Actor = BOT
    repositories: dict[str, FakeRepository] = field(default_factory=dict)
    """By `RepoRef.key`; a renamed repository has several keys."""
    writes: list[Write] = field(default_factory=list)
    """What was written through the protocol, in order; nothing is ever taken out."""
    calls: list[str] = field(default_factory=list)
    """The protocol's methods in the order in which they were called."""
    _faults: defaultdict[str, list[_Fault]] = field(default_factory=lambda: defaultdict(list))

    def add_repository(
        self,
        full_name: str = "octo/repo",
        *,
        default_branch: str = "main",
        private: bool = False,
        archived: bool = False,
        remote: Path | None = None,
        push_url: str = "",
    ) -> FakeRepository:
        """A new repository; without a remote its default branch has one commit, with a README."""
        facts = Repository(
            full_name=full_name,
            default_branch=default_branch,
            html_url=f"https://github.com/{full_name}",
            private=private,
            archived=archived,
        )
        made = FakeRepository(facts, remote=remote, push_url=push_url)
        if remote is None:
            made.push(default_branch, {"README.md": b"# Read me\n"})
        self.repositories[full_name.lower()] = made
        return made

    def rename(self, old: str, new: str) -> None:
        """Give a repository another name; the old one goes on leading there."""
        found = self.repositories[old.lower()]
        found.facts = found.facts.model_copy(update={"full_name": new})
        self.repositories[new.lower()] = found

    def fail(self, operation: str, *errors: Exception, done: bool = False) -> None:
        """Let the next calls of a method raise these errors, one each; `done` does the work first."""
        self._faults[operation] += [_Fault(error, done) for error in errors]

    def written(self, operation: str) -> list[Write]:
        """The writes of one method."""
        return [write for write in self.writes if write.operation == operation]

    async def identity(self) -> Actor:
        """As `GitHub.identity`."""
        async with self._call("identity"):
            return self.actor

    async def repository(self, repo: RepoRef) -> Repository:
        """As `GitHub.repository`."""
        async with self._call("repository"):
            return self._find(repo).facts

    async def role(self, repo: RepoRef, login: str) -> Role:
        """As `GitHub.role`; anyone may read a public repository."""
        async with self._call("role"):
            found = self._find(repo)
            roles = {name.lower(): role for name, role in found.roles.items()}
            return roles.get(login.lower(), "none" if found.facts.private else "read")

    async def missing_permissions(self, repo: RepoRef) -> tuple[str, ...]:
        """As `GitHub.missing_permissions`."""
        async with self._call("missing_permissions"):
            return self._find(repo).missing

    async def issue(self, repo: RepoRef, number: int) -> Issue:
        """As `GitHub.issue`."""
        async with self._call("issue"):
            return self._find(repo).issue(number)

    async def comments(self, repo: RepoRef, number: int) -> list[Comment]:
        """As `GitHub.comments`."""
        async with self._call("comments"):
            found = self._find(repo)
            return list(found.talk[found.issue(number).number])

    async def create_comment(self, repo: RepoRef, number: int, body: str) -> Comment:
        """As `GitHub.create_comment`."""
        async with self._call("create_comment"):
            found = self._writable(repo, number)
            found.check_unlocked(number)
            if not body:
                raise Rejected(f"GitHub refuses an empty comment on #{number} in {repo.full_name}")
            check_body(body)
            comment = found.say(number, body, author=self.actor)
            self._log("create_comment", repo, number, body)
            return comment

    async def edit_comment(self, repo: RepoRef, comment: int, body: str) -> Comment:
        """As `GitHub.edit_comment`."""
        async with self._call("edit_comment"):
            found = self._writable(repo)
            number, place = found.comment(comment)
            check_body(body)
            changed = found.talk[number][place].model_copy(update={"body": body})
            found.talk[number][place] = changed
            self._log("edit_comment", repo, number, body)
            return changed

    async def react(
        self, repo: RepoRef, number: int, reaction: Reaction, *, comment: int | None = None
    ) -> None:
        """As `GitHub.react`."""
        async with self._call("react"):
            found = self._writable(repo, number)
            if comment is not None:
                found.comment(comment)
            found.reactions.add((number, comment, reaction))
            self._log("react", repo, number, reaction)

    async def add_label(self, repo: RepoRef, number: int, label: str) -> None:
        """As `GitHub.add_label`."""
        async with self._call("add_label"):
            found = self._writable(repo, number)
            labels = found.issue(number).labels
            if label.lower() not in (other.lower() for other in labels):
                found.change_issue(number, labels=(*labels, label))
            self._log("add_label", repo, number, label)

    async def file(self, repo: RepoRef, path: str, *, ref: str) -> bytes | None:
        """As `GitHub.file`."""
        async with self._call("file"):
            return self._find(repo).file(path, ref)

    async def branch(self, repo: RepoRef, name: str) -> str | None:
        """As `GitHub.branch`."""
        async with self._call("branch"):
            return self._find(repo).branch(name)

    async def branch_rules(self, repo: RepoRef, name: str) -> tuple[BranchRule, ...]:
        """As `GitHub.branch_rules`; the same for every branch."""
        async with self._call("branch_rules"):
            return self._find(repo).rules

    async def pull_request(self, repo: RepoRef, number: int) -> PullRequest:
        """As `GitHub.pull_request`."""
        async with self._call("pull_request"):
            return self._find(repo).pull(number)

    async def pull_requests(self, repo: RepoRef, *, head: str) -> list[PullRequest]:
        """As `GitHub.pull_requests`."""
        async with self._call("pull_requests"):
            return [pull for pull in self._pulls(repo) if pull.head_ref == head]

    async def recent_pull_requests(self, repo: RepoRef) -> list[PullRequest]:
        """As `GitHub.recent_pull_requests`."""
        async with self._call("recent_pull_requests"):
            return list(self._pulls(repo))

    async def create_pull_request(
        self, repo: RepoRef, *, head: str, base: str, title: str, body: str, draft: bool
    ) -> PullRequest:
        """As `GitHub.create_pull_request`."""
        async with self._call("create_pull_request"):
            made = self._writable(repo).new_pull(
                head=head, base=base, title=title, body=body, draft=draft, author=self.actor
            )
            self._log("create_pull_request", repo, made.number, head)
            return made

    async def edit_pull_request(
        self, repo: RepoRef, number: int, *, body: str | None = None, reopen: bool = False
    ) -> PullRequest:
        """As `GitHub.edit_pull_request`."""
        async with self._call("edit_pull_request"):
            found = self._writable(repo)
            pull = found.pull(number)
            check_body(body or "")
            if reopen and pull.state == "closed":
                if pull.merged:
                    raise Rejected(f"GitHub refuses to open #{number} in {repo.full_name}: it is merged")
                found.check_pair(pull.head_ref, pull.base_ref)
                found.change_pull(number, state="open")
            if body is not None:
                found.change_pull(number, body=body)
            self._log("edit_pull_request", repo, number, body or "")
            return found.pull(number)

    async def push_access(self, repo: RepoRef) -> PushAccess:
        """As `GitHub.push_access`."""
        async with self._call("push_access"):
            found = self._find(repo)
            remote = found.remote.as_uri() if found.remote else f"{found.facts.html_url}.git"
            secret = b64encode(b"x-access-token:fake-token").decode()
            return PushAccess(url=found.push_url or remote, authorization=f"Basic {secret}")

    @asynccontextmanager
    async def _call(self, operation: str) -> AsyncIterator[None]:
        self.calls.append(operation)
        await asyncio.sleep(0)
        waiting = self._faults[operation]
        fault = waiting.pop(0) if waiting else None
        if fault and not fault.done:
            raise fault.error
        yield
        if fault:
            raise fault.error

    def _find(self, repo: RepoRef) -> FakeRepository:
        if repo.key not in self.repositories:
            raise NotFound(f"there is no repository {repo.full_name}, or this identity may not see it")
        return self.repositories[repo.key]

    def _writable(self, repo: RepoRef, number: int | None = None) -> FakeRepository:
        found = self._find(repo)
        found.check_writable(number)
        return found

    def _pulls(self, repo: RepoRef) -> Sequence[PullRequest]:
        found = self._find(repo)
        return [found.pull(number) for number in sorted(found.pulls, reverse=True)]

    def _log(self, operation: str, repo: RepoRef, number: int | None, text: str) -> None:
        self.writes.append(Write(operation, repo.key, number, text))
