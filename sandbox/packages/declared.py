"""Reads what a project declares to need: pyproject.toml (PEP 621 and 735) and setup.cfg."""

import configparser
from collections.abc import Iterator, Mapping, Sequence

from packaging.utils import canonicalize_name
from pydantic import BaseModel, Field

from sandbox.packages.listing import WANTED_GROUPS, Listing, Malformed, read_toml, shown

_DEEPEST = 20
_LONGEST_LINE = 2000
"""configparser's time grows with the square of a line's blanks."""


class _Included(BaseModel):
    group: str = Field(alias="include-group")


_Group = list[str | _Included]


class _Project(BaseModel):
    name: str = ""
    dependencies: list[str] = []
    extras: dict[str, list[str]] = Field(default={}, alias="optional-dependencies")


class _Pyproject(BaseModel):
    project: _Project = _Project()
    groups: dict[str, _Group] = Field(default={}, alias="dependency-groups")
    tool: dict[str, object] = {}


def read_pyproject(content: bytes) -> Listing:
    """Dependencies of the project, its test extras and its test groups; raises Malformed."""
    pyproject = read_toml(content, _Pyproject)
    listing = Listing()
    own = f"{pyproject.project.name}["
    for text in _texts(pyproject):
        if not text.replace(" ", "").startswith(own):  # an extra that refers to others of the same project
            listing.add(text)
    if "poetry" in pyproject.tool and not pyproject.project.dependencies:
        listing.refuse("[tool.poetry]", "Poetry's own declarations are not read; commit poetry.lock")
    return listing


def _texts(pyproject: _Pyproject) -> Iterator[str]:
    yield from pyproject.project.dependencies
    for name in WANTED_GROUPS:
        yield from pyproject.project.extras.get(name, [])
    groups = {str(canonicalize_name(name)): group for name, group in pyproject.groups.items()}
    for name in WANTED_GROUPS:
        yield from _group(groups, name, above=())


def _group(groups: Mapping[str, _Group], name: str, *, above: Sequence[str]) -> Iterator[str]:
    if name in above or len(above) > _DEEPEST:
        raise Malformed(f"dependency group {shown(name)} includes itself or is nested too deeply")
    for entry in groups.get(name, []):
        if isinstance(entry, str):
            yield entry
        else:
            yield from _group(groups, canonicalize_name(entry.group), above=(*above, name))


def read_setup_cfg(content: bytes) -> Listing:
    """`install_requires` and the test extras of setuptools; raises Malformed."""
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    if any(len(line) > _LONGEST_LINE for line in content.splitlines()):
        raise Malformed(f"has a line of more than {_LONGEST_LINE} bytes")
    try:
        parser.read_string(content.decode())
    except (configparser.Error, UnicodeDecodeError) as error:
        raise Malformed(f"cannot be read: {shown(str(error))}") from error
    listing = Listing()
    fields = [("options", "install_requires"), ("options", "tests_require")]
    fields += [("options.extras_require", name) for name in WANTED_GROUPS]
    for section, key in fields:
        for line in parser.get(section, key, fallback="").replace(";\n", "\n").splitlines():
            if line.strip() and not line.strip().startswith("#"):
                listing.add(line.strip())
    return listing
