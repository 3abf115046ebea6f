"""Puts files into a work folder that earlier commands may have filled with traps."""

import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sandbox.paths import split

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def place_files(root: Path, files: Mapping[str, bytes], *, owner: int | None) -> None:
    """Write files below root, owned by that user id if given; raises ValueError for a path that leaves it.

    No link is followed: a link in the way of a folder is an error, one in the way of a file is replaced.
    """
    placed = {path: split(path) for path in files}
    for path, parts in placed.items():
        try:
            _place(root, parts, files[path], owner)
        except (NotADirectoryError, IsADirectoryError, FileExistsError, PermissionError) as error:
            raise ValueError(f"{path!r}: {error.strerror}; something else has that name") from error


def is_folder(root: Path, parts: Sequence[str]) -> bool:
    """Whether that is a folder below root that its owner may enter, with no link on the way."""
    folder = -1
    try:
        folder = os.open(root, _FOLDER)
        for name in parts:
            parent, folder = folder, -1
            try:
                folder = os.open(name, _FOLDER | os.O_PATH, dir_fd=parent)
                if not os.fstat(folder).st_mode & stat.S_IXUSR:
                    return False
            finally:
                os.close(parent)
    except OSError:
        return False
    finally:
        if folder >= 0:
            os.close(folder)
    return True


def _place(root: Path, parts: list[str], content: bytes, owner: int | None) -> None:
    folder = os.open(root, _FOLDER)
    try:
        for name in parts[:-1]:
            child = _enter(folder, name, owner)
            os.close(folder)
            folder = child
        _write(folder, parts[-1], content, owner)
    finally:
        os.close(folder)


def _enter(folder: int, name: str, owner: int | None) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        os.mkdir(name, 0o755, dir_fd=folder)
        child = os.open(name, _FOLDER, dir_fd=folder)
        _give(child, owner)
        return child
    except OSError as error:
        # O_NOFOLLOW on a link is ELOOP; to the caller it is one more thing that is no folder.
        raise NotADirectoryError(error.errno, "a parent is not a folder") from error


def _write(folder: int, name: str, content: bytes, owner: int | None) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)
    descriptor = os.open(name, _NEW_FILE, 0o644, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        _give(descriptor, owner)


def _give(descriptor: int, owner: int | None) -> None:
    if owner is not None:
        os.fchown(descriptor, owner, owner)
