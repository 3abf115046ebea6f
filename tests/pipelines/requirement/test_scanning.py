import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.requirement.scanning import Effort, closing, value_cuts

_TEXTS = st.text(alphabet="([{}])\"'\\\\\n ,.#ab1", max_size=60)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("(1)", 3),
        ("(1) + (2)", 3),
        ("([{}])x", 6),
        ('(")")', 5),
        ("(')', \"(\")", 10),
        (r"('\')')", 7),
        ("(\n1,\n)", 6),
        ("(1", None),
        ("(1]", None),
        ("(don't)", 7),
    ],
)
def test_closing_bracket(text: str, end: int | None) -> None:
    assert closing(text, 0, Effort()) == end


@given(_TEXTS)
def test_closing_returns_balanced_brackets(text: str) -> None:
    end = closing(f"({text}", 0, Effort())
    if end is not None:
        inside = re.sub(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", "", f"({text}"[:end])
        assert all(inside.count(left) == inside.count(right) for left, right in ("()", "[]", "{}"))


def test_closing_gives_up_on_a_bracket_that_closes_too_far_away() -> None:
    assert closing("(" + " " * 5000 + ")", 0, Effort()) is None


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1.5. Then", ["1.5. Then", "1.5.", "1.5", "1"]),
        ("[1, 2], and", ["[1, 2], and", "[1, 2],", "[1, 2]"]),
        ("'a b' # why", ["'a b' ", "'a b'"]),
        ("3) more", ["3"]),
        ("[1\n2]\nx", ["[1\n2]"]),
        ("[1", []),
    ],
)
def test_places_where_a_value_may_end(text: str, values: list[str]) -> None:
    assert [text[:end] for end in value_cuts(text, 0, Effort())] == values


@given(_TEXTS)
def test_cuts_fall_and_stay_inside_the_text(text: str) -> None:
    cuts = list(value_cuts(text, 0, Effort()))
    assert cuts == sorted(set(cuts), reverse=True)
    assert all(0 <= cut <= len(text) for cut in cuts)


@given(st.lists(st.integers(min_value=1, max_value=9), max_size=20), st.integers(min_value=1, max_value=50))
def test_effort_ends_once_its_steps_are_used_up(costs: list[int], steps: int) -> None:
    effort = Effort(steps)
    granted = [effort.spend(cost) for cost in costs]
    assert granted == [sum(costs[: index + 1]) <= steps for index in range(len(costs))]
    assert effort.exhausted == (sum(costs) > steps)


def test_no_effort_left_means_no_answer() -> None:
    assert closing("(1)", 0, Effort(0)) is None
    assert list(value_cuts("1, 2", 0, Effort(0))) == []
