"""Builds a commit by plumbing alone: work tree, index, HEAD and current branch stay as they are."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.git.branch import read_branch, update_branch
from bot.git.process import Git
from bot.git.snapshot import TreeEntry, is_lfs_pointer, list_tree
from pipelines.errors import RefusalError
from pipelines.repository.paths import check_writable

_REGULAR_MODES = ("100644", "100755")


class NothingToCommit(RefusalError):
    """The files are already as they should be; a commit would be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitDetails:
    """Who says what and when; the same details over the same files give the same commit."""

    message: str
    author_name: str
    author_email: str
    when: datetime

    def environment(self) -> dict[str, str]:
        """Git's variables for author and committer; raises RefusalError for a name git cannot store."""
        if self.when.tzinfo is None:
            raise ValueError("the time of a commit needs a time zone")
        identity = {"NAME": self.author_name, "EMAIL": self.author_email}
        for value in identity.values():
            if not value.strip(" .,:;<>\"\\'") or not value.isprintable():
                raise RefusalError(f"{value!r} cannot be a commit author's name or address: set a plain one")
        identity["DATE"] = f"@{int(self.when.astimezone(UTC).timestamp())} +0000"
        return {
            f"GIT_{role}_{key}": text for role in ("AUTHOR", "COMMITTER") for key, text in identity.items()
        }


def create_commit(
    git: Git, *, base: str, branch: str, files: Mapping[str, bytes], details: CommitDetails
) -> str:
    """Commit the files on top of `base` and point the branch at it; returns the commit.

    The branch must not exist yet, or stand at `base`, or already be this very commit. Raises what
    `build_commit` does, and RefusalError for a branch that moved.
    """
    commit = build_commit(git, base=base, files=files, details=details)
    if read_branch(git, branch) != commit:
        update_branch(git, branch, commit, base=base, env=details.environment())
    return commit


def build_commit(git: Git, *, base: str, files: Mapping[str, bytes], details: CommitDetails) -> str:
    """Write the commit of these files on top of `base`, with nothing that refers to it; returns its name.

    Raises NothingToCommit, RefusalError for paths that may not be written, and InfrastructureError with
    git's message.
    """
    identity = details.environment()
    entries = {entry.path: entry for entry in list_tree(git, base)}
    check_writable(files, entries)
    with _index(git, base) as index:
        _refuse_links_and_lfs(git, files, entries, index)
        entry_options = [
            option
            for path, content in sorted(files.items())
            for option in ("--cacheinfo", _index_entry(git, path, content, entries.get(path)))
        ]
        git.output("update-index", "--add", *entry_options, env=index)
        tree = git.output("write-tree", "--missing-ok", env=index).line
    if tree == git.output("rev-parse", "--verify", f"{base}^{{tree}}").line:
        raise NothingToCommit(
            f"nothing to commit: the generated files are those of {base[:12]} already; no branch was made"
        )
    message = details.message.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace")
    return git.output(
        "commit-tree", "--no-gpg-sign", "-p", base, "-F", "-", tree, stdin=message, env=identity
    ).line


@contextmanager
def _index(git: Git, base: str) -> Iterator[dict[str, str]]:
    """Environment of an index of our own, outside the repository, that holds the base's tree."""
    with TemporaryDirectory(prefix="issuewright-index-") as folder:
        environment = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git.output("read-tree", base, env=environment)
        yield environment


def _index_entry(git: Git, path: str, content: bytes, existing: TreeEntry | None) -> str:
    """Store the content and describe it as the index wants it, with the file's old mode."""
    mode = existing.mode if existing else "100644"
    blob = git.output("hash-object", "-w", "--no-filters", "--stdin", stdin=content).line
    return f"{mode},{blob},{path}"


def _refuse_links_and_lfs(
    git: Git, files: Iterable[str], entries: Mapping[str, TreeEntry], index: Mapping[str, str]
) -> None:
    paths = sorted(files)
    for path in paths:
        entry = entries.get(path)
        if entry is None:
            continue
        if entry.mode not in _REGULAR_MODES:
            raise RefusalError(f"cannot write {path!r}: it is a symbolic link or a submodule, not a file")
        if is_lfs_pointer(git.output("cat-file", "blob", entry.object_name).stdout):
            raise RefusalError(f"cannot write {path!r}: Git LFS keeps its content; change it by hand")
    listing = b"".join(path.encode() + b"\0" for path in paths)
    fields = git.output("check-attr", "--cached", "-z", "--stdin", "filter", stdin=listing, env=index).stdout
    values = fields.split(b"\0")
    for raw_path, value in zip(values[0::3], values[2::3], strict=False):
        if value == b"lfs":
            raise RefusalError(
                f"cannot write {raw_path.decode()!r}: .gitattributes gives it to Git LFS; choose another path"
            )
