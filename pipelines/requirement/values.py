"""The result that follows a call in running text."""

import re
from typing import NamedTuple

from pipelines.requirement.expressions import exception_name, parse_expression, pythonic
from pipelines.requirement.reading import Reading
from pipelines.requirement.scanning import value_cuts
from pipelines.requirement.wording import Joint

_SPAN = re.compile(r"(`{1,2})(?!`)([^`\n]{1,2000})\1(?![`A-Za-z0-9_-])")
_AFTER_VALUE = re.compile(
    r"[ \t]*(?:$|\n|[.,;:!?)\]}`*|、。，；：！？」』）—–]|#|//|\(|-{1,2}[ \t]|"
    r"(?:because|since|as|for|when|if|and|or|but|weil|da|und|car|et|porque|y|perché|e|потому|и)\b|因为|，)"
)
_CHAIN = re.compile(r"[ \t]*={1,2}(?![=>])[ \t]*")
_LINE_END = re.compile(r"[ \t]*(?:$|\n|#|//|`)")


class Value(NamedTuple):
    """A result: its source, where it ends in the text, and whether it is an exception."""

    text: str
    end: int
    raises: bool = False


def read_value(text: str, joint: Joint, reading: Reading) -> Value | None:
    """The value or exception after a joint, or None when what stands there is prose."""
    span = _SPAN.match(text, joint.end)
    value = _quoted(span, joint, reading) if span else _bare(text, joint, reading)
    if value is None or (joint.raises is not None and value.raises != joint.raises):
        return None
    if joint.after is not None:
        return value if joint.after.match(text, value.end) else None
    return value if span or value.raises or _AFTER_VALUE.match(text, value.end) else None


def _quoted(span: re.Match[str], joint: Joint, reading: Reading) -> Value | None:
    return _accepted(span.group(2).strip(), span.end(), joint, reading)


def _bare(text: str, joint: Joint, reading: Reading) -> Value | None:
    value = longest_value(text, joint.end, joint, reading)
    while value is not None and (chain := _CHAIN.match(text, value.end)):
        following = longest_value(text, chain.end(), joint, reading)
        if following is None:
            break
        value = following
    return value


def longest_value(text: str, start: int, joint: Joint, reading: Reading) -> Value | None:
    """The longest stretch from `start` that is a value."""
    for end in value_cuts(text, start, reading.effort):
        candidate = text[start:end].strip()
        if not candidate or (candidate[-1] in ".," and candidate[:-1].strip()):
            continue
        value = _accepted(candidate, end, joint, reading)
        if value is None:
            continue
        if _is_bare_tuple(value.text) and not (joint.kind != "words" and _LINE_END.match(text, end)):
            continue
        return value
    return None


def _accepted(candidate: str, end: int, joint: Joint, reading: Reading) -> Value | None:
    if not reading.effort.spend(10 + len(candidate) // 8):
        return None
    if joint.raises is not False and joint.kind != "equals" and exception_name(candidate):
        return Value(candidate, end, raises=True)
    expression = pythonic(candidate)
    if expression is not None and reading.value_of(expression):
        return Value(expression, end)
    return None


def _is_bare_tuple(text: str) -> bool:
    tree = parse_expression(text)
    return type(tree).__name__ == "Tuple" and not text.startswith("(")
