"""Watches how much a work folder holds while a command runs, where it has no file system of its own."""

import asyncio
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.protocol import LimitKind

_INTERVAL_SECONDS = 0.1
_ENTRY_BYTES = 4096
_DEEPEST = 128
_BLOCK = 512
_LOOK = stat.S_IRUSR | stat.S_IXUSR
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


@dataclass(slots=True)
class DiskUse:
    """What lies below a folder."""

    bytes: int = 0
    """Allocated, each entry counted as at least one block of its own."""
    too_deep: bool = False
    """Whether folders are nested more than 128 deep; what lies deeper is not counted."""


async def disk_exceeded(root: Path, limit_bytes: int) -> LimitKind:
    """Return once the folder holds more, or goes deeper, than is allowed; never, if it never does.

    A folder that is over a limit already may not grow, so that a later command can still look or clean up.
    """
    before = await asyncio.to_thread(disk_use, root)
    allowed = max(limit_bytes, before.bytes)
    while True:
        await asyncio.sleep(_INTERVAL_SECONDS)
        now = await asyncio.to_thread(disk_use, root)
        if now.bytes > allowed or (now.too_deep and not before.too_deep):
            return LimitKind.DISK


def disk_use(root: Path) -> DiskUse:
    """Look at everything below root; links are not followed."""
    use = DiskUse()
    with suppress(FileNotFoundError):
        _level(os.open(root, _FOLDER), use, depth=1)
    return use


def _level(folder: int, use: DiskUse, *, depth: int) -> None:
    try:
        if depth > _DEEPEST:
            use.too_deep = True
            return
        # Whatever vanishes meanwhile counts no more.
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                _entry(folder, entry, use, depth=depth)
    finally:
        os.close(folder)


def _entry(folder: int, entry: os.DirEntry[str], use: DiskUse, *, depth: int) -> None:
    use.bytes += _ENTRY_BYTES
    with suppress(OSError):
        use.bytes += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
        if entry.is_dir(follow_symlinks=False):
            with _open_to_us(folder, entry.name):
                _level(os.open(entry.name, _FOLDER, dir_fd=folder), use, depth=depth + 1)


@contextmanager
def _open_to_us(folder: int, name: str) -> Iterator[None]:
    """A folder of our own that a command has closed to all is open while we look at it."""
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        itself = Path(f"/proc/self/fd/{handle}")  # by descriptor: the name may mean something else by now
        status = os.fstat(handle)
        mode = stat.S_IMODE(status.st_mode)
        closed = status.st_uid == os.geteuid() != 0 and mode & _LOOK != _LOOK
        if closed:
            itself.chmod(mode | _LOOK)
        try:
            yield
        finally:
            if closed:
                itself.chmod(mode)
    finally:
        os.close(handle)
