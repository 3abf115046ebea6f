"""Files that come back from a box: regular files only, capped, everything else refused by name."""

import os
import stat
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from sandbox.paths import printable, selected, why_refused
from sandbox.protocol import MIB, Collected

_SPECIAL_BITS = stat.S_ISUID | stat.S_ISGID


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How much may come back in one collection."""

    files: int = 2000
    file_bytes: int = 8 * MIB
    total_bytes: int = 64 * MIB
    depth: int = 32
    refusals: int = 200
    """After this many refused names the others are only counted by `...`."""


def collect_folder(root: Path, patterns: Sequence[str], caps: Caps | None = None) -> Collected:
    """Collect from a folder that may be hostile; no link in it is ever followed."""
    tally = _Tally(patterns, caps or Caps())
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _collect_level(descriptor, "", tally, depth=1)
    finally:
        os.close(descriptor)
    return tally.collected()


def collect_tar(stream: IO[bytes], patterns: Sequence[str], caps: Caps | None = None) -> Collected:
    """Collect from a tar stream that may be hostile, member by member; what follows damage is lost."""
    tally = _Tally(patterns, caps or Caps())
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                _collect_member(archive, member, tally)
    except tarfile.TarError:
        tally.refused["..."] = "the archive is damaged or cut short"
    return tally.collected()


@dataclass(slots=True)
class _Tally:
    patterns: Sequence[str]
    caps: Caps
    files: dict[str, bytes] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    total: int = 0

    def refuse(self, path: str, reason: str) -> None:
        if len(self.refused) < self.caps.refusals:
            self.refused[printable(path)] = reason
        else:
            self.refused["..."] = "more names refused"

    def admits(self, path: str, mode: int, size: int) -> bool:
        """Whether a regular file may be read; a selected one that may not is refused by name."""
        reason = why_refused(path)
        if reason is None:
            if not selected(path, self.patterns):
                return False
            reason = self._over_cap(path, mode, size)
        if reason is not None:
            self.refuse(path, reason)
        return reason is None

    def _over_cap(self, path: str, mode: int, size: int) -> str | None:
        if mode & _SPECIAL_BITS:
            return "set-user-id or set-group-id file"
        if path in self.files:
            return "name appears twice"
        if path.count("/") >= self.caps.depth:
            return f"more than {self.caps.depth} folders deep"
        if len(self.files) >= self.caps.files:
            return f"more than {self.caps.files} files"
        if size > self.caps.file_bytes:
            return f"larger than {self.caps.file_bytes} bytes"
        if self.total + size > self.caps.total_bytes:
            return f"all files together exceed {self.caps.total_bytes} bytes"
        return None

    def add(self, path: str, content: bytes) -> None:
        self.files[path] = content
        self.total += len(content)

    def collected(self) -> Collected:
        return Collected(files=self.files, refused=self.refused)


def _collect_member(archive: tarfile.TarFile, member: tarfile.TarInfo, tally: _Tally) -> None:
    path = member.name.removeprefix("./")
    if member.isdir():
        return
    if member.type not in tarfile.REGULAR_TYPES or member.sparse is not None:
        tally.refuse(path, "link" if member.issym() or member.islnk() else "not a regular file")
    elif tally.admits(path, member.mode, member.size):
        content = archive.extractfile(member)
        tally.add(path, content.read() if content else b"")


def _collect_level(folder: int, prefix: str, tally: _Tally, *, depth: int) -> None:
    with os.scandir(folder) as listing:
        entries = sorted(listing, key=lambda entry: entry.name)
    for entry in entries:
        path = prefix + entry.name
        try:
            if entry.is_dir(follow_symlinks=False):
                _descend(folder, entry.name, path, tally, depth=depth)
            else:
                _collect_file(folder, entry, path, tally)
        except OSError as error:
            tally.refuse(path, f"unreadable: {error.strerror}")


def _descend(folder: int, name: str, path: str, tally: _Tally, *, depth: int) -> None:
    if depth >= tally.caps.depth:
        tally.refuse(path, f"more than {tally.caps.depth} folders deep")
        return
    child = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        _collect_level(child, path + "/", tally, depth=depth + 1)
    finally:
        os.close(child)


def _collect_file(folder: int, entry: os.DirEntry[str], path: str, tally: _Tally) -> None:
    if not entry.is_file(follow_symlinks=False):
        tally.refuse(path, "link" if entry.is_symlink() else "not a regular file")
        return
    descriptor = os.open(entry.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            tally.refuse(path, "not a regular file")
        elif tally.admits(path, found.st_mode, found.st_size):
            content = stream.read(tally.caps.file_bytes + 1)
            if len(content) > tally.caps.file_bytes:
                tally.refuse(path, f"larger than {tally.caps.file_bytes} bytes")
            else:
                tally.add(path, content)
