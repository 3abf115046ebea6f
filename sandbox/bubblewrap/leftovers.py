"""Folders of boxes: locked while their owner lives, so that what a killed owner left can be told apart."""

import fcntl
import os
import subprocess
import tempfile
from pathlib import Path

from sandbox.bubblewrap import work_disk
from sandbox.paths import name_part
from sandbox.surroundings import HOST_ENV

PREFIX = "issuewright-box-"
_LOCK = "owner.lock"


def new_folder(job: str = "") -> tuple[Path, int]:
    """A private folder for a box, named for whom it serves, and the descriptor that holds its lock.

    The lock lasts until the descriptor is closed or this process dies.
    """
    if Path(tempfile.gettempdir()) == Path.cwd() and "TMPDIR" not in os.environ:
        raise OSError("no temporary folder can be written, and the current one is not for boxes")
    root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{name_part(job)}-" if job else PREFIX))
    unlocked = root / f"{_LOCK}.new"
    lock = os.open(unlocked, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    # Under its final name the lock is never seen open.
    unlocked.rename(root / _LOCK)
    return root, lock


def sweep() -> int:
    """Remove our user's folders whose owner is dead; returns how many."""
    return sum(_removed(root) for root in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))


def _removed(root: Path) -> bool:
    try:
        if root.is_symlink() or root.stat().st_uid != os.geteuid():
            return False
        lock = os.open(root / _LOCK, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    remove_folder(root)
    return True


def remove_folder(root: Path) -> None:
    """Remove a box's folder with the disk in it, however deep or unreadable a command made it."""
    for folder in root.iterdir():
        work_disk.unmount(folder)
    # rmtree recurses and so fails on very deep trees; these two do not.
    for argv in (["chmod", "-R", "u+rwX", "--", str(root)], ["rm", "-rf", "--", str(root)]):
        subprocess.run(argv, env=dict(HOST_ENV), capture_output=True, check=False)
