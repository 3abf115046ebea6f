"""Reads requirement files as pip writes them; options that choose where to connect to are refused."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sandbox.packages.listing import Listing

_NAMES = re.compile(
    r"(?:[\w.-]+[-_.])?requirements(?:[-_.][\w.-]+)?\.(?:txt|in)|requirements/[\w.-]+\.txt|tests?/requirements\.txt"
)
_FOR_OTHER_THINGS = re.compile(r"(?:^|[-_./])(?:docs?|lint(?:ing)?|release|publish|deploy)(?=[-_./])")
# What follows a blank is looked for behind it: repeated blanks before it would cost time by their square.
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_INCLUDE = re.compile(r"(?:-r\s*|--requirement(?:\s+|\s*=\s*))(?P<path>.+)")
_CONSTRAINT = re.compile(r"-c\b|--constraint\b")
_EDITABLE = re.compile(r"-e\b|--editable\b")
_PER_REQUIREMENT = re.compile(r"(?<=\s)--(?:hash|config-settings|global-option)\b.*")
_ITSELF = re.compile(r"(?:(?:-e\s*|--editable(?:\s+|\s*=\s*)))?(?:\.|file:\.)/?(?:\[[\w\s,.-]*\])?")
_LOCATION = re.compile(r"\s*(?:[\w+.-]+:|\.{0,2}/|\.)")
_MOST_FILES = 50


def top_files(paths: Iterable[str]) -> list[str]:
    """The requirement files to start from, sorted; `.in` only where no `.txt` was made from it."""
    found = {path for path in paths if _NAMES.fullmatch(path) and not _FOR_OTHER_THINGS.search(path)}
    return sorted(path for path in found if not (path.endswith(".in") and f"{path[:-3]}.txt" in found))


def read_requirements(files: Mapping[str, bytes], path: str) -> Listing:
    """What a file asks for, with the files that it includes."""
    reading = _Reading(files)
    reading.read(path)
    return reading.listing


@dataclass(slots=True)
class _Reading:
    files: Mapping[str, bytes]
    listing: Listing = field(default_factory=Listing)
    _read: set[str] = field(default_factory=set)

    def read(self, first: str) -> None:
        waiting = [first]
        while waiting:
            path = waiting.pop()
            if path in self._read:
                continue
            self._read.add(path)
            if len(self._read) > _MOST_FILES:
                self.listing.refuse(path, f"more than {_MOST_FILES} files are included")
                return
            for line in _lines(self.files[path].decode(errors="replace")):
                included = _INCLUDE.fullmatch(line)
                if included:
                    waiting += self._included(path, line, included["path"])
                else:
                    self._take(line)

    def _included(self, path: str, line: str, target: str) -> list[str]:
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(path), target.strip()))
        if inside in self.files:
            return [inside]
        self.listing.refuse(line, "names no file of the repository that can be read")
        return []

    def _take(self, line: str) -> None:
        if _ITSELF.fullmatch(line):
            return  # what the repository declares is read elsewhere; itself it is never installed
        reason = _why_refused(line)
        if reason is None:
            self.listing.add(_PER_REQUIREMENT.sub("", line).strip())
        else:
            self.listing.refuse(line, reason)


def _why_refused(line: str) -> str | None:
    if _CONSTRAINT.match(line):
        return "constraint files are not used"
    if _EDITABLE.match(line) or _LOCATION.match(line):
        return "comes from a URL, a repository or a path, not from the package index"
    if line.startswith("-"):
        return "a repository may not set options of the installer"
    return None


def _lines(text: str) -> Iterator[str]:
    """Logical lines: joined where they end in a backslash, without comments and blanks."""
    for line in re.sub(r"\\\r?\n", " ", text).splitlines():
        bare = _COMMENT.sub("", line).strip()
        if bare:
            yield bare
