import ast
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.checks import observer_script
from pipelines.checks.mutate import mutated_calls, stable_repr, vary
from pipelines.checks.observe import Observation, read_observations
from pipelines.checks.observer_script import canonical
from pipelines.checks.vote import best_index, soft_vote


def values(*texts: str) -> list[Observation]:
    return [
        Observation(kind="raised", text=text[1:])
        if text.startswith("!")
        else Observation(kind="value", text=text)
        for text in texts
    ]


def test_the_majority_on_each_input_counts() -> None:
    scores = soft_vote([values("1", "2"), values("1", "3"), values("9", "3")])
    assert scores == pytest.approx([2 / 3 + 1 / 3, 2 / 3 + 2 / 3, 1 / 3 + 2 / 3])


def test_agreement_in_failing_is_worth_nothing() -> None:
    assert soft_vote([values("!TypeError"), values("!TypeError"), values("1")]) == pytest.approx(
        [0, 0, 1 / 3]
    )


def test_given_tests_beat_votes_and_the_earliest_wins_a_tie() -> None:
    assert best_index([1, 2, 2], [9.0, 1.0, 1.0]) == 1
    assert best_index([2, 2], [1.0, 3.0]) == 1
    assert best_index([0], [0.0]) == 0


literals = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.lists(literals, min_size=1, max_size=3), st.integers(0, 1000))
def test_variants_are_calls_of_the_same_function_with_literal_arguments(
    arguments: list[Any], seed: int
) -> None:
    call = f"f({', '.join(map(repr, arguments))})"
    variants = mutated_calls([call], rng=random.Random(seed), limit=10)
    assert len(variants) <= 10
    assert variants == mutated_calls([call], rng=random.Random(seed), limit=10)
    for variant in variants:
        tree = ast.parse(variant, mode="eval").body
        assert isinstance(tree, ast.Call)
        assert len(tree.args) == len(arguments)
        assert ast.unparse(tree) != ast.unparse(ast.parse(call, mode="eval"))
        [ast.literal_eval(argument) for argument in tree.args]


@given(literals)
def test_variants_keep_the_type(value: Any) -> None:
    assert all(type(other) is type(value) for other in vary(value, random.Random(0)))


@given(literals)
def test_the_stable_text_of_a_value_is_the_value(value: Any) -> None:
    assert ast.literal_eval(stable_repr(value)) == value


def test_doubling_the_largest_number_still_gives_a_literal() -> None:
    for call in ("f(1e308)", "f([1e308])", "f(1e999)", "f(-1e999)"):
        for variant in mutated_calls([call], rng=random.Random(0)):
            ast.literal_eval(variant.removeprefix("f(").removesuffix(")"))


def test_sets_are_written_the_same_in_every_process() -> None:
    program = (
        "import random; from pipelines.checks.mutate import mutated_calls;"
        "print(mutated_calls([\"f({'ab', 'cd', 'ef'}, [{'x', 'y'}])\"], rng=random.Random(1)))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1
    assert "ab" in said.pop()


def test_what_is_no_call_or_not_literal_is_left_alone() -> None:
    assert mutated_calls(["f", "f(x)", "1 + 1"], rng=random.Random(0)) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.1 + 0.2, 0.3),
        ({3, 1, 2}, {2, 3, 1}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ((x for x in [1, 2]), (x for x in (1, 2))),
        ([{1.0, 2.0}], [{2.0, 1.0}]),
    ],
)
def test_equal_values_have_one_text(one: object, other: object) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(("one", "other"), [([1], (1,)), (1, True), ("1", 1), ([1, 2], [2, 1]), (None, 0)])
def test_different_values_have_different_texts(one: object, other: object) -> None:
    assert canonical(one) != canonical(other)


def test_objects_without_a_text_of_their_own_are_told_by_their_state() -> None:
    class Point:
        def __init__(self, x: int) -> None:
            self.x = x

    assert canonical(Point(1)) == canonical(Point(1))
    assert canonical(Point(1)) != canonical(Point(2))


def run_script(tmp_path: Path, module: str, calls: list[str]) -> tuple[Observation, ...]:
    (tmp_path / "mod.py").write_text(module)
    script = Path(observer_script.__file__)
    job = {"imports": ["from mod import *"], "calls": calls, "seconds": 0.5}
    done = subprocess.run(
        [sys.executable, str(script)],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(tmp_path)},
    )
    return read_observations(done.stdout, len(calls))


def test_the_script_tells_values_exceptions_and_hangs_apart(tmp_path: Path) -> None:
    module = (
        "def f(x):\n    print('noise')\n    if x < 0: raise ValueError(x)\n"
        "    while x > 9: pass\n    return [x, 0.1 + 0.2]\n"
    )
    seen = run_script(tmp_path, module, ["f(1)", "f(-1)", "f(10)", "f(", "g(1)", "f(2)"])
    assert [item.kind for item in seen] == ["value", "raised", "timeout", "raised", "raised", "value"]
    assert seen[0].text == "[1,0.3]"
    assert seen[1].text == "ValueError"


def test_a_module_that_ends_the_script_leaves_calls_unanswered(tmp_path: Path) -> None:
    module = "import os\ndef f(x):\n    if x: os._exit(0)\n    return 1\n"
    seen = run_script(tmp_path, module, ["f(0)", "f(1)", "f(0)"])
    assert [item.kind for item in seen] == ["value", "none", "none"]
