"""A person's git repository: read one commit, add one branch, leave everything else untouched."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bot.git import branch as git_branch
from bot.git.commit import CommitDetails, NothingToCommit, build_commit, create_commit
from bot.git.process import Git, check_version
from bot.git.snapshot import read_snapshot
from pipelines.errors import RefusalError
from pipelines.repository import RepositorySnapshot

__all__ = ["Base", "CommitDetails", "GitRepository", "NothingToCommit"]


class Base(NamedTuple):
    """The commit that new work starts from."""

    commit: str
    branch: str | None
    """Name of the branch that it was taken from; None for a detached HEAD, a tag or a bare commit."""


@dataclass(frozen=True, slots=True)
class GitRepository:
    """An existing repository with at least one commit; a bare one will do."""

    git: Git

    @classmethod
    def open(cls, path: Path, *, executable: str = "git") -> "GitRepository":
        """Find the repository at the path; raises RefusalError saying what is wrong and what to do."""
        _check_directory(path)
        git = Git(path.absolute(), executable)
        inside = git.run("rev-parse", "--is-inside-work-tree")
        if inside.exit_code != 0:
            raise _not_opened(path, inside.message)
        check_version(git.output("version").line)
        shown = "--show-toplevel" if inside.line == "true" else "--absolute-git-dir"
        repository = cls(Git(Path(git.output("rev-parse", shown).line), executable))
        repository._refuse_empty()
        return repository

    @property
    def root(self) -> Path:
        """Top of the work tree; for a bare repository, its own directory."""
        return self.git.directory

    def base(self, revision: str | None = None) -> Base:
        """The commit of HEAD, or of a branch, tag or commit that was named; raises RefusalError."""
        wanted = "HEAD" if revision is None else revision
        if not wanted.strip() or wanted.startswith("-") or "\0" in wanted:
            raise RefusalError(f"{wanted!r} is not a revision: give a branch, a tag or a commit as --base")
        commit = self.git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{wanted}^{{commit}}")
        if commit.exit_code != 0:
            raise RefusalError(
                f"{wanted!r} names no commit in {self.root}: give an existing branch, tag or commit as --base"
            )
        name = self.git.run(
            "rev-parse", "--symbolic-full-name", "--verify", "--quiet", "--end-of-options", wanted
        )
        is_branch = name.line.startswith("refs/heads/")
        return Base(commit.line, name.line.removeprefix("refs/heads/") if is_branch else None)

    def snapshot(self, commit: str) -> RepositorySnapshot:
        """Every regular file of the commit; raises RefusalError when they are too large together."""
        return read_snapshot(self.git, commit)

    def commit(self, *, base: str, branch: str, files: Mapping[str, bytes], details: CommitDetails) -> str:
        """Commit the files on top of `base` on this branch only; see `commit.create_commit`."""
        return create_commit(self.git, base=base, branch=branch, files=files, details=details)

    def build_commit(self, *, base: str, files: Mapping[str, bytes], details: CommitDetails) -> str:
        """The commit that `commit` would make, on no branch; see `commit.build_commit`."""
        return build_commit(self.git, base=base, files=files, details=details)

    def free_branch(self, wanted: str) -> str:
        """The wanted branch name, or it with -2, -3, ... where that is taken."""
        return git_branch.free_branch(self.git, wanted)

    def read_branch(self, branch: str) -> str | None:
        """The commit that a branch stands at, or None where there is no such branch."""
        return git_branch.read_branch(self.git, branch)

    def delete_branch(self, branch: str, expected: str) -> None:
        """Delete the branch if it still stands at the expected commit; raises RefusalError otherwise."""
        git_branch.delete_branch(self.git, branch, expected)

    def _refuse_empty(self) -> None:
        head = self.git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if head.exit_code != 0 and not self.git.output("rev-list", "--all", "--max-count=1").line:
            raise RefusalError(
                f"the repository in {self.root} has no commits yet: make a first commit there "
                '(`git commit --allow-empty -m "Start"` is enough) and run again'
            )


def _check_directory(path: Path) -> None:
    try:
        exists, is_directory = path.exists(), path.is_dir()
    except OSError as error:
        raise RefusalError(f"{path} cannot be read ({error.strerror}): check its permissions") from error
    if not exists:
        raise RefusalError(f"{path} does not exist: give the path of a git repository as --repo")
    if not is_directory:
        raise RefusalError(f"{path} is a file: give the directory of a git repository as --repo")


def _not_opened(path: Path, message: str) -> RefusalError:
    """Say what git's refusal means and what to do about it."""
    if "dubious ownership" in message or "unsafe repository" in message:
        advice = (
            f"{path} belongs to another user, so git does not trust it: "
            f"if you do, run `git config --global --add safe.directory {path.absolute()}`"
        )
    elif "not a git repository" in message:
        advice = f"{path} is not in a git repository: run `git init` there and make a first commit"
    elif "Permission denied" in message or "cannot change to" in message:
        advice = f"{path} cannot be read: check its permissions ({message})"
    else:
        advice = f"git cannot open {path}: {message}"
    return RefusalError(advice)
