"""Python code out of a model's answer."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipelines.errors import ModelError
from pipelines.model.python_source import (
    cut_to_complete,
    definitions,
    does_something,
    parse_module,
    syntax_problem,
)
from pipelines.model.thinking import drop_open_tag, strip_thinking

_FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})[ \t]*(?P<label>[^\s`]*)[^`]*")
_FILE_NAME = re.compile(r"\s*(?:#[ \t]*)?(?:file(?:name)?:[ \t]*)?[\w./-]+\.py:?[ \t]*\n", re.IGNORECASE)
_CODE_START = re.compile(r"(?:from|import|def|class|async def)\b|@\w|[A-Za-z_][\w.]*\s*(?::[^=]+)?=[^=]")
_CLOSINGS_TRIED = 20
_STARTS_TRIED = 8


@dataclass(frozen=True, kw_only=True)
class _Block:
    """One fenced block; `valid` says that it parses as Python and does something."""

    code: str
    is_python: bool
    valid: bool


def extract_code(text: str, *, prefilled: bool, salvage: bool = False) -> str:
    """Return the Python module in an answer, ending in one newline.

    `prefilled` says that the answer continues an opening fence. With `salvage` a module that was cut off
    is cut back to its last complete top-level statement. Raises ModelError when no usable code is found.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    if not text.strip():
        raise ModelError("The answer is empty: no Python code in it.")
    answers = list(filter(str.strip, dict.fromkeys((strip_thinking(text), drop_open_tag(text)))))
    for answer in answers:
        if code := _whole_code(answer, prefilled=prefilled):
            return _finished(code)
    rest = max((_broken_code(answer, prefilled=prefilled) for answer in answers), key=len, default="")
    if salvage and (code := cut_to_complete(rest)) and _is_valid(code, calls_count=False):
        return _finished(code)
    raise ModelError(f"The answer has no usable Python code: {syntax_problem(rest)}.")


def _whole_code(answer: str, *, prefilled: bool) -> str | None:
    for reading in _readings(answer, prefilled=prefilled):
        valid = [block for block in _blocks(reading) if block.valid]
        if python := [block.code for block in valid if block.is_python]:
            return _choose(python)
        if valid:
            return _choose([block.code for block in valid])
    return None if _has_fence(answer) else _code_amid_prose(answer)


def _broken_code(answer: str, *, prefilled: bool) -> str:
    """The part of an answer that was most likely meant to be the code."""
    reading = next(iter(_readings(answer, prefilled=prefilled)))
    blocks = [block.code for block in _blocks(reading) if block.is_python]
    return max(blocks, key=len, default="") or answer


def _readings(answer: str, *, prefilled: bool) -> Sequence[str]:
    """The answer as it is and as it reads behind an opening fence, the likelier first."""
    opened = "```python\n" + answer
    if prefilled:
        return (opened, answer)
    return (answer, opened) if _has_fence(answer) else (answer,)


def _has_fence(text: str) -> bool:
    return any(_FENCE.fullmatch(line) for line in text.split("\n"))


def _blocks(text: str) -> Iterator[_Block]:
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        if opening := _FENCE.fullmatch(lines[index]):
            block, index = _read_block(lines, index + 1, opening)
            yield block
        else:
            index += 1


def _read_block(lines: Sequence[str], start: int, opening: re.Match[str]) -> tuple[_Block, int]:
    """Read one block and the index behind it.

    A fence inside a docstring looks like the block's end, so the end is the first that leaves valid code.
    """
    ends = [index for index in range(start, len(lines)) if _closes(lines[index], opening)][:_CLOSINGS_TRIED]
    is_python = _is_python_label(opening["label"])
    for end in (*ends, len(lines)) if is_python else ends[:1]:
        code = _unindented(lines[start:end], opening["indent"])
        if _is_valid(code, calls_count=True):
            return _Block(code=code, is_python=is_python, valid=True), end + 1
    end = next(iter(ends), len(lines))
    code = _unindented(lines[start:end], opening["indent"])
    return _Block(code=code, is_python=is_python, valid=False), end + 1


def _closes(line: str, opening: re.Match[str]) -> bool:
    fence = _FENCE.fullmatch(line)
    return (
        fence is not None and line.strip() == fence["marks"] and fence["marks"].startswith(opening["marks"])
    )


def _is_python_label(label: str) -> bool:
    label = label.lower().lstrip("{.")
    return not label or label.startswith("py") or label.endswith((".py", ".py}"))


def _unindented(lines: Sequence[str], indent: str) -> str:
    """A block's code without the fence's own indentation and a file name in its first line."""
    code = "\n".join(line.removeprefix(indent) for line in lines)
    if named := _FILE_NAME.match(code):
        code = code[named.end() :]
    return code if parse_module(code) else textwrap.dedent(code)


def _is_valid(code: str, *, calls_count: bool) -> bool:
    module = parse_module(code)
    return module is not None and does_something(module, calls_count=calls_count)


def _choose(blocks: Sequence[str]) -> str:
    """The largest block, where consecutive blocks that define different names count as one."""
    joined: list[str] = []
    known: frozenset[str] | None = None
    for code in blocks:
        module = parse_module(code)
        names = definitions(module) if module else None
        if joined and known is not None and names is not None and not known & names:
            joined[-1] = joined[-1].rstrip() + "\n\n\n" + code.lstrip("\n")
            known |= names
        else:
            joined.append(code)
            known = names
    return max(joined, key=len)


def _code_amid_prose(answer: str) -> str | None:
    """Code without any fence: from a line that looks like code up to where prose takes over."""
    lines = answer.split("\n")
    starts = [index for index, line in enumerate(lines) if index == 0 or _CODE_START.match(line)]
    for start in starts[:_STARTS_TRIED]:
        candidate = "\n".join(lines[start:])
        code = cut_to_complete(candidate)
        if _is_valid(code, calls_count=False) and _is_prose(candidate[len(code) :]):
            return code
    return None


def _is_prose(text: str) -> bool:
    return not any(_CODE_START.match(line) or line.startswith((" ", "\t")) for line in text.split("\n"))


def _finished(code: str) -> str:
    return code.strip("\n").rstrip() + "\n"
