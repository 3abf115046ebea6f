"""Examples written with labels: `Input: nums = [1, 2]` / `Output: 3`, "For x = 2, the output should be 4"."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pipelines.requirement.arguments import accepts, call_from
from pipelines.requirement.expressions import exception_name
from pipelines.requirement.headings import heading_kind
from pipelines.requirement.markdown import Line
from pipelines.requirement.reading import Passage, Reading, Region
from pipelines.requirement.scanning import value_cuts
from pipelines.requirement.types import Example, Signature
from pipelines.requirement.values import Value, longest_value, read_value
from pipelines.requirement.wording import ARROW, Joint, joints

_LABEL = re.compile(
    r"^\s*(?:[-*+>]\s+)?[*_`]{0,3}([^\W\d_][^:：\n*`=()]{0,28}?)\s*\d*[*_`]{0,3}\s*[:：][*_`]{0,3}\s*(.*)$"
)
_INLINE_OUTPUT = re.compile(
    rf"^(.{{1,2000}}?)[\s,;.`]*(?:{ARROW}|\||/)?\s*[*_]{{0,2}}([^\W\d_][^\W\d_]{{2,12}})[*_]{{0,2}}\s*[:：]\s*[*_]{{0,2}}(.*)$"
)
_MAX_INPUT_LINES = 30
_MAX_OUTPUT_LINES = 30
_OUTCOME = re.compile(
    r"(?:output|result|answer|return(?:ed)?(?:\s+value)?|ausgabe|ergebnis|sortie|résultat|salida|resultado|saída|"
    r"risultato|結果|出力|戻り値|返り値|结果|输出|返回值?|результат|결과|출력)(?:\s+tuple|\s+value|\s+list)?\s*"
    r"(?:should\s+be|must\s+be|will\s+be|would\s+be|is|be|soll|ist|est|doit\s+être|debe\s+ser|es|deve\s+ser|é|"
    r"dovrebbe\s+essere|è|は|应该?是|应为|为|是|должен\s+быть|:|：|=)\s*",
    re.IGNORECASE,
)
_OUTCOME_LINE = re.compile(
    rf"\s*(?:{ARROW})?\s*(?:returns?|output|result)\b\s*(?:=|:|is\b)?\s*", re.IGNORECASE
)
_AND = re.compile(r"\s*(?:[,;、，]|and\b|und\b|et\b|y\b|e\b|と|和|и\b)\s*")
_MAX_OUTCOME_GAP = 300
_PLAIN = Joint(0, "comment")


class Pair(NamedTuple):
    """An input text and where its output starts, as positions in the region's lines."""

    line: int
    source: str
    output: tuple[Line, ...]
    text: str


def read_labelled(region: Region, reading: Reading) -> None:
    """Add Input/Output pairs of the region's function."""
    signature = reading.function_for(region)
    if signature is None:
        return
    for pair in _pairs(region.lines):
        add_pair(pair, signature, region, reading)
    _read_assignments(region, signature, reading)


def add_pair(pair: Pair, signature: Signature, region: Region, reading: Reading) -> None:
    """Add one pair when its input fits the function's parameters and its output is a value."""
    expression = call_from(pair.source, signature, reading)
    output = "\n".join(line.text for line in pair.output).strip()
    value = longest_value(output.lstrip("`"), 0, _PLAIN, reading) if output else None
    if expression is None or value is None:
        reading.unread(pair.line, pair.text, "its input or output does not fit the function")
        return
    last = pair.output[output.count("\n", 0, value.end)].number if pair.output else pair.line
    reading.claimed.update(range(pair.line, last + 1))
    reading.add(_example(expression, value, pair.line, pair.text), region)


def _example(expression: str, value: Value, line: int, text: str) -> Example:
    if value.raises:
        raised = exception_name(value.text) or value.text
        return Example(kind="raises", expression=expression, expected=raised, line=line, text=text)
    return Example(kind="value", expression=expression, expected=value.text, line=line, text=text)


