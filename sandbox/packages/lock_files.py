"""Reads the exact versions from lock files: pylock.toml (PEP 751), poetry.lock and pdm.lock."""

from collections.abc import Iterable, Mapping

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from pydantic import BaseModel

from sandbox.packages.listing import WANTED_GROUPS, Listing, read_toml

NOT_FROM_INDEX = "comes from a URL, a repository or a path, not from the package index"
_POETRY_GROUPS = frozenset({"main", *WANTED_GROUPS})
_PDM_GROUPS = frozenset({"default", *WANTED_GROUPS})
_POETRY_INDEXES = (None, "legacy", "pypi")


class _PylockedFile(BaseModel):
    hashes: dict[str, str] = {}


class _Pylocked(BaseModel):
    name: str
    wheels: list[_PylockedFile] = []
    version: str | None = None
    marker: str | None = None
    vcs: object = None
    directory: object = None
    archive: object = None


class _Pylock(BaseModel):
    packages: list[_Pylocked] = []


def read_pylock(content: bytes) -> Listing:
    """Packages of pylock.toml for the default and the test groups; raises Malformed."""
    listing = Listing()
    for package in read_toml(content, _Pylock).packages:
        marker = _without_groups(package.marker)
        if package.vcs or package.directory or package.archive or package.version is None:
            listing.refuse(package.name, NOT_FROM_INDEX)
        elif marker is not None:
            named = (each.hashes.items() for each in package.wheels)
            hashes = [f"{algorithm}:{digest}" for each in named for algorithm, digest in each]
            listing.pin(package.name, package.version, [marker] if marker else [], hashes=hashes)
    return listing


def _without_groups(marker: str | None) -> str | None:
    """The marker with groups and extras decided here and now, which no installer does; None: not wanted."""
    if marker is None or not ("extras" in marker or "dependency_groups" in marker):
        return marker or ""
    wanted = frozenset(WANTED_GROUPS)
    try:
        chosen = Marker(marker).evaluate({"extras": wanted, "dependency_groups": wanted}, context="lock_file")
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, RecursionError):
        return marker  # refused as a requirement, with its text
    return "" if chosen else None


class _Source(BaseModel):
    type: str | None = None


class LockedFile(BaseModel):
    """A file of a package, as several kinds of lock name it."""

    hash: str = ""


class _PoetryLocked(BaseModel):
    name: str
    files: list[LockedFile] = []
    version: str
    optional: bool = False
    category: str = "main"
    groups: list[str] | None = None
    markers: str | dict[str, str] | None = None
    source: _Source = _Source()


class _PoetryLock(BaseModel):
    package: list[_PoetryLocked] = []


def read_poetry(content: bytes) -> Listing:
    """Packages of poetry.lock in the main and the test groups, none that only an extra needs."""
    listing = Listing()
    for package in read_toml(content, _PoetryLock).package:
        if package.optional or not _POETRY_GROUPS.intersection(package.groups or [package.category]):
            continue
        if package.source.type not in _POETRY_INDEXES:
            listing.refuse(package.name, NOT_FROM_INDEX)
        else:
            hashes = [file.hash for file in package.files]
            listing.pin(package.name, package.version, _poetry_markers(package.markers), hashes=hashes)
    return listing


def _poetry_markers(markers: str | Mapping[str, str] | None) -> Iterable[str]:
    if isinstance(markers, str):
        return [markers]
    return [marker for group, marker in (markers or {}).items() if group in _POETRY_GROUPS]


class _PdmLocked(BaseModel):
    name: str
    files: list[LockedFile] = []
    version: str
    groups: list[str] = ["default"]
    marker: str | None = None
    git: object = None
    url: object = None
    path: object = None


class _PdmLock(BaseModel):
    package: list[_PdmLocked] = []


def read_pdm(content: bytes) -> Listing:
    """Packages of pdm.lock in the default and the test groups."""
    listing = Listing()
    for package in read_toml(content, _PdmLock).package:
        if not _PDM_GROUPS.intersection(package.groups):
            continue
        if package.git or package.url or package.path:
            listing.refuse(package.name, NOT_FROM_INDEX)
        else:
            markers, hashes = filter(None, [package.marker]), [file.hash for file in package.files]
            listing.pin(package.name, package.version, markers, hashes=hashes)
    return listing
