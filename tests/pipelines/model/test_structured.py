"""ask_json and parse_json against the answers that small models give."""

import contextlib
import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from pipelines.errors import BudgetExceeded, InfrastructureError, ModelError
from pipelines.model.protocol import Completion, ModelRequest
from pipelines.model.scripted import ScriptedModel
from pipelines.model.structured import ask_json, parse_json


class Step(BaseModel):
    name: str
    size: int = Field(ge=1)
    kind: Literal["small", "large"] = "small"


class Plan(BaseModel):
    steps: list[Step] = Field(min_length=1)


GOOD = '{"steps": [{"name": "parse", "size": 2}]}'
PLAN = Plan(steps=[Step(name="parse", size=2)])


def cut_off(text: str) -> Completion:
    return Completion(
        text=text, finish_reason="length", prompt_tokens=1, completion_tokens=40, seconds=0, model="m"
    )


def read_lines(text: str) -> Plan | None:
    steps = [
        Step(name=line.removeprefix("- "), size=1) for line in text.splitlines() if line.startswith("- ")
    ]
    return Plan(steps=steps) if steps else None


@pytest.mark.parametrize(
    "answer",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here is the plan:\n\n```json\n{GOOD}\n```\nGood luck!",
        f"~~~\n{GOOD}\n~~~",
        f"Sure! {GOOD} Hope this helps.",
        f"<think>Maybe {{}}?</think>\n{GOOD}",
        GOOD.replace('"', "'"),
        GOOD.replace("}]}", "},]}"),
        GOOD[:-1],
        GOOD.replace('"parse"', "parse"),
        '{"steps": [{"name": "parse", "size": "2"}]}',
        f'{{"steps": []}}\n{GOOD}',
        f"[{GOOD}]",
    ],
)
def test_readable_in_spite_of(answer: str) -> None:
    assert parse_json(answer, Plan) == PLAN


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "no JSON object"),
        ("I cannot.", "no JSON object"),
        ("<think>{", "no JSON object"),
        ('{"steps": []}', "steps: List should have at least 1 item"),
        ('{"steps": [{"name": "a", "size": 0}]}', r"steps\.0\.size: .*greater than or equal to 1"),
        ('{"steps": [{"name": "a", "size": 1, "kind": "huge"}]}', r"kind: .*'small' or 'large'"),
        ('{"plan": 1}', "steps: Field required"),
        ("{}", "steps: Field required"),
        ("[" * 3000, "does not fit"),
    ],
)
def test_unreadable_says_why(answer: str, problem: str) -> None:
    with pytest.raises(ModelError, match=problem):
        parse_json(answer, Plan)


def test_long_lists_of_faults_are_shortened() -> None:
    answer = json.dumps({"steps": [{} for _ in range(9)]})
    with pytest.raises(ModelError, match=r"and 13 more"):
        parse_json(answer, Plan)


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["{", "}", "[", "]", '"', ":", ",", "a", "```\n"])).map("".join)
)
def test_any_answer_is_data_or_a_model_error(answer: str) -> None:
    with contextlib.suppress(ModelError):
        assert parse_json(answer, Plan).steps


@given(
    name=st.text(max_size=20),
    size=st.integers(1, 10**9),
    fence=st.sampled_from(["{}", "```json\n{}\n```", "~~~\n{}\n~~~", "Plan:\n```\n{}\n```\nDone."]),
)
def test_valid_data_comes_back_equal(name: str, size: int, fence: str) -> None:
    plan = Plan(steps=[Step(name=name, size=size)])
    assert parse_json(fence.replace("{}", plan.model_dump_json()), Plan) == plan


async def test_first_answer_is_taken(request_: ModelRequest) -> None:
    model = ScriptedModel([GOOD])
    assert await ask_json(model, request_, Plan) == PLAN
    assert model.requests[0].response_schema == Plan.model_json_schema()


async def test_second_ask_quotes_the_answer_and_tells_the_fault(request_: ModelRequest) -> None:
    model = ScriptedModel(['{"steps": []}', GOOD])
    assert await ask_json(model, request_, Plan) == PLAN
    original, quoted, complaint = model.requests[1].messages
    assert original == request_.messages[0]
    assert (quoted.role, quoted.content) == ("assistant", '{"steps": []}')
    assert complaint.role == "user"
    assert "at least 1 item" in complaint.content


async def test_complaints_do_not_pile_up(request_: ModelRequest) -> None:
    model = ScriptedModel(["bad " * 2000, "worse", GOOD])
    await ask_json(model, request_, Plan, attempts=3)
    assert [len(request.messages) for request in model.requests] == [1, 3, 3]
    assert model.requests[2].messages[1].content == "worse"
    assert len(model.requests[1].messages[1].content) <= 2000


async def test_cut_off_answer_is_not_used_though_it_could_be_repaired(request_: ModelRequest) -> None:
    model = ScriptedModel([cut_off(GOOD[:-2]), GOOD])
    assert await ask_json(model, request_, Plan) == PLAN
    assert "cut off after 40 tokens" in model.requests[1].messages[-1].content


async def test_plain_text_is_read_at_once(request_: ModelRequest) -> None:
    model = ScriptedModel(["- parse\n- run"])
    plan = await ask_json(model, request_, Plan, fallback=read_lines)
    assert [step.name for step in plan.steps] == ["parse", "run"]


async def test_last_resort_is_the_request_without_a_schema(request_: ModelRequest) -> None:
    model = ScriptedModel(["{}", "{}", "<think>hm</think>\n- parse"])
    plan = await ask_json(model, request_, Plan, fallback=read_lines)
    assert plan.steps[0].name == "parse"
    assert model.requests[2] == request_


async def test_last_resort_may_be_json_after_all(request_: ModelRequest) -> None:
    assert await ask_json(ScriptedModel(["{}", "{}", GOOD]), request_, Plan, fallback=read_lines) == PLAN


async def test_nothing_fits(request_: ModelRequest) -> None:
    model = ScriptedModel(lambda _: "no")
    with pytest.raises(ModelError, match="No usable Plan"):
        await ask_json(model, request_, Plan, fallback=read_lines)
    assert len(model.requests) == 3
    with pytest.raises(ModelError, match="no JSON object"):
        await ask_json(model, request_, Plan)


async def test_server_that_refuses_the_schema_is_asked_in_words(request_: ModelRequest) -> None:
    model = ScriptedModel([ModelError("400: unsupported schema"), GOOD])
    assert await ask_json(model, request_, Plan) == PLAN
    assert model.requests[1].response_schema is None
    assert "JSON schema" in model.requests[1].messages[-1].content


async def test_server_that_refuses_everything(request_: ModelRequest) -> None:
    model = ScriptedModel([ModelError("too long"), ModelError("still too long")])
    with pytest.raises(ModelError, match="still too long"):
        await ask_json(model, request_, Plan)


@pytest.mark.parametrize("error", [InfrastructureError("down"), BudgetExceeded("spent")])
async def test_other_failures_pass_through(request_: ModelRequest, error: InfrastructureError) -> None:
    with pytest.raises(type(error)):
        await ask_json(ScriptedModel([error]), request_, Plan, fallback=read_lines)


async def test_fallback_that_chokes_counts_as_unreadable(request_: ModelRequest) -> None:
    def choke(text: str) -> Plan | None:
        return Plan(steps=[])

    with pytest.raises(ModelError, match="No usable Plan"):
        await ask_json(ScriptedModel(lambda _: "no"), request_, Plan, fallback=choke)
