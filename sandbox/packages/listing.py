"""Collects requirements from hostile text: each is a name with versions and a marker, or it is refused."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version
from pydantic import BaseModel, ValidationError

from sandbox.packages.redaction import without_credentials
from sandbox.paths import printable

WANTED_GROUPS = ("test", "tests", "testing", "dev")
"""Extras and dependency groups that a repository's tests are likely to need."""
_MOST_REQUIREMENTS = 2000
_MOST_LINES = 5000
_MOST_REFUSALS = 100
_LONGEST_REQUIREMENT = 2000
_LONGEST_SHOWN = 200
_LONGEST_LOOKED_AT = 10_000
_MOST_HASHES = 1000
_HASH = re.compile(r"sha(?:256:[0-9a-f]{64}|384:[0-9a-f]{96}|512:[0-9a-f]{128})")
_MOST_WORK = 400_000
_WORK = {"=": 1, ",": 1, ".": 1, "{": 3, "\n": 1, "[": 10}
"""What tomllib takes a few microseconds for, and how often; a real lock of 4 MiB comes to some 300000."""
# tomllib's time grows with the square of a key's parts: a file of one such key would take it minutes.
_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""")

Model = TypeVar("Model", bound=BaseModel)


class Malformed(Exception):
    """A file is not what its name says; the message says why, in one line."""


@dataclass(slots=True)
class Listing:
    """What has been read so far. Adding raises Malformed beyond 2000 requirements, or 5000 tries."""

    requirements: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Each with the hashes of which its file must have one; none where the source names none."""
    refused: dict[str, str] = field(default_factory=dict)
    _tries: int = 0

    def add(self, text: str, hashes: Iterable[str] = ()) -> None:
        """Take a requirement as a person wrote it, with hashes in the form `sha256:…`; empty ones are none.

        One whose hashes are all of other kinds, or are for several versions, is refused: they would not be
        checked.
        """
        self._tries += 1
        if self._tries > _MOST_LINES:
            raise Malformed(f"names a package more than {_MOST_LINES} times")
        try:
            requirement = self._parsed(text)
        except (ValueError, RecursionError):  # InvalidRequirement, or a number of too many digits
            self.refuse(text, "not a requirement as PEP 508 defines it")
            return
        if requirement.url is not None:
            self.refuse(text, "comes from a URL, not from the package index")
            return
        named = [value for value in hashes if value]
        checkable = tuple(filter(_HASH.fullmatch, named))
        if named and not checkable:
            self.refuse(text, "has no hash that can be checked: sha256, sha384 or sha512")
        elif named and not _is_exact(requirement):
            self.refuse(text, "has hashes, which are checked only for one exact version: name==version")
        else:
            self._take({str(requirement): checkable})

    def pin(
        self, name: str, version: str, markers: Iterable[str] = (), *, hashes: Iterable[str] = ()
    ) -> None:
        """Take a package at one version of a lock, for where any of the markers holds, or always."""
        try:
            exact = f"{name}=={Version(version)}"
        except ValueError:  # InvalidVersion, or a number of too many digits
            self.refuse(f"{name} {version}", "not a version as PEP 440 defines it")
            return
        condition = " or ".join(f"({marker})" for marker in markers)
        self.add(f"{exact} ; {condition}" if condition else exact, hashes)

    def refuse(self, what: str, reason: str) -> None:
        """Name what is not taken; after a hundred the others are only counted by `...`."""
        if len(self.refused) < _MOST_REFUSALS:
            self.refused[shown(what)] = reason
        else:
            self.refused["..."] = "more was refused"

    def merge(self, other: "Listing") -> None:
        """Take all of another listing."""
        for what, reason in other.refused.items():
            self.refuse(what, reason)
        self._take(other.requirements)

    def _take(self, requirements: Mapping[str, tuple[str, ...]]) -> None:
        new = sum(one not in self.requirements for one in requirements)
        if len(self.requirements) + new > _MOST_REQUIREMENTS:
            raise Malformed(f"names more than {_MOST_REQUIREMENTS} packages")
        for one, hashes in requirements.items():
            known = self.requirements.get(one, ())
            self.requirements[one] = tuple(dict.fromkeys((*known, *hashes)))[:_MOST_HASHES]

    @staticmethod
    def _parsed(text: str) -> Requirement:
        if len(text) > _LONGEST_REQUIREMENT:
            raise InvalidRequirement("too long")
        requirement = Requirement(text)
        if str(Requirement(str(requirement))) != str(requirement):
            raise InvalidRequirement("has more than one reading")
        return requirement


def _is_exact(requirement: Requirement) -> bool:
    clauses = list(requirement.specifier)
    return len(clauses) == 1 and clauses[0].operator == "==" and not clauses[0].version.endswith("*")


def shown(text: str) -> str:
    """The text as it may stand in a message: one line, printable, without the secrets of a URL."""
    return printable(without_credentials(text[:_LONGEST_LOOKED_AT]))[:_LONGEST_SHOWN]


def read_toml(content: bytes, model: type[Model]) -> Model:
    """The file as the model describes it; raises Malformed."""
    try:
        text = content.decode()
        if sum(text.count(sign) * weight for sign, weight in _WORK.items()) > _MOST_WORK:
            raise Malformed("has too many keys, values and tables")
        if _LONG_KEY.search(text):
            raise Malformed("has a key of more than 16 parts")
        return model.model_validate(tomllib.loads(text))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise Malformed(f"is not as expected at {shown(where)}: {shown(first['msg'])}") from error
    except RecursionError as error:
        raise Malformed("is nested too deeply") from error
    except ValueError as error:  # tomllib's, a bad encoding, or a number of a million digits
        raise Malformed(f"cannot be read: {shown(str(error))}") from error
