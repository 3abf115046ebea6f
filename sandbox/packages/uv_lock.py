"""Reads the exact versions from uv.lock: what the repository's own projects need, edge by edge."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

from sandbox.packages.listing import WANTED_GROUPS, Listing, read_toml
from sandbox.packages.lock_files import NOT_FROM_INDEX, LockedFile

_OWN_SOURCES = frozenset({"editable", "virtual", "directory"})


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
    _by_name: dict[str, list[int]] = field(default_factory=dict)
    _markers: dict[int, dict[str, None]] = field(default_factory=dict)
    _done: set[tuple[int, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        for place, package in enumerate(self.packages):
            self._by_name.setdefault(package.name, []).append(place)

    def follow(self, edges: Iterable[_Edge]) -> None:
        """Note all that these edges reach, with the markers of the edges that lead to it."""
        waiting = list(edges)
        while waiting:
            edge = waiting.pop()
            for place in self._targets(edge):
                self._markers.setdefault(place, {})[edge.marker or ""] = None
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

    def _targets(self, edge: _Edge) -> Iterator[int]:
        for place in self._by_name.get(edge.name, []):
            if edge.version is None or edge.version == self.packages[place].version:
                yield place
