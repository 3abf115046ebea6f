"""Which paths may be written: inside the repository, outside git's own files, on every file system."""

import re
import unicodedata
from collections.abc import Iterable

from pipelines.errors import RefusalError

_SHORT_GIT = re.compile(r"git~\d+")
_INVISIBLE = dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF])
_MAX_NAME_BYTES = 255


def unsafe_reason(path: str) -> str | None:
    """Why this path must not be read or written below a repository's root; None when it may."""
    parts = path.split("/")
    if path.startswith("/") or re.match(r"[A-Za-z]:", path):
        return "it is absolute; give a path inside the repository"
    if ".." in parts:
        return "it leaves the repository with '..'"
    if "" in parts or "." in parts:
        return "it has an empty or '.' part"
    if any(_is_git_directory(part) for part in parts):
        return "it lies in git's own directory"
    return None


def unwritable_reason(path: str) -> str | None:
    """Why no generated file may be written there; None when one may."""
    reason = unsafe_reason(path)
    if reason:
        return reason
    if "\\" in path or any(unicodedata.category(char) in ("Cc", "Cs") for char in path):
        return "it has a backslash or a control character, which not every system can store"
    if any(len(part.encode()) > _MAX_NAME_BYTES for part in path.split("/")):
        return f"it has a name of more than {_MAX_NAME_BYTES} bytes"
    if _folded(path).startswith(".github/workflows/"):
        return "generated files never go into .github/workflows"
    return None


def check_writable(paths: Iterable[str], existing: Iterable[str]) -> None:
    """Raise RefusalError when a path is unwritable or clashes with an existing file, or with another path.

    A clash is a file where a directory is needed, a directory where the file should go, or a name that
    differs only in case or Unicode form. An existing file of exactly this name is no clash.
    """
    taken = _TakenNames(existing)
    for path in paths:
        reason = unwritable_reason(path) or taken.clash(path)
        if reason:
            raise RefusalError(f"cannot write {path!r}: {reason}")
        taken.add(path)


class _TakenNames:
    """Files and directories that exist, findable by a name that a forgiving file system takes as equal."""

    def __init__(self, files: Iterable[str]) -> None:
        self.files: set[str] = set()
        self.spellings: dict[str, set[str]] = {}
        for path in files:
            self.add(path)

    def add(self, path: str) -> None:
        self.files.add(path)
        for name in (path, *_parents(path)):
            self.spellings.setdefault(_folded(name), set()).add(name)

    def clash(self, path: str) -> str | None:
        if path in self.files:
            return None
        for name in (*_parents(path), path):
            if name in self.files:
                return f"{name!r} is a file, not a directory"
            spellings = self.spellings.get(_folded(name), set())
            if spellings and name not in spellings:
                return f"{min(spellings)!r} exists and differs only in letter case or Unicode form"
        return "a directory of that name exists" if path in self.spellings.get(_folded(path), ()) else None


def _parents(path: str) -> tuple[str, ...]:
    """Every directory above the path, outermost first."""
    return tuple(path[: match.start()] for match in re.finditer("/", path))


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _is_git_directory(part: str) -> bool:
    """Whether some file system takes this name for `.git`: NTFS streams and short names, HFS+ ignorables."""
    name = part.translate(_INVISIBLE).casefold().split(":")[0].rstrip(". ")
    return name == ".git" or _SHORT_GIT.fullmatch(name) is not None
