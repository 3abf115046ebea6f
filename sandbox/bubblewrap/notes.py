"""Takes away the notes on hosts that the site hook leaves in a work folder of this machine."""

import os
from contextlib import suppress
from pathlib import Path

from sandbox.surroundings import NOTES_FILE

_MOST_BYTES = 16 * 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def take_notes(root: Path) -> bytes:
    """The start of the notes, which are removed; empty where there are none. No link is followed."""
    with suppress(OSError):
        folder = os.open(root / NOTES_FILE.parent, _FOLDER)
        try:
            return _taken(folder)
        finally:
            os.close(folder)
    return b""


def _taken(folder: int) -> bytes:
    file = os.open(NOTES_FILE.name, _FILE, dir_fd=folder)
    try:
        os.unlink(NOTES_FILE.name, dir_fd=folder)
        return os.read(file, _MOST_BYTES)
    finally:
        os.close(file)
