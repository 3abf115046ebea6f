"""Reads requirement files as pip writes them; options that choose where to connect to are refused."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sandbox.packages.listing import Listing, Malformed

_NAMES = re.compile(
    r"(?:[\w.-]+[-_.])?requirements(?:[-_.][\w.-]+)?\.(?:txt|in)|requirements/[\w.-]+\.txt|tests?/requirements\.txt"
)
_FOR_OTHER_THINGS = re.compile(r"(?:^|[-_./])(?:docs?|lint(?:ing)?|release|publish|deploy)(?=[-_./])")
# What follows a blank is looked for behind it: repeated blanks before it would cost time by their square.
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_INCLUDE = re.compile(r"(?:-r\s*|--requirement(?:\s+|\s*=\s*))(?P<path>.+)")
_CONSTRAINT = re.compile(r"-c\b|--constraint\b")
_EDITABLE = re.compile(r"-e\b|--editable\b")
_PER_REQUIREMENT = re.compile(r"(?<=\s)--(?:hash|config-settings|global-option)(?=[\s=]|$)")
_HASH = re.compile(r"(?<!\S)--hash(?:\s*=\s*|\s+|$)(\S*)")
_ITSELF = re.compile(r"(?:(?:-e\s*|--editable(?:\s+|\s*=\s*)))?(?:\.|file:\.)/?(?:\[[\w\s,.-]*\])?")
_LOCATION = re.compile(r"\s*(?:[\w+.-]+:|\.{0,2}/|\.)")
_MOST_FILES = 50
_MOST_BYTES = 4 * 1024 * 1024
_MOST_LINES = 10_000
_TOO_MUCH = f"more than {_MOST_FILES} files, {_MOST_BYTES} bytes or {_MOST_LINES} lines; the rest is not read"


def top_files(paths: Iterable[str]) -> list[str]:
    """The requirement files to start from, sorted; `.in` only where no `.txt` was made from it."""
    found = {path for path in paths if _NAMES.fullmatch(path) and not _FOR_OTHER_THINGS.search(path)}
    return sorted(path for path in found if not (path.endswith(".in") and f"{path[:-3]}.txt" in found))


def read_requirements(files: Mapping[str, bytes]) -> dict[str, Listing]:
    """What each requirement file asks for: the top files and what they include, each read once.

    At most 50 files, of 4 MiB and 10000 lines together; the first one beyond that is refused by
    name, the rest is not read.
    """
    found: dict[str, Listing] = {}
    waiting = top_files(files)[::-1]
    size = lines = 0
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        size += len(files[path])
        reading = _Reading(files, path)
        if len(found) < _MOST_FILES and size <= _MOST_BYTES:
            lines += reading.read(_MOST_LINES - lines)
            waiting += [name for name in reading.included if name not in found]
        if len(found) == _MOST_FILES or size > _MOST_BYTES or lines > _MOST_LINES:
            reading.listing = Listing()
            reading.listing.refuse(path, _TOO_MUCH)
            waiting.clear()
        found[path] = reading.listing
    return found


@dataclass(slots=True)
class _Reading:
    """One file; a file that cannot be understood is refused as a whole."""

    files: Mapping[str, bytes]
    path: str
    listing: Listing = field(default_factory=Listing)
    included: dict[str, None] = field(default_factory=dict)

    def read(self, most: int) -> int:
        """Read at most so many lines; returns how many there are, or one more than allowed."""
        count = 0
        try:
            for count, line in enumerate(_lines(self.files[self.path].decode(errors="replace")), start=1):
                if count > most:
                    break
                self._take(line)
        except Malformed as error:
            self.listing = Listing()
            self.listing.refuse(self.path, str(error))
        return count

    def _take(self, line: str) -> None:
        if _ITSELF.fullmatch(line):
            return  # what the repository declares is read elsewhere; itself it is never installed
        included = _INCLUDE.fullmatch(line)
        if included:
            self._include(line, included["path"])
            return
        reason = _why_refused(line)
        if reason is None:
            requirement, options = _parted(line)
            self.listing.add(requirement, _hashes(options))
        else:
            self.listing.refuse(line, reason)

    def _include(self, line: str, target: str) -> None:
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), target.strip()))
        if inside in self.files:
            self.included[inside] = None
        else:
            self.listing.refuse(line, "names no file of the repository that can be read")


def _parted(line: str) -> tuple[str, str]:
    """A requirement and its options."""
    options = _PER_REQUIREMENT.search(line)
    start = options.start() if options else len(line)
    return line[:start].strip(), line[start:]


def _hashes(options: str) -> list[str]:
    """The values of `--hash`; never an empty one, which would count as none."""
    return [value.strip("'\"") or "missing" for value in _HASH.findall(options)]


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
