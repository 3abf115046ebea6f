"""Reads uv's complaint: which requirement is to blame, and what a person should be told."""

import re
from collections.abc import Iterable

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from sandbox.packages.redaction import without_credentials

_LONGEST = 1000
_NAME = re.compile(r"[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)*")
_CAUSE = re.compile(r"cause: (?P<text>.+?)(?:\n\n|\Z)", re.DOTALL)
_CONCLUSION = re.compile(r",? we can conclude that your requirements are unsatisfiable\.?")
_CHATTER = re.compile(r"^(?:Using|Resolved|Prepared|Downloading|Downloaded|warning:).*\n?", re.MULTILINE)
_STEP = re.compile(
    r"\s*(?:"
    r"(?:Resolved|Prepared|Installed) .+"
    r"|Downloading \S+ \((?:(?:[2-9]\d|\d{3,})(?:\.\d+)?MiB|[\d.]+GiB)\)"  # from 20 MiB on
    r")"
)


def blamed(complaint: str, requirements: Iterable[str]) -> list[str]:
    """The requirements with the name that the cause mentions first; empty when it mentions none."""
    named: dict[str, list[str]] = {}
    for text in requirements:
        named.setdefault(canonicalize_name(Requirement(text).name), []).append(text)
    cause = _CAUSE.search(complaint)
    for word in _NAME.findall(cause["text"] if cause else complaint):
        if canonicalize_name(word) in named:
            return named[canonicalize_name(word)]
    return []


def reason(complaint: str) -> str:
    """Why a requirement cannot be met, in one line."""
    cause = _CAUSE.search(complaint)
    text = _CONCLUSION.sub("", cause["text"]) if cause else _CHATTER.sub("", complaint)
    return _tidy(" ".join(text.split()))


def diagnosis(complaint: str) -> str:
    """What uv said when it failed as a whole, without its chatter and without credentials."""
    return _tidy("; ".join(line.strip() for line in _CHATTER.sub("", complaint).splitlines() if line.strip()))


def step(line: str) -> str | None:
    """The line if it tells a total or the start of a download of 20 MiB or more, else None."""
    return _tidy(line.strip()) if _STEP.fullmatch(line) else None


def _tidy(text: str) -> str:
    printable = "".join(char if char.isprintable() else " " for char in without_credentials(text))
    return printable[:_LONGEST] or "uv said nothing"
