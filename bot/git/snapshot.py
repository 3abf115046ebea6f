"""Reads a commit's files into memory without touching the work tree."""

from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile
from typing import NamedTuple

from bot.git.process import Git
from pipelines.errors import InfrastructureError, RefusalError
from pipelines.repository import RepositorySnapshot
from pipelines.repository.paths import unsafe_reason

MIB = 1024 * 1024
MAX_FILE_BYTES = 5 * MIB
MAX_TOTAL_BYTES = 200 * MIB
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_LFS_POINTER_MAX_BYTES = 1024


class TreeEntry(NamedTuple):
    """One file of a commit's tree."""

    mode: str
    kind: str
    object_name: str
    size: int | None
    """In bytes; None for what has no content here."""
    raw_path: bytes

    @property
    def path(self) -> str:
        """The path as text; bytes that are not UTF-8 are shown as escapes."""
        return self.raw_path.decode(errors="backslashreplace")


def list_tree(git: Git, commit: str, *, sizes: bool = False) -> list[TreeEntry]:
    """Every entry of the commit's tree at any depth; sizes need the contents to be there."""
    options = ("-r", "-z", "--full-tree", *(["-l"] if sizes else []))
    result = git.run("ls-tree", *options, commit)
    if "promisor remote" in result.message:
        raise RefusalError(
            f"{git.directory} is a partial clone that lacks files of {commit[:12]}: "
            "run `git fetch --refetch --no-filter` there and run again"
        )
    git.check(result, "ls-tree")
    return [_entry(record) for record in result.stdout.split(b"\0") if record]


def read_snapshot(
    git: Git, commit: str, *, max_file_bytes: int = MAX_FILE_BYTES, max_total_bytes: int = MAX_TOTAL_BYTES
) -> RepositorySnapshot:
    """Regular files byte for byte; every other entry is listed as skipped with its reason.

    Raises RefusalError when the files together are larger than `max_total_bytes`.
    """
    tree = git.output("rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}").line
    wanted: list[TreeEntry] = []
    skipped: dict[str, str] = {}
    for entry in list_tree(git, commit, sizes=True):
        reason = _skip_reason(entry, max_file_bytes)
        if reason:
            skipped[entry.path] = reason
        else:
            wanted.append(entry)
    total = sum(entry.size or 0 for entry in wanted)
    if total > max_total_bytes:
        raise RefusalError(
            f"the repository in {git.directory} holds {total / MIB:.0f} MiB of files, more than the "
            f"{max_total_bytes / MIB:.0f} MiB that can be read: point --repo at a smaller repository, "
            "or move large data out of git"
        )
    files = {entry.path: content for entry, content in zip(wanted, _contents(git, wanted), strict=True)}
    pointers = [path for path, content in files.items() if is_lfs_pointer(content)]
    for path in pointers:
        del files[path]
        skipped[path] = "a Git LFS pointer; its content is not in the repository"
    return RepositorySnapshot(files=files, tree=tree, skipped=skipped)


def is_lfs_pointer(content: bytes) -> bool:
    """Whether this is the small text that Git LFS commits in place of a large file."""
    return len(content) <= _LFS_POINTER_MAX_BYTES and content.startswith(_LFS_POINTER)


def _entry(record: bytes) -> TreeEntry:
    attributes, _, raw_path = record.partition(b"\t")
    mode, kind, object_name, *size = attributes.decode().split()
    return TreeEntry(mode, kind, object_name, int(size[0]) if size and size[0].isdigit() else None, raw_path)


def _skip_reason(entry: TreeEntry, max_file_bytes: int) -> str | None:
    if entry.kind == "commit":
        return "a submodule"
    if entry.mode == "120000":
        return "a symbolic link"
    try:
        path = entry.raw_path.decode()
    except UnicodeDecodeError:
        return "its name is not UTF-8"
    reason = unsafe_reason(path)
    if reason:
        return f"its path is unsafe: {reason}"
    if entry.size is not None and entry.size > max_file_bytes:
        return f"{entry.size / MIB:.1f} MiB, more than the {max_file_bytes / MIB:.0f} MiB read per file"
    return None


def _contents(git: Git, entries: Sequence[TreeEntry]) -> Iterator[bytes]:
    """The entries' contents in order, from one process.

    The requests come from a file, not a pipe: git can read them all while we have read nothing yet.
    """
    with TemporaryFile() as requests:
        requests.writelines(f"{entry.object_name}\n".encode() for entry in entries)
        requests.seek(0)
        with git.stream("cat-file", "--batch", "--buffer", stdin=requests) as answers:
            for entry in entries:
                header = answers.readline().split()
                content = answers.read((entry.size or 0) + 1)
                if len(header) != 3 or int(header[2]) != entry.size or len(content) != entry.size + 1:
                    raise _damaged(git, entry)
                yield content[:-1]


def _damaged(git: Git, entry: TreeEntry) -> InfrastructureError:
    return InfrastructureError(
        f"git could not read {entry.path!r} in {git.directory}: it is missing or damaged; "
        "run `git fsck` there and repair or clone the repository again"
    )