def _pairs(lines: tuple[Line, ...]) -> Iterator[Pair]:
    opened: tuple[int, list[str]] | None = None
    for index, (number, text) in enumerate(lines):
        label = _LABEL.match(text)
        kind = heading_kind(label.group(1)) if label else None
        rest = label.group(2) if label else ""
        if kind == "input":
            opened = (index, [rest])
            inline = _INLINE_OUTPUT.match(rest)
            if inline and heading_kind(inline.group(2)) == "output":
                yield Pair(number, inline.group(1), (Line(number, inline.group(3)),), text.strip())
                opened = None
        elif kind == "output" and opened is not None:
            start, collected = opened
            output = (Line(number, rest), *lines[index + 1 : index + _MAX_OUTPUT_LINES])
            whole = "\n".join(line.text for line in lines[start : index + 1]).strip()
            yield Pair(lines[start].number, "\n".join(collected), output, whole)
            opened = None
        elif opened is not None and index - opened[0] <= _MAX_INPUT_LINES:
            opened[1].append(text)


def _read_assignments(region: Region, signature: Signature, reading: Reading) -> None:
    """`For lst = [1, 2] the output should be 3`, and the same over several lines."""
    if not signature.parameters:
        return
    names = "|".join(map(re.escape, signature.parameters))
    first = re.compile(rf"(?<![\w.])(?:{names})`?\s{{0,5}}=(?![=>])\s{{0,5}}`?")
    source = Passage.of(region, reading.claimed)
    position = 0
    while (match := first.search(source.text, position)) and not reading.effort.exhausted:
        position = match.end()
        assigned = _assigned(source.text, match.start(), first, reading)
        if assigned is None or not accepts(signature, len(assigned[0])):
            continue
        values, end = assigned
        outcome = _outcome(source.text, end, reading)
        if outcome is None:
            continue
        expression = call_from(
            ", ".join(f"{name} = {value}" for name, value in values.items()), signature, reading
        )
        if expression is not None:
            line, last = source.line_at(match.start()), source.line_at(outcome.end - 1)
            text = source.text[match.start() : outcome.end].strip()
            reading.claimed.update(range(line, last + 1))
            reading.add(_example(expression, outcome, line, text), region)
            position = outcome.end


def _assigned(
    text: str, start: int, first: re.Pattern[str], reading: Reading
) -> tuple[dict[str, str], int] | None:
    values: dict[str, str] = {}
    position = start
    while match := first.match(text, position):
        value = _one_value(text, match.end(), reading)
        if value is None:
            return None
        name = re.match(r"\w+", match.group())
        values[name.group() if name else ""] = value.text
        end = value.end + (1 if text[value.end : value.end + 1] == "`" else 0)
        joined = _AND.match(text, end)
        position = joined.end() if joined else end
        if joined is None or not first.match(text, position):
            return values, end
    return None


def _one_value(text: str, start: int, reading: Reading) -> Value | None:
    """The shortest value, so that a list of assignments is not read as a tuple."""
    for end in reversed(list(value_cuts(text, start, reading.effort))):
        value = longest_value(text[:end], start, _PLAIN, reading)
        if value is not None and not value.raises:
            return value
    return None


def _outcome(text: str, position: int, reading: Reading) -> Value | None:
    line_end = text.find("\n", position)
    line_end = line_end if line_end >= 0 else len(text)
    reach = min(line_end, position + _MAX_OUTCOME_GAP)
    for match in reversed(list(_OUTCOME.finditer(text, position, reach))):
        value = read_value(text, Joint(match.end(), "words"), reading)
        if value is not None:
            return value
    for joint in joints(text, position):
        value = read_value(text, joint, reading)
        if value is not None:
            return value
    return _outcome_below(text, line_end, reading)


def _outcome_below(text: str, position: int, reading: Reading) -> Value | None:
    for _ in range(4):
        position += 1
        line_end = text.find("\n", position)
        line_end = line_end if line_end >= 0 else len(text)
        if position >= line_end:
            return None
        if match := _OUTCOME_LINE.match(text, position, line_end):
            return longest_value(text, match.end(), _PLAIN, reading)
        position = line_end
    return None
