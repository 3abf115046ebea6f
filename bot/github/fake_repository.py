"""One repository of `FakeGitHub`: its things, and what GitHub refuses about them."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bot.git.process import Git
from bot.github.errors import Forbidden, NotFound, Rejected
from bot.github.types import Actor, BranchRule, Comment, Issue, PullRequest, Repository, Role

BODY_LIMIT = 65_536
"""Characters that GitHub takes in the body of an issue, comment or pull request."""


@dataclass
class FakeRepository:
    """The things of one repository; tests set them as a person or git would."""

    facts: Repository
    remote: Path | None = None
    """A bare git repository that branches and files are read from; None keeps them in memory."""
    push_url: str = ""
    """What `push_access` names; empty is the remote's own path."""
    roles: dict[str, Role] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    rules: tuple[BranchRule, ...] = ()
    issues: dict[int, Issue] = field(default_factory=dict)
    pulls: dict[int, PullRequest] = field(default_factory=dict)
    talk: dict[int, list[Comment]] = field(default_factory=dict)
    reactions: set[tuple[int, int | None, str]] = field(default_factory=set)
    """Issue, comment or None, reaction."""
    branches: dict[str, str] = field(default_factory=dict)
    trees: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """The files of each commit, without a remote."""

    def open_issue(
        self,
        title: str,
        body: str = "",
        *,
        author: str = "alice",
        labels: tuple[str, ...] = (),
        locked: bool = False,
    ) -> Issue:
        """A person opens an issue."""
        number = len(self.issues) + 1
        at = datetime.now(UTC)
        self.issues[number] = Issue(
            number=number,
            title=title,
            body=body,
            state="open",
            locked=locked,
            labels=labels,
            author=_person(author),
            html_url=f"{self.facts.html_url}/issues/{number}",
            created_at=at,
            updated_at=at,
        )
        self.talk[number] = []
        return self.issues[number]

    def change_issue(self, number: int, **changes: object) -> Issue:
        """Change an issue's fields, such as `state="closed"`."""
        changed = self.issue(number).model_copy(update={**changes, "updated_at": datetime.now(UTC)})
        self.issues[number] = changed
        return changed

    def say(self, number: int, body: str, *, author: Actor | str = "alice") -> Comment:
        """Someone comments."""
        self.issue(number)
        ident = 1000 + sum(map(len, self.talk.values()))
        comment = Comment(
            id=ident,
            body=body,
            author=_person(author) if isinstance(author, str) else author,
            html_url=f"{self.facts.html_url}/issues/{number}#issuecomment-{ident}",
            created_at=datetime.now(UTC),
        )
        self.talk[number].append(comment)
        return comment

    def push(self, branch: str, files: Mapping[str, bytes]) -> str:
        """Put a commit with these files on top of a branch kept in memory; returns its name."""
        tree = {**self.trees.get(self.branches.get(branch, ""), {}), **files}
        parent = self.branches.get(branch, "")
        text = f"{parent} {len(self.trees)} {sorted(tree.items())!r}"
        commit = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        self.trees[commit] = tree
        self.branches[branch] = commit
        return commit

    def change_pull(self, number: int, **changes: object) -> PullRequest:
        """Change a pull request's fields, such as `state="closed"`; its issue follows."""
        changed = self.pull(number).model_copy(update=changes)
        self.pulls[number] = changed
        self.change_issue(number, state=changed.state, title=changed.title, body=changed.body)
        return changed

    def issue(self, number: int) -> Issue:
        """Raises NotFound."""
        if number not in self.issues:
            raise NotFound(f"there is no issue #{number} in {self.facts.full_name}; check the number")
        return self.issues[number]

    def pull(self, number: int) -> PullRequest:
        """A pull request whose head is where its branch stands now. Raises NotFound."""
        if number not in self.pulls:
            raise NotFound(f"there is no pull request #{number} in {self.facts.full_name}; check the number")
        pull = self.pulls[number]
        head = self.branch(pull.head_ref) if pull.state == "open" else None
        return pull.model_copy(update={"head_sha": head or pull.head_sha})

    def comment(self, ident: int) -> tuple[int, int]:
        """The issue of a comment and its place there. Raises NotFound."""
        for number, comments in self.talk.items():
            for place, comment in enumerate(comments):
                if comment.id == ident:
                    return number, place
        raise NotFound(f"there is no comment {ident} in {self.facts.full_name}; it was deleted")

    def branch(self, name: str) -> str | None:
        """The commit of a branch."""
        if self.remote is None:
            return self.branches.get(name)
        found = Git(self.remote).run("rev-parse", "--verify", "--quiet", f"refs/heads/{name}^{{commit}}")
        return found.line if found.exit_code == 0 else None

    def file(self, path: str, ref: str) -> bytes | None:
        """A file at a branch or commit."""
        commit = self.branch(ref) or ref
        if self.remote is None:
            return self.trees.get(commit, {}).get(path)
        shown = Git(self.remote).run("cat-file", "blob", f"{commit}:{path}")
        return shown.stdout if shown.exit_code == 0 else None

    def new_pull(
        self, *, head: str, base: str, title: str, body: str, draft: bool, author: Actor
    ) -> PullRequest:
        """Open a pull request, unless GitHub would refuse it."""
        check_body(body)
        self.check_pair(head, base)
        issue = self.open_issue(title, body)
        url = f"{self.facts.html_url}/pull/{issue.number}"
        self.change_issue(issue.number, author=author, html_url=url, is_pull_request=True)
        self.pulls[issue.number] = PullRequest(
            number=issue.number,
            title=title,
            body=body,
            state="open",
            merged=False,
            draft=draft,
            head_ref=head,
            head_sha=self.branch(head) or "",
            head_repo=self.facts.full_name,
            base_ref=base,
            author=author,
            html_url=url,
        )
        return self.pulls[issue.number]

    def check_pair(self, head: str, base: str) -> None:
        """Raise Rejected where GitHub refuses a pull request from `head` to `base`."""
        where = f"a pull request from {head} to {base} in {self.facts.full_name}"
        for name, commit in (("head", self.branch(head)), ("base", self.branch(base))):
            if commit is None:
                raise Rejected(f"GitHub refuses {where}: {name} is invalid; push the branch first")
        if self._same(head, base):
            raise Rejected(f"GitHub refuses {where}: no commits between {base} and {head}")
        for pull in self.pulls.values():
            if (pull.head_ref, pull.base_ref, pull.state) == (head, base, "open"):
                raise Rejected(f"GitHub refuses {where}: a pull request already exists, #{pull.number}")

    def check_writable(self, number: int | None = None) -> None:
        """Raise Forbidden for an archived repository, NotFound for an issue that is not there."""
        if self.facts.archived:
            raise Forbidden(f"{self.facts.full_name} is archived, so it is read-only; unarchive it first")
        if number is not None:
            self.issue(number)

    def check_unlocked(self, number: int) -> None:
        """Raise Forbidden for a locked issue."""
        if self.issue(number).locked:
            raise Forbidden(f"#{number} in {self.facts.full_name} is locked; unlock its conversation first")

    def _same(self, head: str, base: str) -> bool:
        if self.remote is None:
            return self.branches[head] == self.branches[base]
        ahead = Git(self.remote).output("rev-list", "--count", f"refs/heads/{base}..refs/heads/{head}")
        return ahead.line == "0"


def check_body(body: str) -> None:
    """Raise Rejected for a body that is too long for GitHub."""
    if len(body) > BODY_LIMIT:
        raise Rejected(f"GitHub refuses a body of {len(body)} characters: the most is {BODY_LIMIT}")


def _person(login: str) -> Actor:
    return Actor(login=login, id=int.from_bytes(login.lower().encode()[:4], "big"), type="User")
