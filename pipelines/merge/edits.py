"""Applies changes to whole lines, keeping every other byte, the line ends and the final newline."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Put text with `\\n` line ends in the place of lines `start` to `end` (0-based, `end` not included)."""

    start: int
    end: int
    text: str
    blank_before: int = 0
    """At least so many blank lines between it and what is above."""
    blank_after: int = 0


def apply_edits(lines: Sequence[str], edits: Iterable[Edit]) -> str:
    """The changed text; edits must not overlap. New lines get the line end that most lines have."""
    newline = _newline(lines)
    written: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        written += lines[position : edit.start]
        position = edit.end
        if written and not written[-1].endswith(("\n", "\r")):
            written[-1] += newline
        if any(line.strip() for line in written):
            written += [newline] * (edit.blank_before - _blank_count(reversed(written)))
        written += [line + newline for line in edit.text.removesuffix("\n").split("\n")]
        rest = lines[position:]
        if any(line.strip() for line in rest):
            written += [newline] * (edit.blank_after - _blank_count(rest))
    text = "".join([*written, *lines[position:]])
    had_final_newline = not lines or lines[-1].endswith(("\n", "\r"))
    return text if had_final_newline else text.removesuffix(newline)


def _newline(lines: Sequence[str]) -> str:
    ends = [match[0] for line in lines if (match := re.search(r"[\r\n]+$", line))]
    return max(("\n", "\r\n", "\r"), key=ends.count)


def _blank_count(lines: Iterable[str]) -> int:
    count = 0
    for line in lines:
        if line.strip():
            break
        count += 1
    return count
