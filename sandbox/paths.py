"""Which file names may cross the sandbox boundary, and which a glob selects."""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

_LONGEST_NAME = 255
_LONGEST_PATH = 1024


def why_refused(path: str) -> str | None:
    """The reason why a path is not a plain relative POSIX path, or None when it is one."""
    if not path:
        return "empty path"
    if any(ord(char) < 32 or ord(char) == 127 for char in path):
        return "control character in the name"
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        return "name is not valid UTF-8"
    if path.startswith("/"):
        return "absolute path"
    parts = path.split("/")
    if ".." in parts:
        return "path leaves the work folder"
    if "" in parts or "." in parts:
        return "path is not in its shortest form"
    if len(encoded) > _LONGEST_PATH or any(len(part.encode()) > _LONGEST_NAME for part in parts):
        return "name too long"
    return None


def split(path: str) -> list[str]:
    """The components of a relative path; raises ValueError naming a path that may not cross."""
    reason = why_refused(path)
    if reason is not None:
        raise ValueError(f"{path!r}: {reason}; use a relative POSIX path inside the work folder")
    return path.split("/")


def selected(path: str, patterns: Sequence[str]) -> bool:
    """Whether any glob selects the path; `**` stands for any number of folders, none included."""
    parts = path.split("/")
    return any(_matches(parts, pattern.split("/")) for pattern in patterns)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(parts[start:], pattern[1:]) for start in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def is_literal(pattern: str) -> bool:
    """Whether a glob has no wildcard and so selects at most the path that it spells."""
    return not any(char in pattern for char in "*?[") and why_refused(pattern) is None


def name_part(text: str) -> str:
    """Text reduced to what may be part of any file's or container's name."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text)[:64].strip("-.")


def printable(path: str) -> str:
    """The path with every character escaped that a log line could not carry."""
    return path.encode("unicode_escape", "backslashreplace").decode("ascii")
