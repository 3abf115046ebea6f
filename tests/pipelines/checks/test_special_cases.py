import pytest

from pipelines.candidate import Candidate, TestCase
from pipelines.checks.given import free_names
from pipelines.checks.special_cases import special_cases


def given_call(call: str) -> TestCase:
    body = (f"assert {call} == 1",)
    return TestCase(
        name="test_given_1", trust="given", body=body, names=free_names(body), title="", call=call
    )


def found(source: str, call: str, prose: str = "") -> tuple[str, ...]:
    return special_cases(Candidate(files={"m.py": source}, origin="greedy"), [given_call(call)], prose)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    if x == 'banana': return 3\n",
        "def f(x):\n    return {'banana': 3}.get(x)\n",
        "def f(x):\n    match x:\n        case 'banana': return 3\n",
        "def f(x):\n    if x in ('banana',): return 3\n",
        "def f(x):\n    if x != 'banana': return 0\n    return 3\n",
        "def f(x):\n    if (x, 1) == ('banana', 1): return 3\n",
    ],
)
def test_looking_the_example_up_is_found(source: str) -> None:
    assert "banana" in found(source, "f('banana')")[0]


def test_a_list_given_as_input_is_found() -> None:
    assert found("def f(x):\n    if x == [3, 1]: return 1\n", "f([3, 1])")


@pytest.mark.parametrize(
    ("source", "call"),
    [
        ("def f(x):\n    if x == '': return 0\n", "f('')"),
        ("def f(x):\n    if x == 1: return 0\n", "f(1)"),
        ("def f(x):\n    if x == []: return 0\n", "f([])"),
        ("def f(x):\n    return x + 'banana'\n", "f('banana')"),
        ("def f(x):\n    if x == 'cherry': return 0\n", "f('banana')"),
        ("def f(x:\n", "f('banana')"),
    ],
)
def test_rules_are_not_taken_for_special_cases(source: str, call: str) -> None:
    assert found(source, call) == ()


def test_an_example_with_setup_is_examined_too() -> None:
    body = ("basket = Basket()", "assert basket_price(basket, 'banana') == 3")
    case = TestCase(name="test_given_1", trust="given", body=body, names=free_names(body), title="")
    source = "def basket_price(b, x):\n    return 3 if x == 'banana' else 0\n"
    assert special_cases(Candidate(files={"m.py": source}, origin="greedy"), [case], "") != ()


def test_a_table_with_more_than_the_examples_is_a_table() -> None:
    source = "def f(x):\n    return {404: 'Not Found', 500: 'Error', 200: 'OK'}[x]\n"
    assert found(source, "f(404)") == ()
    assert found("def f(x):\n    return {404: 'Not Found'}[x]\n", "f(404)") != ()


def test_a_value_that_the_prose_names_is_a_rule() -> None:
    source = "def f(x):\n    if x == 'banana': return 3\n"
    assert found(source, "f('banana')", prose="A banana counts three times.") == ()
