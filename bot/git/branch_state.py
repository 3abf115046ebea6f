"""Reads what a fetched branch holds: whose commits it has, and who last wrote which file."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bot.git.process import Git
from bot.git.publish_plan import BranchState, PathState
from bot.git.snapshot import list_tree


class BranchHistory(NamedTuple):
    """A branch since its base, as far as it was fetched."""

    state: BranchState
    foreign_commits: int
    """Commits that somebody else made."""


def read_branch_state(
    git: Git, *, base: str, head: str | None, files: Mapping[str, bytes], email: str
) -> BranchHistory:
    """The state of these files on the branch; commits by this author and committer address are ours."""
    if head is None:
        return BranchHistory(BranchState(None, {}), 0)
    new = {path: _store(git, content) for path, content in files.items()}
    at_base = _contents(git, base, files)
    at_fork = _contents(git, _fork(git, base, head), files)
    at_head = _contents(git, head, files)
    commits = _commits(git, base, head)
    own = [commit for commit, *people in commits if people == [email, email]]
    ours = _last_written(git, own, files)
    paths = {
        path: PathState(at_base.get(path), at_fork.get(path), ours.get(path), at_head.get(path), name)
        for path, name in new.items()
    }
    return BranchHistory(BranchState(head, paths), len(commits) - len(own))


def _store(git: Git, content: bytes) -> str:
    return git.output("hash-object", "-w", "--no-filters", "--stdin", stdin=content).line


def _contents(git: Git, commit: str, paths: Iterable[str]) -> dict[str, str]:
    wanted = set(paths)
    return {entry.path: entry.object_name for entry in list_tree(git, commit) if entry.path in wanted}


def _fork(git: Git, base: str, head: str) -> str:
    found = git.run("merge-base", base, head)
    return found.line if found.exit_code == 0 else base


def _commits(git: Git, base: str, head: str) -> list[list[str]]:
    """Name, author's and committer's address of each commit since the base, the latest first."""
    options = ("--topo-order", "--no-show-signature", "-z", "--format=%H%n%ae%n%ce")
    listing = git.output("log", *options, f"{base}..{head}").stdout.decode(errors="replace")
    return [record.split("\n") for record in listing.split("\0") if record]


def _last_written(git: Git, commits: Iterable[str], paths: Iterable[str]) -> dict[str, str]:
    """What the latest of these commits that touches a file made of it."""
    wanted, found = set(paths), dict[str, str]()
    for commit in commits:
        changes = git.output("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-commit-id", commit)
        fields = changes.stdout.decode(errors="backslashreplace").split("\0")
        for change, path in zip(fields[0::2], fields[1::2], strict=False):
            if path in wanted:
                found.setdefault(path, change.split()[3])
    return found
