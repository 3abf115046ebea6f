"""The issue file on disk."""

import sys
from pathlib import Path

from pipelines.errors import RefusalError

STDIN = "-"


def read_issue(path: str) -> bytes:
    """The bytes of the issue file, or of standard input for `-`. Raises RefusalError."""
    if path == STDIN:
        return sys.stdin.buffer.read()
    file = Path(path)
    if not file.exists():
        raise RefusalError(f"there is no issue file {path}")
    if file.is_dir():
        raise RefusalError(f"{path} is a directory; give the file that holds the issue's text")
    try:
        return file.read_bytes()
    except OSError as error:
        raise RefusalError(f"the issue file {path} cannot be read: {error.strerror}") from error
