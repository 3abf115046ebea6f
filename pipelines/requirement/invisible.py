"""Characters that show nothing: zero-width, bidirectional and other controls."""

import re
from collections import Counter

_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_ZERO_WIDTH = "\u00ad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"
_TAGS = "\U000e0000-\U000e007f\U000e0100-\U000e01ef"
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_SEPARATORS = "\u2028\u2029"
_JOINERS = "\u200c\u200d"
_INVISIBLE = re.compile(f"[{_BIDI}{_ZERO_WIDTH}{_TAGS}{_CONTROLS}{_SEPARATORS}{_JOINERS}]")
_KINDS = (
    (re.compile(f"[{_BIDI}]"), "bidirectional control"),
    (re.compile(f"[{_TAGS}]"), "invisible tag character"),
    (re.compile(f"[{_CONTROLS}{_SEPARATORS}]"), "control character"),
)


def strip_invisible(text: str) -> tuple[str, Counter[str]]:
    """Remove invisible characters; joiners between non-ASCII characters stay (emoji, Persian, Hindi)."""
    dropped: Counter[str] = Counter()
    kept: list[str] = []
    position = 0
    for match in _INVISIBLE.finditer(text):
        char, at = match.group(), match.start()
        kept.append(text[position:at])
        position = match.end()
        if char in _JOINERS and _joins(text, at):
            kept.append(char)
            continue
        if char in _SEPARATORS:
            kept.append(" ")
        dropped[_kind(char)] += 1
    kept.append(text[position:])
    return "".join(kept), dropped


def _joins(text: str, at: int) -> bool:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return before > "\x7f" and after > "\x7f" and not _INVISIBLE.match(before) and not _INVISIBLE.match(after)


def _kind(char: str) -> str:
    return next((name for pattern, name in _KINDS if pattern.match(char)), "zero-width character")
