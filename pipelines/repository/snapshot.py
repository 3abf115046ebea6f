"""The files of one commit, held in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath


@dataclass(frozen=True, kw_only=True)
class RepositorySnapshot:
    """Every regular file of one commit, byte for byte, by its path with forward slashes."""

    files: Mapping[str, bytes]
    tree: str
    """Object name of the commit's tree."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Paths that exist but were not read (links, submodules, large files), each with the reason."""

    @cached_property
    def directories(self) -> frozenset[str]:
        """Every directory that holds a file at any depth; the root is not among them."""
        parents = (str(parent) for path in self.paths for parent in PurePosixPath(path).parents)
        return frozenset(parents) - {"."}

    @cached_property
    def paths(self) -> frozenset[str]:
        """Every path that is taken, read or skipped."""
        return frozenset(self.files) | frozenset(self.skipped)

    def text(self, path: str) -> str | None:
        """The file as text, undecodable bytes replaced; None when it was not read."""
        content = self.files.get(path)
        return None if content is None else content.decode("utf-8-sig", errors="replace")
