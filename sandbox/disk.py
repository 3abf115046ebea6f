"""Watches how much a work folder holds while a command runs."""

import asyncio
import os
from pathlib import Path

from sandbox.protocol import LimitKind

_INTERVAL_SECONDS = 0.1
_ENTRY_BYTES = 4096
_DEEPEST = 128
_BLOCK = 512
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class TooDeep(Exception):
    """Folders are nested too deeply to be counted."""


async def disk_exceeded(root: Path, limit_bytes: int) -> LimitKind:
    """Return once the folder holds more than the limit; never, if it never does.

    A folder that is over the limit already may not grow, so that a later command can still look or clean up.
    """
    allowed = limit_bytes
    try:
        allowed = max(allowed, await asyncio.to_thread(used_bytes, root))
        while True:
            await asyncio.sleep(_INTERVAL_SECONDS)
            if await asyncio.to_thread(used_bytes, root) > allowed:
                return LimitKind.DISK
    except TooDeep:
        return LimitKind.DISK


def used_bytes(root: Path) -> int:
    """Allocated bytes below root, each entry counted as at least one block of its own; links not followed.

    Raises TooDeep when folders are nested more than 128 deep.
    """
    try:
        folder = os.open(root, _FOLDER)
    except FileNotFoundError:
        return 0
    return _level(folder, depth=1)


def _level(folder: int, *, depth: int) -> int:
    used = 0
    try:
        if depth > _DEEPEST:
            raise TooDeep
        with os.scandir(folder) as entries:
            for entry in entries:
                used += _entry(folder, entry, depth=depth)
    except OSError:
        return used  # vanished or unreadable meanwhile
    finally:
        os.close(folder)
    return used


def _entry(folder: int, entry: os.DirEntry[str], *, depth: int) -> int:
    try:
        used = _ENTRY_BYTES + entry.stat(follow_symlinks=False).st_blocks * _BLOCK
        if not entry.is_dir(follow_symlinks=False):
            return used
        child = os.open(entry.name, _FOLDER, dir_fd=folder)
    except OSError:
        return _ENTRY_BYTES
    return used + _level(child, depth=depth + 1)
