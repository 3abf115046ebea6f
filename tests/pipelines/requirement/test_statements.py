import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.requirement.statements import is_import_under_test, relevant


@pytest.mark.parametrize(
    ("statements", "expression", "chosen"),
    [
        (["a = 1", "b = 2"], "f(a)", ["a = 1"]),
        (["a = 1", "b = a + 1"], "f(b)", ["a = 1", "b = a + 1"]),
        (["s = S()", "s.push(1)", "t.push(2)"], "s.pop()", ["s = S()", "s.push(1)"]),
        (["d = {}", "d['k'] = 1"], "f(d)", ["d = {}", "d['k'] = 1"]),
        (["d = {}", "for i in x:\n    d[i] = i"], "f(d)", ["d = {}", "for i in x:\n    d[i] = i"]),
        (["import math", "import json"], "f(math.pi)", ["import math"]),
        (["from slugs import slugify"], "slugify('a')", []),
        (["from .slugs import slugify"], "slugify('a')", []),
        (["def inc(x):\n    return x + 1", "f(1)"], "f(inc)", ["def inc(x):\n    return x + 1"]),
        (["print('hello')", "f(3)"], "f(1)", []),
        (["a = (", "b = 1"], "f(b)", ["b = 1"]),
        ([], "f(1)", []),
        (["a = 1"], "not python (", []),
    ],
)
def test_what_an_expression_needs(statements: list[str], expression: str, chosen: list[str]) -> None:
    assert list(relevant(statements, [expression])) == chosen


@given(st.permutations(["a = 1", "b = a", "c = b", "a.go()", "d = 4"]))
def test_what_is_chosen_keeps_its_order(statements: list[str]) -> None:
    chosen = list(relevant(statements, ["f(c)"]))
    assert chosen == [statement for statement in statements if statement in chosen]
    assert "c = b" in chosen
    assert "d = 4" not in chosen


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from slugs import slugify", True),
        ("from . import slugs", True),
        ("from math import pi", False),
        ("from numpy import array", False),
        ("import slugs", False),
        ("a = 1", False),
    ],
)
def test_imports_of_the_code_under_test(source: str, expected: bool) -> None:
    assert is_import_under_test(ast.parse(source)) is expected
