"""What people see happen on GitHub, as differences between two looks."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from bot.demo.rest import Rest

_HIDDEN = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class Seen:
    """The visible state of an issue and of what belongs to it."""

    comments: Mapping[int, str] = field(default_factory=dict)
    branches: Mapping[str, str] = field(default_factory=dict)
    """Name to commit."""
    pull_requests: Mapping[int, "SeenPullRequest"] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """Whether the bot is done: only a Job that is over can be started again."""
        return any("`/issuewright retry`" in text for text in self.comments.values())


class SeenPullRequest(NamedTuple):
    """A pull request as its page shows it."""

    title: str
    branch: str
    draft: bool
    text: str


class News(NamedTuple):
    """One thing that happened."""

    what: str
    text: str = ""
    """What is written there, Markdown."""


def look(rest: Rest, repository: str, issue: int, before: Seen | None = None) -> Seen:
    """Look at GitHub; at branches and pull requests only when the comments are others than before."""
    root = f"/repos/{repository}"
    comments = {
        one["id"]: visible(one["body"]) for one in rest.get(f"{root}/issues/{issue}/comments?per_page=100")
    }
    if before is not None and comments == before.comments:
        return before
    branches = {one["name"]: one["commit"]["sha"] for one in rest.get(f"{root}/branches?per_page=100")}
    pulls = {
        one["number"]: SeenPullRequest(
            one["title"], one["head"]["ref"], one["draft"], visible(one["body"] or "")
        )
        for one in rest.get(f"{root}/pulls?state=all&per_page=100")
    }
    return Seen(comments, branches, pulls)


def news(before: Seen, after: Seen) -> Iterator[News]:
    """What is different, in the order in which it is made."""
    for name, commit in after.branches.items():
        if before.branches.get(name) != commit:
            yield News(f"branch {name} is at {commit[:12]}")
    for number, pull in after.pull_requests.items():
        if before.pull_requests.get(number) != pull:
            kind = "draft pull request" if pull.draft else "pull request"
            yield News(f"{kind} #{number} from {pull.branch}: {pull.title}", pull.text)
    for number, text in after.comments.items():
        old = before.comments.get(number)
        if old is None:
            yield News("the bot comments", text)
        elif change := _change(old, text):
            yield News("the bot edits its comment", change)


def visible(markdown: str) -> str:
    """Markdown without its hidden comments."""
    return _HIDDEN.sub("", markdown).strip()


def _change(old: str, new: str) -> str:
    """The whole text once its headline is another one; before, its new lines, without the figures."""
    before, after = old.splitlines(), new.splitlines()
    if before[:1] != after[:1]:
        return new
    return "\n\n".join(line for line in after if line not in before and not line.startswith("|"))
