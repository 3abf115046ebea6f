"""Examples written as a call and its result: `f(x) -> y`, `f(x) == y`, "`f(x)` should return `y`"."""

import re

from pipelines.requirement.doubt import TODAY, doubt
from pipelines.requirement.expressions import exception_name, parse_expression, pythonic, unparse
from pipelines.requirement.reading import Passage, Reading, Region
from pipelines.requirement.scanning import Effort, closing
from pipelines.requirement.types import Example
from pipelines.requirement.values import Value, read_value
from pipelines.requirement.wording import OBLIGATION, Joint, joints

_CALL = re.compile(r"(?<![A-Za-z0-9_.])(?:[A-Za-z_][A-Za-z0-9_]*\.){0,6}[A-Za-z_][A-Za-z0-9_]*\(")
_TRAILER = re.compile(r"\.[A-Za-z_][A-Za-z0-9_]*(?=[(\[.`\s]|$)|[(\[]")
_DEFINITION = re.compile(r"\b(?:def|class)\s+$")
_SIGNATURE_LIKE = re.compile(r"[A-Za-z_.]+\(\s*(?:\*{0,2}[A-Za-z_]\w*\s*(?:,\s*)?)*\)")
_RECURRENCE = re.compile(
    r"(?<![\w.])([A-Za-z_]\w{0,60})\([ \t]*[A-Za-z_][\w, \t]{0,60}\)[ \t]*=(?!=)[^\n,;]{0,200}?\b\1\("
)
_INEXACT = re.compile(r"[`*]{0,3}[ \t]*(?:≈|≃|≅|~=?|!=|≠|<>)[ \t]*\S")


def read_calls(region: Region, reading: Reading) -> None:
    """Add every call with a result after it."""
    _Calls(region, reading).read()


class _Calls:
    """Walks a region's calls and looks at what stands around each."""

    def __init__(self, region: Region, reading: Reading) -> None:
        self._region = region
        self._reading = reading
        self._source = Passage.of(region, reading.claimed)
        self._text = self._source.text
        self._defined = frozenset(match.group(1) for match in _RECURRENCE.finditer(self._text))
        """Functions that this text defines by `f(n) = ... f(n - 1)`: their equations are mathematics."""

    def read(self) -> None:
        position = 0
        while (match := _CALL.search(self._text, position)) and not self._reading.effort.exhausted:
            position = match.end()
            end = self._call_end(match.end() - 1)
            if end is None:
                continue
            is_definition = _DEFINITION.search(self._text, max(0, match.start() - 12), match.start())
            position = end if is_definition else self._read_result(match.start(), end) or position

    def _call_end(self, opening: int) -> int | None:
        end = closing(self._text, opening, self._reading.effort)
        while end is not None and (trailer := _TRAILER.match(self._text, end)):
            is_name = trailer.group()[0] == "."
            following = trailer.end() if is_name else closing(self._text, end, self._reading.effort)
            if following is None:
                break
            end = following
        return end

    def _read_result(self, start: int, end: int) -> int | None:
        """Try every reading of what follows the call; the end of the example, or None."""
        problem = "its result is not exact" if _INEXACT.match(self._text, end) else ""
        for joint in joints(self._text, end):
            value = read_value(self._text, joint, self._reading)
            if value is not None:
                self._add(start, end, joint, value)
                return value.end
            if joint.kind in ("arrow", "equals") or joint.raises is True:
                problem = "its result is not a Python value"
        expression = self._text[start:end]
        if problem and not _SIGNATURE_LIKE.fullmatch(expression) and parse_expression(expression) is not None:
            line_end = self._text.find("\n", end)
            text = self._text[start : line_end if line_end >= 0 else len(self._text)]
            self._reading.unread(self._source.line_at(start), text, problem)
        return None

    def _add(self, start: int, end: int, joint: Joint, value: Value) -> None:
        line, text = self._source.line_at(start), self._text[start : value.end].strip()
        expression = pythonic(self._text[start:end])
        problem = doubt(self._text, start, joint, value.end)
        if expression is None:
            problem = "the call is not Python"
        elif self._is_mathematics(expression, joint, end):
            problem = "it is part of a recurrence"
        if problem == TODAY and (wanted := self._corrected(value.end)) is not None:
            self._reading.add(_example(expression or "", wanted, line, text), self._region)
        elif problem or expression is None:
            self._reading.unread(line, text, problem)
        else:
            self._reading.claimed.update(range(line, self._source.line_at(value.end - 1) + 1))
            setup = statements_before(self._region, line, self._reading.effort)
            self._reading.add(_example(expression, value, line, text), self._region, setup)

    def _is_mathematics(self, expression: str, joint: Joint, end: int) -> bool:
        is_single = joint.kind == "equals" and self._text[end : joint.end].count("=") == 1
        return is_single and expression.partition("(")[0] in self._defined

    def _corrected(self, position: int) -> Value | None:
        """The second result in "returns 8 but should return 9"."""
        line_end = self._text.find("\n", position)
        for wish in OBLIGATION.finditer(self._text, position, line_end if line_end >= 0 else len(self._text)):
            for joint in joints(self._text, wish.start()):
                value = read_value(self._text, joint, self._reading)
                if joint.kind == "words" and value is not None:
                    return value
        return None


def _example(expression: str, value: Value, line: int, text: str) -> Example:
    if value.raises:
        name = exception_name(value.text) or value.text
        return Example(kind="raises", expression=expression, expected=name, line=line, text=text)
    printed = expression.startswith("print(")
    return Example(
        kind="value", expression=expression, expected=value.text, printed=printed, line=line, text=text
    )


def statements_before(region: Region, line: int, effort: Effort) -> tuple[str, ...]:
    """The top-level statements of the code block that stand before this line."""
    if region.tree is None or not effort.spend(10 * len(region.tree.body)):
        return ()
    first = region.first_line
    return tuple(unparse(node) for node in region.tree.body if first + node.lineno - 1 < line)
