"""Reads the exact versions from uv.lock: what the repository's own projects need, edge by edge."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

from sandbox.packages.listing import WANTED_GROUPS, Listing, Malformed, read_toml, shown
from sandbox.packages.lock_files import NOT_FROM_INDEX, LockedFile

_OWN_SOURCES = frozenset({"editable", "virtual", "directory"})
_MOST_OF_A_NAME = 100
_MOST_STEPS = 100_000
"""A lock of a thousand packages takes some ten thousand."""


class _Edge(BaseModel):
    name: str
    version: str | None = None
    marker: str | None = None
    extra: list[str] = []


class _Package(BaseModel):
    name: str
    version: str | None = None
    wheels: list[LockedFile] = []
    source: dict[str, object] = {}
    dependencies: list[_Edge] = []
    extras: dict[str, list[_Edge]] = Field(default={}, alias="optional-dependencies")
    groups: dict[str, list[_Edge]] = Field(default={}, alias="dev-dependencies")

    @property
    def is_own(self) -> bool:
        """Whether its sources lie in the repository: a project, or a member of its workspace."""
        return bool(_OWN_SOURCES.intersection(self.source))


class _Lock(BaseModel):
    package: list[_Package] = []


def read_uv(content: bytes) -> Listing:
    """Packages that the repository's projects, their test extras and test groups reach; raises Malformed."""
    walk = _Walk(read_toml(content, _Lock).package)
    for package in walk.packages:
        if package.is_own:
            walk.follow(_wanted_edges(package))
    return walk.listing()


def _wanted_edges(project: _Package) -> Iterator[_Edge]:
    yield from project.dependencies
    for group in WANTED_GROUPS:
        yield from project.extras.get(group, [])
        yield from project.groups.get(group, [])


@dataclass(slots=True)
class _Walk:
    """Follows edges; a package that is locked at several versions is told apart by the edges' versions."""

    packages: list[_Package]
    _places: dict[tuple[str, str | None], list[int]] = field(default_factory=dict)
    """By name and version, and by name and None."""
    _steps: int = 0
    _markers: dict[int, dict[str, None]] = field(default_factory=dict)
    _done: set[tuple[int, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        for place, package in enumerate(self.packages):
            anywhere = self._places.setdefault((package.name, None), [])
            anywhere.append(place)
            if len(anywhere) > _MOST_OF_A_NAME:
                raise Malformed(f"has more than {_MOST_OF_A_NAME} packages named {shown(package.name)}")
            if package.version is not None:
                self._places.setdefault((package.name, package.version), []).append(place)

    def follow(self, edges: Iterable[_Edge]) -> None:
        """Note all that these edges reach, with the edges' markers; raises Malformed past 100000 steps."""
        waiting = list(edges)
        while waiting:
            edge = waiting.pop()
            for place in self._places.get((edge.name, edge.version), []):
                self._markers.setdefault(place, {})[edge.marker or ""] = None
                self._steps += 1 + len(edge.extra)
                if self._steps > _MOST_STEPS:
                    raise Malformed(f"takes more than {_MOST_STEPS} steps to follow")
                for part in ("", *edge.extra):
                    if (place, part) not in self._done:
                        self._done.add((place, part))
                        package = self.packages[place]
                        waiting += package.extras.get(part, []) if part else package.dependencies

    def listing(self) -> Listing:
        """The packages noted, in the lock's order."""
        listing = Listing()
        for place, markers in sorted(self._markers.items()):
            package = self.packages[place]
            if package.is_own:
                continue
            if "registry" not in package.source or package.version is None:
                listing.refuse(package.name, NOT_FROM_INDEX)
            else:
                hashes = [wheel.hash for wheel in package.wheels]
                conditions = [] if "" in markers else markers
                listing.pin(package.name, package.version, conditions, hashes=hashes)
        return listing
