"""The scripted model and the routing by role."""

import pytest

from pipelines.errors import InfrastructureError
from pipelines.model.protocol import Completion, ModelRequest
from pipelines.model.routing import RoleModel
from pipelines.model.scripted import ScriptedModel


async def test_list_answers_in_order_and_records(request_: ModelRequest) -> None:
    model = ScriptedModel(["a", "b"])
    assert [(await model.complete(request_)).text for _ in range(2)] == ["a", "b"]
    assert model.requests == [request_, request_]


async def test_function_sees_the_request(request_: ModelRequest) -> None:
    model = ScriptedModel(lambda request: request.messages[0].content.upper())
    completion = await model.complete(request_)
    assert completion.text == "WRITE F."
    assert completion.finish_reason == "stop"
    assert completion.prompt_tokens > 0
    assert completion.completion_tokens > 0


async def test_errors_and_whole_completions(request_: ModelRequest) -> None:
    whole = Completion(
        text="x", finish_reason="length", prompt_tokens=1, completion_tokens=2, seconds=3, model="m"
    )
    model = ScriptedModel([InfrastructureError("down"), whole])
    with pytest.raises(InfrastructureError, match="down"):
        await model.complete(request_)
    assert await model.complete(request_) is whole


async def test_end_of_the_script_is_loud(request_: ModelRequest) -> None:
    with pytest.raises(LookupError, match=r"request 1, which ends in: 'Write f\.'"):
        await ScriptedModel([]).complete(request_)


async def test_roles_go_to_their_models(request_: ModelRequest) -> None:
    planner, executor = ScriptedModel(["plan"]), ScriptedModel(["code"])
    model = RoleModel(planner=planner, executor=executor)
    plan_request = request_.model_copy(update={"role": "planner"})
    assert (await model.complete(request_)).text == "code"
    assert (await model.complete(plan_request)).text == "plan"
    assert planner.requests == [plan_request]
    assert executor.requests == [request_]
