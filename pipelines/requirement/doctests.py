"""Examples written as an interpreter session (`>>> f(x)` and what it shows)."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from pipelines.requirement.comparisons import from_condition, from_source
from pipelines.requirement.expressions import (
    bound_names,
    called_names,
    exception_name,
    parse_expression,
    parse_module,
    pythonic,
    used_names,
)
from pipelines.requirement.markdown import Line
from pipelines.requirement.reading import Reading, Region
from pipelines.requirement.types import Example

_PROMPT = re.compile(r"^(\s*(?:[-*>]\s+(?=>>>))?)(?:>>>|In \[\d{1,6}\]:)(?:\s(.*)|$|(?=\S)(.*))")
_CONTINUATION = re.compile(r"^\s*\.\.\.:?(?: (.*)|$)")
_OUT = re.compile(r"^(\s*)Out\[\d{1,6}\]: ?")
_RAISED = re.compile(r"^([A-Za-z_][\w.]*)(?::|$)")
_MAX_SOURCE_LINES = 40
_MAX_WANT_LINES = 60


class Interaction(NamedTuple):
    """One prompt with its source and what the session shows after it."""

    line: int
    source: str
    want: str
    text: str


def read_doctests(region: Region, reading: Reading) -> None:
    """Add the interactions of a region; statements without output become the setup of later ones."""
    interactions = list(_interactions(region, reading))
    shown = {name for item in interactions if item.want for name in _calls(item.source)}
    earlier: list[str] = []
    state: set[str] = set()
    for item in interactions:
        if not reading.effort.spend(20 + len(item.source) // 8):
            return
        tree = parse_module(item.source)
        if tree is None or not tree.body:
            reading.unread(item.line, item.source, "the statement is not Python")
            continue
        for example in _examples(item, tree, shown, reading):
            reading.add(example, region, earlier)
        bound = bound_names(tree)
        if not item.want.startswith("Traceback") and (bound or used_names(tree) & state):
            state |= bound
            earlier.append(item.source)


def _interactions(region: Region, reading: Reading) -> Iterator[Interaction]:
    lines = region.lines
    index = 0
    while index < len(lines):
        prompt = _PROMPT.match(lines[index].text)
        if prompt is None:
            index += 1
            continue
        source_end = _source_end(lines, index, prompt)
        want_end = _want_end(lines, source_end)
        continued = [_source_of(line) for line in lines[index + 1 : source_end]]
        source = "\n".join([prompt.group(2) or prompt.group(3) or "", *continued]).rstrip()
        want = _dedent(lines[source_end:want_end], len(prompt.group(1)))
        reading.claimed.update(line.number for line in lines[index:want_end])
        text = "\n".join(line.text for line in lines[index:want_end]).strip()
        yield Interaction(lines[index].number, source, want, text)
        index = want_end


def _source_of(line: Line) -> str:
    continuation = _CONTINUATION.match(line.text)
    return (continuation.group(1) or "") if continuation else line.text


def _source_end(lines: tuple[Line, ...], start: int, prompt: re.Match[str]) -> int:
    end = start + 1
    while end < len(lines) and _CONTINUATION.match(lines[end].text):
        end += 1
    if end > start + 1 or parse_module(prompt.group(2) or prompt.group(3) or "") is not None:
        return end
    for stop in range(start + 2, min(len(lines), start + _MAX_SOURCE_LINES) + 1):
        if not lines[stop - 1].text.strip() or _PROMPT.match(lines[stop - 1].text):
            break
        joined = "\n".join([prompt.group(2) or "", *(line.text for line in lines[start + 1 : stop])])
        if parse_module(joined) is not None:
            return stop
    return end


def _want_end(lines: tuple[Line, ...], start: int) -> int:
    end = start
    while end < min(len(lines), start + _MAX_WANT_LINES):
        text = lines[end].text
        is_next = lines[end].number == lines[end - 1].number + 1
        if not text.strip() or not is_next or _PROMPT.match(text) or text.strip().startswith("```"):
            break
        end += 1
    return end


def _dedent(lines: tuple[Line, ...], indent: int) -> str:
    shown = [_OUT.sub(r"\1", line.text) for line in lines]
    texts = [text[indent:] if not text[:indent].strip() else text for text in shown]
    return "\n".join("" if text.strip() == "<BLANKLINE>" else text.rstrip() for text in texts)


def _calls(source: str) -> set[str]:
    tree = parse_module(source)
    return called_names(tree) if tree is not None else set()


def _examples(item: Interaction, tree: ast.Module, shown: set[str], reading: Reading) -> Iterator[Example]:
    last = tree.body[-1]
    if isinstance(last, ast.Assert):
        yield from_condition(last.test, line=item.line, text=item.text, reading=reading)
    elif item.want.startswith("Traceback"):
        raised = _RAISED.match(item.want.strip().split("\n")[-1].strip())
        source = _expression(item.source, last)
        if raised and source:
            yield _example(item, "raises", source, raised.group(1))
    elif isinstance(last, ast.Expr) and len(tree.body) == 1:
        example = _from_output(item, _expression(item.source, last), shown, reading)
        if example is not None:
            yield example


def _from_output(item: Interaction, source: str, shown: set[str], reading: Reading) -> Example | None:
    if item.want.strip() in ("", "True"):
        equation = from_source(source, line=item.line, text=item.text, reading=reading)
        if equation is not None:
            return equation
    if not item.want.strip():
        returns_none = isinstance(parse_expression(source), ast.Call) and _calls(source) & shown
        return (
            _example(item, "value", source, "None")
            if returns_none and not source.startswith("print(")
            else None
        )
    if source.startswith("print("):
        return _example(item, "value", source, item.want, printed=True)
    return _from_want(item, source, reading)


def _from_want(item: Interaction, source: str, reading: Reading) -> Example | None:
    lines = item.want.split("\n")
    for count in range(len(lines), 0, -1):
        text = "\n".join(lines[:count]).strip()
        value = pythonic(text)
        if value is not None and reading.value_of(value):
            return _example(item, "value", source, value)
    raised = _RAISED.match(lines[0].strip())
    if raised and exception_name(raised.group(1)):
        return _example(item, "raises", source, raised.group(1))
    if _is_representation(item.want):
        return _example(item, "value", f"repr({source})", repr(item.want.strip()))
    reading.unread(item.line, item.text, "its output is not a Python value")
    return None


def _is_representation(want: str) -> bool:
    """`Point(x=1, y=2)` or `<Color.RED: 1>`, but nothing with an address or an omission."""
    if " 0x" in want or "..." in want:
        return False
    is_bracketed = re.fullmatch(r"<[A-Z][\w.]*(?::? [^<>]{0,200})?>", want.strip()) is not None
    return is_bracketed or isinstance(parse_expression(want.strip()), ast.Call)


def _expression(source: str, node: ast.stmt) -> str:
    return (ast.get_source_segment(source, node) or "").strip()


def _example(
    item: Interaction, kind: str, expression: str, expected: str, *, printed: bool = False
) -> Example:
    return Example.model_validate(
        {
            "kind": kind,
            "expression": expression,
            "expected": expected,
            "printed": printed,
            "line": item.line,
            "text": item.text,
        }
    )
