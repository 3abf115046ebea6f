import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.requirement.expressions import (
    bound_names,
    called_names,
    exception_name,
    imports_for,
    is_bracketed_constant,
    is_value,
    normal,
    parse_expression,
    parse_module,
    pythonic,
    self_contained,
    used_names,
)

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(_VALUES)
def test_every_literal_is_a_value_and_stays_itself(value: object) -> None:
    text = repr(value)
    assert is_value(text)
    assert pythonic(text) == text
    assert ast.literal_eval(normal(text)) == value
    assert ast.literal_eval(self_contained(text)) == value


@pytest.mark.parametrize(
    "text",
    [
        "-1",
        "10 - 8",
        "set()",
        "{1, 2}",
        "Decimal('1.2')",
        "datetime.date(2020, 1, 2)",
        "[x for x in range(3)]",
    ],
)
def test_values(text: str) -> None:
    assert is_value(text)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "f(1)",
        "[1, ...]",
        "int",
        "a.b",
        "1 if x else 2",
        "lambda: 1",
        "'a' | 'b'",
        "1 ==",
        "",
        "x" * 5000,
    ],
)
def test_no_values(text: str) -> None:
    assert not is_value(text)


def test_a_known_class_makes_values() -> None:
    assert is_value("Point(1, 2)", known=frozenset({"Point"}))
    assert not is_value("Point(1, 2)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", "True"),
        ('{"a": [null, false]}', "{'a': [None, False]}"),
        ("“a”", '"a"'),
        ("‘a’", "'a'"),
        ("'true'", "'true'"),
        ("two words", None),
        ('""a"', None),
        ("(", None),
    ],
)
def test_python_from_what_people_type(text: str, expected: str | None) -> None:
    assert pythonic(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ValueError", "ValueError"),
        ("ValueError('x')", "ValueError"),
        ("errors.ParseError", "errors.ParseError"),
        ("MyException", "MyException"),
        ("Value", None),
        ("error", None),
        ("two words", None),
    ],
)
def test_names_of_exceptions(text: str, expected: str | None) -> None:
    assert exception_name(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("('x')", True), ("(1)", True), ("('x',)", False), ("'x'", False), ("(1) + (2)", False), ("()", False)],
)
def test_a_constant_in_brackets(text: str, expected: bool) -> None:
    assert is_bracketed_constant(text) is expected


def test_names_of_a_source() -> None:
    tree = ast.parse("import os.path as p\nx = f(y)\ndef g(a):\n    return a.b.c(x)\n[i for i in z]")
    assert bound_names(tree) == {"p", "x", "g", "a", "i"}
    assert used_names(tree) == {"f", "y", "z"}
    assert called_names(tree) == {"f", "a.b.c"}


def test_imports_are_added_once_and_only_where_nothing_binds_the_name() -> None:
    assert imports_for("math.pi + math.e", "Decimal('1')", bound=set()) == (
        "import math",
        "from decimal import Decimal",
    )
    assert imports_for("math.pi", bound={"math"}) == ()
    assert imports_for("not python (", bound=set()) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f(1)", "f(1)"),
        ("1, 2", "(1, 2)"),
        ("f(1) > 2", "(f(1) > 2)"),
        ("not f(1)", "(not f(1))"),
        ("[\n1]", "[\n1]"),
    ],
)
def test_sources_that_can_stand_beside_equality(text: str, expected: str) -> None:
    assert self_contained(text) == expected


@given(st.text(max_size=200))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    for tree in (parse_module(text), parse_expression(text)):
        assert tree is None or isinstance(tree, ast.AST)


def test_very_long_or_deep_source_is_refused() -> None:
    assert parse_module("x = 1\n" * 20_000) is None
    assert parse_expression("(" * 1000 + ")" * 1000) is None
    assert parse_expression("1+" * 3000 + "1") is None
