"""A work folder with a file system of its own, so that the kernel itself caps bytes and files. For root."""

import os
import subprocess
from pathlib import Path

from sandbox.surroundings import inodes_for


def mount(folder: Path, *, size: int, owner: int) -> bool:
    """Cover a folder with an empty disk in memory; False where this process may not mount."""
    options = f"size={size},nr_inodes={inodes_for(size)},mode=0755,uid={owner},gid={owner},nosuid,nodev"
    command = ["mount", "-t", "tmpfs", "-o", options, "issuewright", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def unmount(folder: Path) -> None:
    """Take the disk away with all that is on it; nothing happens where there is none."""
    if os.path.ismount(folder):
        # Lazy: a process of somebody else may be looking at it.
        command = ["umount", "--lazy", str(folder)]
        subprocess.run(command, capture_output=True, check=False)


def is_full(folder: Path) -> bool:
    """Whether neither a block nor a file more has room."""
    found = os.statvfs(folder)
    return found.f_bavail == 0 or found.f_favail == 0
