import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.checks.written import Check, label_checks, read_checks


def check(call: str, expected: str) -> Check:
    return Check(call=call, expected=expected, body=(), criteria=())


def test_asserts_of_the_function_with_literal_results_are_read() -> None:
    source = (
        "assert f(1) == 2  # C1\n"
        "assert f('a') is None\n"
        "assert f([])\n"
        "assert not f({})\n"
        "assert g(1) == 2\n"
        "assert f(2) == g(1)\n"
        "assert f(3) != 1\n"
        "assert 1 == 1\n"
        "x = f(1)\n"
    )
    checks = read_checks(source, "f")
    assert [(c.call, c.expected) for c in checks] == [
        ("f(1)", "2"),
        ("f('a')", "None"),
        ("f([])", "True"),
        ("f({})", "False"),
    ]
    assert checks[0].criteria == ("C1",)


def test_functions_of_several_steps_are_read_when_they_use_the_subject_and_assert() -> None:
    source = (
        "def test_push():\n    'doc'\n    s = Stack()\n    s.push(1)\n    assert s.pop() == 1\n"
        "def test_other():\n    assert 1 == 1\n"
        "def test_idle():\n    Stack()\n"
        "def test_fixture(tmp_path):\n    assert Stack()\n"
    )
    (only,) = read_checks(source, "Stack")
    assert only.body == ("s = Stack()", "s.push(1)", "assert s.pop() == 1")


def test_text_that_is_no_python_has_no_checks() -> None:
    assert read_checks("assert f(1) ==", "f") == []


def test_two_generations_that_agree_make_a_test_agreed() -> None:
    one, two, three = [check("f(1)", "2")], [check("f(1)", "2")], [check("f(1)", "3"), check("f(2)", "4")]
    cases = label_checks([one, two, three])
    assert [(c.call, c.trust, c.body) for c in cases] == [
        ("f(1)", "agreed", ("assert f(1) == 2",)),
        ("f(2)", "guessed", ("assert f(2) == 4",)),
    ]


def test_one_generation_repeating_itself_is_one_vote() -> None:
    (case,) = label_checks([[check("f(1)", "2"), check("f(1)", "2")]])
    assert case.trust == "guessed"


def test_half_of_the_votes_is_not_agreement() -> None:
    generations = [[check("f(1)", "2")]] * 2 + [[check("f(1)", "3")]] * 2
    (case,) = label_checks(generations)
    assert case.trust == "guessed"


@given(st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=4), max_size=5))
def test_names_are_unique_and_agreement_needs_two(generations: list[list[tuple[int, int]]]) -> None:
    written = [[check(f"f({a})", str(b)) for a, b in checks] for checks in generations]
    cases = label_checks(written)
    assert len({case.name for case in cases}) == len(cases)
    assert len({case.call for case in cases}) == len(cases)
    for case in cases:
        said = [
            checks
            for checks in written
            if any(f"assert {c.call} == {c.expected}" == case.body[0] for c in checks)
        ]
        assert len(said) >= (2 if case.trust == "agreed" else 1)


@pytest.mark.parametrize("source", ["", "\x00", "assert f(" + "(" * 200, "assert f(1) == 10**10**10"])
def test_nothing_a_model_writes_breaks_the_reader(source: str) -> None:
    assert read_checks(source, "f") == []
