"""Find where a bracketed expression or a value ends inside running text, within a fixed effort."""

import re
from collections.abc import Iterator

_MAX_SPAN = 4000
_MAX_CUTS = 24
_PAIRS = {")": "(", "]": "[", "}": "{"}
_BRACKET_OR_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[()\[\]{}]")
_VALUE_TOKEN = re.compile(
    r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|“[^”\n]*”|[()\[\]{}]|\n|[ \t\u3000]+|"
    r"[,;:.!?、。，；：！？」』）—–]|`|#|//|="
)


class Effort:
    """A fixed number of steps for one issue, so that a hostile text cannot cost more than a long one."""

    def __init__(self, steps: int = 60_000) -> None:
        self._left = steps

    def spend(self, steps: int) -> bool:
        """Use some steps; False once they are used up."""
        self._left -= steps
        return self._left >= 0

    @property
    def exhausted(self) -> bool:
        """True when some of the text was left unread for its cost."""
        return self._left < 0


def closing(text: str, opening: int, effort: Effort) -> int | None:
    """The index just after the bracket that closes the one at `opening`, or None."""
    stack: list[str] = []
    for match in _BRACKET_OR_STRING.finditer(text, opening, opening + _MAX_SPAN):
        mark = match.group()
        if not effort.spend(1):
            return None
        if mark in "([{":
            stack.append(mark)
        elif mark in _PAIRS:
            if not stack or stack.pop() != _PAIRS[mark]:
                return None
            if not stack:
                return match.end()
    return None


def value_cuts(text: str, start: int, effort: Effort) -> Iterator[int]:
    """Places where a value that starts at `start` may end, the farthest first."""
    cuts: list[int] = []
    stack: list[str] = []
    end = min(len(text), start + _MAX_SPAN)
    for match in _VALUE_TOKEN.finditer(text, start, end):
        mark = match.group()
        if not effort.spend(1):
            return
        if mark in "([{":
            stack.append(mark)
        elif mark in _PAIRS:
            if not stack:
                cuts.append(match.start())
                break
            if stack.pop() != _PAIRS[mark]:
                break
        elif stack or mark[0] in "\"'“":
            continue
        else:
            cuts.append(match.start())
            if mark in "\n`#":
                break
    else:
        if not stack:
            cuts.append(end)
    yield from reversed([*cuts[: _MAX_CUTS - 1], *cuts[-1:]] if len(cuts) > _MAX_CUTS else cuts)
