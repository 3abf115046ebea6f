"""Any bytes give a Requirement or a RefusalError, in bounded time, and nothing of them is run."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.errors import RefusalError
from pipelines.requirement.expressions import parse_expression, parse_module
from pipelines.requirement.parse import parse_issue
from pipelines.requirement.types import Requirement

_CODE = [
    "f(1)",
    "f(",
    ")",
    " == ",
    " -> ",
    "`",
    "```python\n",
    "```\n",
    ">>> ",
    "... ",
    "assert ",
    "print(",
    "x = 1",
]
_TEXT = [
    "# ",
    "- ",
    "| ",
    "|---|\n",
    "Input: ",
    "Output: ",
    "returns ",
    "should return ",
    "は",
    "を返す",
    "title: ",
]
_ODD = [
    '"""',
    "'",
    '"',
    "[1, ",
    "]",
    "{",
    "}",
    "<!--",
    "-->",
    "&amp;",
    "\\",
    "1" * 30,
    "-" * 30,
    "(" * 30,
    "---\n",
]
_SPACE = ["\n", "\n\n", "    ", ", ", "\r\n", "\u200b", "\u2028", "\x0c"]
_LINES = ["def f(x):\n", "Traceback (most recent call last):\n", "ValueError: x", "with pytest.raises(E):\n"]
_PIECES = st.sampled_from([*_CODE, *_TEXT, *_ODD, *_SPACE, *_LINES])


def parsed(raw: bytes) -> Requirement | None:
    try:
        return parse_issue(raw, path="i.md")
    except RefusalError:
        return None


@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes(raw: bytes) -> None:
    parsed(raw)


@settings(deadline=None)
@given(st.text(max_size=400))
def test_any_text_in_any_encoding(text: str) -> None:
    parsed(text.encode("utf-8", "surrogatepass"))
    parsed(text.encode("utf-16", "surrogatepass"))


@settings(max_examples=300, deadline=None)
@given(st.lists(_PIECES, max_size=60))
def test_examples_are_python_and_stand_on_lines_of_the_issue(pieces: list[str]) -> None:
    text = "# Title\n\n" + "".join(pieces)
    requirement = parsed(text.encode())
    if requirement is None:
        return
    lines = text.count("\n") + text.count("\r") + 1
    for example in requirement.examples:
        assert 1 <= example.line <= lines
        assert all(parse_module(statement) is not None for statement in example.setup)
        if example.kind in ("value", "raises"):
            assert parse_expression(example.expression) is not None
        if example.kind == "value" and not example.printed:
            assert parse_module(f"assert {example.expression} == {example.expected}") is not None


_HOSTILE = {
    "open calls": "f(" * 250_000,
    "unread calls": "f(1)==x " * 60_000,
    "many examples": "f(1) == 2\n" * 50_000,
    "backticks": "x " + "`" * 500_000,
    "code spans": "`a" * 250_000,
    "tags": "x " + "<a " * 160_000,
    "comments": "x " + "<!--" * 120_000,
    "scripts": "x " + "<script>" * 60_000,
    "entities": "x " + "&" * 500_000,
    "brackets": "x " + "[" * 500_000,
    "links": "x " + "](" * 250_000,
    "quotes": "x " + ">" * 500_000,
    "sessions": ">>> f(1)\n" * 55_000,
    "state": "```\n" + ">>> s = f(s)\n>>> s\n1\n" * 20_000,
    "emphasis": "x " + "*" * 500_000,
    "string ends": "x" + '"\\' * 250_000,
    "table": "|a|b|\n|-|-|\n" + "|1|2|\n" * 80_000,
    "labels": "function `f(x)`\n" + "Input: 1\n" * 50_000,
    "pairs": "function `f(x)`\n" + "Input: 1\nOutput: 2\n" * 25_000,
    "assignments": "function `f(x)`\n" + "x = 1 " * 80_000,
    "one word": "a" * 500_000,
    "one path": "a/" * 250_000,
    "one dotted name": "a." * 250_000,
    "headers": "def f(\n" * 70_000,
    "stubs": "```python\n" + "def f(a): ...\n" * 35_000 + "```",
    "long sum": "f(" + "1+" * 250_000 + "1) == 3",
    "deep sign": "f(" + "-" * 3_000 + "1) == 3\n" * 100,
    "asserts": "assert f(1\n" * 45_000,
    "tests": "```python\n" + "def test_a():\n    s = f(1)\n    assert s == 1\n" * 9_000 + "```",
    "headings": "### Example\n" * 40_000,
    "fences": "```\n" * 120_000,
    "definitions": "x\n\n" + "[a]: b\n" * 70_000,
    "spaces": "x" + " " * 500_000 + "a",
    "recurrence": "f(n) = " * 70_000,
    "no spaces": "は" * 160_000,
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_half_a_megabyte_of_anything_is_read_in_bounded_time(name: str) -> None:
    started = time.monotonic()
    parsed(_HOSTILE[name].encode())
    assert time.monotonic() - started < 30


def test_what_is_too_intricate_to_read_is_said() -> None:
    requirement = parsed(b"# T\n\n" + b"f(1)==x " * 60_000)
    assert requirement is not None
    assert any("too intricate" in note for note in requirement.notes)


@pytest.mark.parametrize("form", ["assert f({}) == {}\n", "f({}) -> {}\n", ">>> f({})\n{}\n"])
def test_hundreds_of_examples_are_all_read(form: str) -> None:
    requirement = parsed(("# T\n\n" + "".join(form.format(n, n + 1) for n in range(380))).encode())
    assert requirement is not None
    assert len(requirement.examples) == 380


def test_lines_beyond_the_limit_are_kept_in_the_body_only() -> None:
    requirement = parsed(b"# T\n\nf(1) == 2\n" + b"a word\n" * 12_000 + b"f(2) == 3\nend")
    assert requirement is not None
    assert [example.expression for example in requirement.examples] == ["f(1)"]
    assert requirement.body.endswith("a word\nf(2) == 3\nend")
    assert any("first 10000 lines" in note for note in requirement.notes)


def test_issue_text_is_never_executed(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    action = f"open({str(trap)!r}, 'w').close()"
    session = f">>> {action}\n>>> f({action})\n1\n"
    text = f"# T\n\n{session}\nassert f({action}) == 1\n\n```python\n{action}\nf(1) == {action}\n```\n"
    assert parsed(text.encode()) is not None
    assert not trap.exists()
