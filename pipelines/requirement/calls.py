"""Examples written as a call and its result: `f(x) -> y`, `f(x) == y`, "`f(x)` should return `y`"."""

import re
from typing import NamedTuple

from pipelines.requirement.expressions import exception_name, parse_expression, pythonic, unparse
from pipelines.requirement.reading import Reading, Region
from pipelines.requirement.scanning import Effort, closing
from pipelines.requirement.types import Example
from pipelines.requirement.values import Value, read_value
from pipelines.requirement.wording import AT_PRESENT, CONTRAST, OBLIGATION, Joint, joints

_CALL = re.compile(r"(?<![A-Za-z0-9_.])(?:[A-Za-z_][A-Za-z0-9_]*\.){0,6}[A-Za-z_][A-Za-z0-9_]*\(")
_TRAILER = re.compile(r"\.[A-Za-z_][A-Za-z0-9_]*(?=[(\[.`\s]|$)|[(\[]")
_DEFINITION = re.compile(r"\b(?:def|class)\s+$")
_SIGNATURE_LIKE = re.compile(r"[A-Za-z_.]+\(\s*(?:\*{0,2}[A-Za-z_]\w*\s*(?:,\s*)?)*\)")


class Passage(NamedTuple):
    """A region's text with the position and number of each of its lines."""

    text: str
    starts: tuple[int, ...]
    numbers: tuple[int, ...]

    def line_at(self, position: int) -> int:
        """The issue's line number at a position of the text."""
        low = 0
        high = len(self.starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.starts[middle] <= position else (low, middle)
        return self.numbers[low]


def passage(region: Region, claimed: set[int]) -> Passage:
    """The text of a region, with lines that another reader took left blank."""
    starts: list[int] = []
    texts: list[str] = []
    position = 0
    for number, text in region.lines:
        starts.append(position)
        texts.append("" if number in claimed else text)
        position += len(texts[-1]) + 1
    return Passage("\n".join(texts), tuple(starts), tuple(line.number for line in region.lines))


def read_calls(region: Region, reading: Reading) -> None:
    """Add every call with a result after it."""
    source = passage(region, reading.claimed)
    position = 0
    while (match := _CALL.search(source.text, position)) and not reading.effort.exhausted:
        position = match.end()
        end = _call_end(source.text, match.end() - 1, reading)
        if end is None:
            continue
        if _DEFINITION.search(source.text, max(0, match.start() - 12), match.start()):
            position = end
            continue
        after = _read_result(source, match.start(), end, region, reading)
        position = after or position


def _call_end(text: str, opening: int, reading: Reading) -> int | None:
    end = closing(text, opening, reading.effort)
    while end is not None and (trailer := _TRAILER.match(text, end)):
        following = trailer.end() if trailer.group()[0] == "." else closing(text, end, reading.effort)
        if following is None:
            break
        end = following
    return end


def _read_result(source: Passage, start: int, end: int, region: Region, reading: Reading) -> int | None:
    """Try every reading of what follows the call; the end of the example, or None."""
    tried = False
    for joint in joints(source.text, end):
        value = read_value(source.text, joint, reading)
        if value is None:
            tried = tried or joint.kind in ("arrow", "equals") or joint.raises is True
            continue
        _add(source, start, end, joint, value, region, reading)
        return value.end
    expression = source.text[start:end]
    if tried and not _SIGNATURE_LIKE.fullmatch(expression) and parse_expression(expression) is not None:
        line_end = source.text.find("\n", end)
        text = source.text[start : line_end if line_end >= 0 else len(source.text)]
        reading.unread(source.line_at(start), text, "its result is not a Python value")
    return None


def _add(
    source: Passage, start: int, end: int, joint: Joint, value: Value, region: Region, reading: Reading
) -> None:
    line, text = source.line_at(start), source.text[start : value.end].strip()
    expression = pythonic(source.text[start:end])
    if expression is None:
        reading.unread(line, text, "the call is not Python")
    elif _describes_today(source.text, start, joint, value):
        corrected = _corrected(source.text, value.end, reading)
        if corrected is None:
            reading.unread(line, text, "it may describe what happens today")
        else:
            reading.add(_example(expression, corrected, line, text), region)
    else:
        example = _example(expression, value, line, text)
        for number in range(line, source.line_at(max(start, value.end - 1)) + 1):
            reading.claimed.add(number)
        reading.add(example, region, statements_before(region, line, reading.effort))


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


def _corrected(text: str, position: int, reading: Reading) -> Value | None:
    """The second result in "returns 8 but should return 9"."""
    line_end = text.find("\n", position)
    for wish in OBLIGATION.finditer(text, position, line_end if line_end >= 0 else len(text)):
        for joint in joints(text, wish.start()):
            value = read_value(text, joint, reading)
            if joint.kind == "words" and value is not None:
                return value
    return None


def _describes_today(text: str, start: int, joint: Joint, value: Value) -> bool:
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", value.end)
    rest = text[value.end : line_end if line_end >= 0 else len(text)][:120]
    if AT_PRESENT.search(text, max(line_start, start - 80), start):
        return True
    return not joint.sure and CONTRAST.search(rest) is not None
