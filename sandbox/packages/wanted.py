"""Which third-party packages a repository wants, read from its files; nothing of it is run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from sandbox.packages.declared import read_pyproject, read_setup_cfg
from sandbox.packages.listing import Listing, Malformed
from sandbox.packages.lock_files import read_pdm, read_poetry, read_pylock
from sandbox.packages.requirement_files import read_requirements, top_files
from sandbox.packages.uv_lock import read_uv

_LARGEST_FILE = 4 * 1024 * 1024
_LOCKS = {"uv.lock": read_uv, "pylock.toml": read_pylock, "poetry.lock": read_poetry, "pdm.lock": read_pdm}
_DECLARATIONS = {"pyproject.toml": read_pyproject, "setup.cfg": read_setup_cfg}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Packages to install, each a requirement by name; never a URL, a path or an option."""

    source: str
    """The files that named a package, comma-separated; empty when none does."""
    requirements: tuple[str, ...] = ()
    hashes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By requirement: its file must have one of these; a requirement that is not here may have any."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """What was not taken, with the reason."""
    locked: bool = False
    """The requirements come from a lock: they are complete, and nothing is to be added to them."""


def wanted_packages(files: Mapping[str, bytes]) -> Wanted:
    """What the repository with these files (POSIX path to content) and its tests need.

    The first lock that names a package decides alone. Without one, what requirement files and the project's
    declaration name counts together.
    """
    readable, listing = {}, Listing()
    for path, content in files.items():
        if len(content) <= _LARGEST_FILE:
            readable[path] = content
        elif path in _LOCKS or path in _DECLARATIONS or top_files([path]):
            listing.refuse(path, f"larger than {_LARGEST_FILE} bytes")
    for path, read in _LOCKS.items():
        if path in readable and _took(listing, path, partial(read, readable[path])):
            return _wanted([path], listing, locked=True)
    found = read_requirements(readable)
    sources = [path for path in found if _took(listing, path, partial(found.__getitem__, path))]
    sources += [
        path
        for path, read in _DECLARATIONS.items()
        if path in readable and _took(listing, path, partial(read, readable[path]))
    ]
    return _wanted(sources, listing, locked=False)


def _took(listing: Listing, path: str, read: Callable[[], Listing]) -> bool:
    """Whether the file named a package; one that cannot be understood is refused as a whole."""
    try:
        found = read()
        listing.merge(found)
    except Malformed as error:
        listing.refuse(path, str(error))
        return False
    return bool(found.requirements)


def _wanted(sources: list[str], listing: Listing, *, locked: bool) -> Wanted:
    return Wanted(
        source=", ".join(sources),
        requirements=tuple(listing.requirements),
        hashes={text: hashes for text, hashes in listing.requirements.items() if hashes},
        refused=listing.refused,
        locked=locked,
    )
