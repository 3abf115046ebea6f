"""Makes a freshly installed folder fit for boxes: regular files and folders only, readable by all."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from sandbox.paths import printable

_FOLDER_MODE = 0o755
_FILE_MODE = 0o644
_EXECUTABLE_MODE = 0o755


def clean(folder: Path) -> dict[str, str]:
    """Remove links, special files and programs for this machine; returns what was removed, with the reason.

    Set-user-id and all other special bits go too. The folder must not be written to meanwhile.
    """
    # Their first line names the interpreter of this machine, which no box has.
    shutil.rmtree(folder / "bin", ignore_errors=True)
    (folder / ".lock").unlink(missing_ok=True)
    removed = {}
    folder.chmod(_FOLDER_MODE)
    for entry in _entries(folder):
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            os.chmod(entry.path, _FOLDER_MODE)  # noqa: PTH101 - a DirEntry
        elif stat.S_ISREG(mode):
            os.chmod(entry.path, _EXECUTABLE_MODE if mode & stat.S_IXUSR else _FILE_MODE)  # noqa: PTH101
        else:
            os.unlink(entry.path)  # noqa: PTH108
            removed[printable(entry.path.removeprefix(f"{folder}/"))] = "not a regular file"
    return removed


def _entries(root: Path) -> Iterator[os.DirEntry[str]]:
    """All entries below, each folder before what it holds; no link is followed."""
    waiting = [str(root)]
    while waiting:
        with os.scandir(waiting.pop()) as listing:
            for entry in listing:
                yield entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
