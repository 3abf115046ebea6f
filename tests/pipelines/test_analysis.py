from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.analysis import Analysis, apply_analysis, complete_requirement, read_plain, read_signature
from pipelines.model.scripted import ScriptedModel
from tests.pipelines.scenes import ISSUE, requirement, run_with

BARE = "# Slugs\n\nTitles of posts are to become short names that are safe in addresses, please.\n"
ANSWER = (
    '{"criteria": ["Lower case", "No spaces", "Lower case"],'
    ' "signatures": ["def slugify(title: str) -> str"], "module": "slugs"}'
)


async def test_an_issue_that_says_everything_costs_no_call(tmp_path: Path) -> None:
    model = ScriptedModel([])
    completed = await complete_requirement(run_with(tmp_path, model, None), requirement(ISSUE))
    assert completed.requirement == requirement(ISSUE)
    assert completed.assumptions == ()


async def test_what_is_missing_is_added_and_named_as_an_assumption(tmp_path: Path) -> None:
    model = ScriptedModel([ANSWER])
    completed = await complete_requirement(run_with(tmp_path, model, None), requirement(BARE))
    assert [c.text for c in completed.requirement.criteria] == ["Lower case", "No spaces"]
    assert {c.origin for c in completed.requirement.criteria} == {"model"}
    (signature,) = completed.requirement.signatures
    assert (signature.name, signature.parameters, signature.origin) == ("slugify", ("title",), "model")
    assert "`def slugify(title: str) -> str:`" in completed.assumptions[0]
    assert completed.module == "slugs"
    assert model.requests[0].role == "planner"
    assert model.requests[0].response_schema is not None


async def test_garbage_ends_in_the_issue_alone(tmp_path: Path) -> None:
    model = ScriptedModel(lambda _: "I would love to help!")
    completed = await complete_requirement(run_with(tmp_path, model, None), requirement(BARE))
    assert completed.requirement == requirement(BARE)
    assert "could not be used" in completed.assumptions[0]
    assert 1 < len(model.requests) <= 3


def test_criteria_of_the_issue_are_never_replaced() -> None:
    wanted = requirement(ISSUE)
    analysis = Analysis(criteria=["something else"], signatures=["def other()"], module="m")
    assert apply_analysis(wanted, analysis).requirement == wanted


def test_a_program_gets_no_signature() -> None:
    text = (
        "# Sum\n\nWrite a program `tools/total.py`.\n\nInput:\n\n```\n1\n2\n```\n\nOutput:\n\n```\n3\n```\n"
    )
    wanted = requirement(text)
    assert wanted.is_program
    analysis = Analysis(criteria=["sums"], signatures=["def total() -> int"], module="total")
    assert apply_analysis(wanted, analysis).requirement.signatures == ()


@pytest.mark.parametrize(
    ("line", "name", "kind"),
    [
        ("def f(a: int) -> str", "f", "function"),
        ("`def f(a):`", "f", "function"),
        ("f(a, b=1)", "f", "function"),
        ("class Stack", "Stack", "class"),
        ("class Stack(list):", "Stack", "class"),
    ],
)
def test_signatures_as_models_write_them(line: str, name: str, kind: str) -> None:
    signature = read_signature(line)
    assert signature is not None
    assert (signature.name, signature.kind) == (name, kind)
    compile(signature.stub, "stub", "exec")


@given(st.text(max_size=60))
def test_any_line_is_a_signature_or_nothing(line: str) -> None:
    signature = read_signature(line)
    if signature is not None:
        compile(signature.stub, "stub", "exec")


def test_prose_is_read_by_its_bullets_and_definitions() -> None:
    analysis = read_plain("Sure!\n- lower case\n- no spaces\n\n```\ndef slugify(title: str) -> str:\n```\n")
    assert analysis is not None
    assert analysis.criteria == ["lower case", "no spaces"]
    assert read_signature(analysis.signatures[0]) is not None
    assert read_plain("no idea") is None
