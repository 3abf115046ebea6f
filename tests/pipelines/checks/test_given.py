import ast
import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.checks.given import equality, free_names, given_cases, normal_form
from pipelines.requirement.types import Criterion, Example, Requirement, Signature, Source

SOURCE = Source(path="issue.md", sha256="0" * 64)


def requirement(*examples: Example) -> Requirement:
    return Requirement(title="t", summary="", body="", examples=examples, source=SOURCE)


def example(kind: str, **facts: object) -> Example:
    return Example.model_validate({"kind": kind, "line": 3, "text": "as written"} | facts)


def test_a_value_becomes_one_assert_and_a_normal_call() -> None:
    (case,) = given_cases(
        requirement(example("value", expression="f( 'a' )", expected="'b'")), program="p.py"
    )
    assert case.name == "test_given_1"
    assert case.trust == "given"
    assert case.body == ("assert f( 'a' ) == 'b'",)
    assert case.call == "f('a')"
    assert case.names == ("f",)
    assert "line 3" in case.title


def test_setup_lines_come_first_and_forbid_the_call_from_being_varied() -> None:
    (case,) = given_cases(
        requirement(example("value", setup=("s = Stack()", "s.push(1)"), expression="s.pop()", expected="1")),
        program="p.py",
    )
    assert case.body == ("s = Stack()", "s.push(1)", "assert s.pop() == 1")
    assert case.names == ("Stack",)
    assert case.call == ""


def test_an_exception_is_expected_with_pytest() -> None:
    (case,) = given_cases(
        requirement(example("raises", expression="f('')", expected="ValueError")), program="p.py"
    )
    assert case.body == ("with pytest.raises(ValueError):\n    f('')",)
    assert set(case.names) == {"pytest", "f"}
    assert case.call == "f('')"


def test_an_example_covers_the_criteria_that_name_its_exception_or_its_values() -> None:
    texts = ("Raises `ValueError` when empty.", "`earl-grey` is such a name.", "It is fast, not 'a'.")
    wanted = requirement(
        example("raises", expression="f('')", expected="ValueError", text=">>> f('')"),
        example("value", expression="f('x')", expected="'earl-grey'", text=">>> f('x')\n'earl-grey'"),
        example("value", expression="f('a')", expected="'a'", text=">>> f('a')\n'a'"),
    )
    criteria = tuple(Criterion(id=f"C{n}", text=text) for n, text in enumerate(texts, start=1))
    cases = given_cases(wanted.model_copy(update={"criteria": criteria}), program="p.py")
    assert [case.criteria for case in cases] == [("C1",), ("C2",), ()]


def test_printed_text_is_captured() -> None:
    (case,) = given_cases(
        requirement(example("value", expression="print(f(1))", expected="one\ntwo\n", printed=True)),
        program="p.py",
    )
    assert case.body[-1] == "assert capsys.readouterr().out.rstrip() == 'one\\ntwo'"
    assert case.arguments == ("capsys",)


def test_a_program_is_run_with_its_input() -> None:
    (case,) = given_cases(requirement(example("stdio", stdin="3\n", expected="6\n")), program="src/tool.py")
    assert "'src/tool.py'" in case.body[0]
    assert "input='3\\n'" in case.body[0]
    assert "'6\\n'.split()" in case.body[2]


def test_asserts_of_the_issue_stay_as_they_are() -> None:
    (case,) = given_cases(requirement(example("check", setup=("assert f(1) > f(0)",))), program="p.py")
    assert case.body == ("assert f(1) > f(0)",)


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("True", "assert f(x) is True"),
        ("None", "assert f(x) is None"),
        ("1", "assert f(x) == 1"),
        ("0.5", "assert f(x) == pytest.approx(0.5, rel=1e-9, abs=1e-12)"),
        ("-0.5", "assert f(x) == pytest.approx(-0.5, rel=1e-9, abs=1e-12)"),
        ("[1, 2]", "assert f(x) == [1, 2]"),
        ("['a', 0.5]", "assert f(x) == ['a', 0.5]"),
        ("{'a': 0.5}", "assert f(x) == {'a': 0.5}"),
        ("[[0.5]]", "assert f(x) == [[0.5]]"),
        ("date(2020, 1, 2)", "assert f(x) == date(2020, 1, 2)"),
    ],
)
def test_how_values_are_compared(expected: str, text: str) -> None:
    assert equality("f(x)", expected) == (text,)


def holds(value: object, expected: str) -> bool:
    try:
        exec("\n".join(equality("f", expected)), {"f": value, "pytest": pytest})
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(
    ("value", "expected", "equal"),
    [
        (0.1 + 0.2, "0.3", True),
        (11900.595, "11900.6", False),
        (1234568.9, "1234567.89", False),
        ([0.1 + 0.2, 1], "[0.3, 1]", True),
        ((0.3, 1), "[0.3, 1]", False),
        ([0.3, 1], "(0.3, 1)", False),
        (1, "True", False),
    ],
)
def test_values_that_only_look_alike_are_told_apart(value: object, expected: str, equal: bool) -> None:
    assert holds(value, expected) is equal


def test_what_is_awaited_runs_in_a_loop() -> None:
    (case,) = given_cases(
        requirement(example("value", expression="await f(2)", expected="4")), program="p.py"
    )
    assert set(case.names) == {"asyncio", "f"}

    async def f(x: int) -> int:
        return x * 2

    exec("\n".join(case.body), {"f": f, "asyncio": asyncio})


def test_a_builtin_that_the_issue_asks_for_is_the_code_under_test() -> None:
    wanted = requirement(example("value", expression="round(2)", expected="4"))
    own = Signature(name="round", kind="function")
    (case,) = given_cases(wanted.model_copy(update={"signatures": (own,)}), program="p.py")
    assert case.names == ("round",)


@pytest.mark.parametrize(
    ("statements", "names"),
    [
        (["assert f(x) == [y for y in z]"], ("f", "x", "z")),
        (["import math", "assert f(math.pi) == len('a')"], ("f",)),
        (["with pytest.raises(KeyError):\n    f()"], ("pytest", "f")),
        (["def helper(a): return a", "assert f(helper)"], ("f",)),
        (["try:\n    f()\nexcept ValueError as error:\n    print(error)"], ("f",)),
        (["assert (lambda q: q)(f)"], ("f",)),
    ],
)
def test_free_names_are_what_must_be_imported(statements: list[str], names: tuple[str, ...]) -> None:
    assert sorted(free_names(statements)) == sorted(names)


@given(st.lists(st.integers() | st.text() | st.floats(allow_nan=False), max_size=4))
def test_spacing_and_quotes_do_not_change_the_normal_form(arguments: list[object]) -> None:
    tight = f"f({','.join(map(repr, arguments))})"
    loose = f"f( {' , '.join(map(repr, arguments))} )"
    assert normal_form(tight) == normal_form(loose)
    ast.parse(normal_form(tight), mode="eval")
