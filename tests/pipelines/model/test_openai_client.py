"""OpenAIModel against real sockets: good answers, bad answers, none at all."""

import asyncio
import socket

import pytest

from pipelines.errors import InfrastructureError, ModelError, RefusalError
from pipelines.model.endpoint import Endpoint, Timeouts
from pipelines.model.openai_client import OpenAIModel
from pipelines.model.protocol import Completion, Message, ModelRequest
from tests.pipelines.model.fake_server import (
    LLAMACPP,
    OTHER,
    VLLM,
    FakeServer,
    answer,
    chunk,
    error_reply,
    json_reply,
    raw_reply,
    serving,
    stream,
    usage,
)

QUICK = Timeouts(connect=1, first_token=0.3, between_tokens=0.3, total=5)


async def ask(server: FakeServer, request: ModelRequest, **settings: object) -> Completion:
    async with OpenAIModel(Endpoint(base_url=server.base_url, **settings)) as model:
        return await model.complete(request)


async def test_streamed_answer_with_counts(request_: ModelRequest) -> None:
    reply = stream(chunk("", role="assistant"), chunk("def "), chunk("f"), chunk(finish="stop"), usage(11, 2))
    async with serving(reply) as server:
        completion = await ask(server, request_)
    assert completion.text == "def f"
    assert completion.finish_reason == "stop"
    assert (completion.prompt_tokens, completion.completion_tokens) == (11, 2)
    assert completion.model == "tiny"
    assert completion.seconds >= 0


async def test_counts_are_estimated_when_the_server_sends_none(request_: ModelRequest) -> None:
    async with serving(stream(chunk("def f(): pass"), chunk(finish="stop"))) as server:
        completion = await ask(server, request_)
    assert completion.prompt_tokens > 0
    assert completion.completion_tokens > 0


async def test_cut_off_answer_is_reported_as_such(request_: ModelRequest) -> None:
    async with serving(answer("def f(", finish="length")) as server:
        assert (await ask(server, request_)).finish_reason == "length"


async def test_filtered_answer_is_a_model_error(request_: ModelRequest) -> None:
    async with serving(answer("de", finish="content_filter")) as server:
        with pytest.raises(ModelError, match="content filter"):
            await ask(server, request_)


async def test_failure_then_success_is_one_answer(request_: ModelRequest) -> None:
    async with serving(error_reply(500, "oops"), answer("ok")) as server:
        assert (await ask(server, request_)).text == "ok"
        assert len(server.bodies) == 2


async def test_busy_server_is_asked_again_after_the_time_it_named(request_: ModelRequest) -> None:
    async with serving(error_reply(429, "busy", headers="Retry-After: 1\r\n"), answer("ok")) as server:
        assert (await ask(server, request_)).text == "ok"
        assert len(server.bodies) == 2


async def test_lasting_failure_names_status_and_server(request_: ModelRequest) -> None:
    async with serving(error_reply(500, "engine died")) as server:
        with pytest.raises(InfrastructureError, match=rf"{server.base_url} answered 500.*engine died"):
            await ask(server, request_)
        assert len(server.bodies) == 3


async def test_refused_connection_says_that_the_server_is_not_there(request_: ModelRequest) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    async with OpenAIModel(Endpoint(base_url=url)) as model:
        with pytest.raises(InfrastructureError, match=r"cannot be reached.*Check that it runs"):
            await model.complete(request_)


async def test_server_that_dies_after_the_first_answer(request_: ModelRequest) -> None:
    async with serving(answer("ok")) as server, OpenAIModel(Endpoint(base_url=server.base_url)) as model:
        await model.complete(request_)
        server.replies[:] = [raw_reply(200, b"", kind="text/event-stream")]
        with pytest.raises(InfrastructureError, match="finish reason None"):
            await model.complete(request_)


async def test_silence_before_the_first_token(request_: ModelRequest) -> None:
    async with serving(stream(chunk("", role="assistant"), hang=30)) as server:
        with pytest.raises(InfrastructureError, match=r"sent no token within 0.3 s \(first_token\).*is slow"):
            await ask(server, request_, timeouts=QUICK)


async def test_silence_in_the_middle(request_: ModelRequest) -> None:
    async with serving(stream(chunk("def"), hang=30)) as server:
        with pytest.raises(InfrastructureError, match=r"\(between_tokens\).*still answers"):
            await ask(server, request_, timeouts=QUICK)


async def test_endless_answer_ends_at_the_total_timeout(request_: ModelRequest) -> None:
    endless = stream(*[chunk("x")] * 400, pause=0.05)
    timeouts = Timeouts(connect=1, first_token=1, between_tokens=1, total=0.4)
    async with serving(endless) as server:
        with pytest.raises(InfrastructureError, match=r"did not finish.*\(total\)"):
            await ask(server, request_, timeouts=timeouts)


async def test_stuck_server_is_told_from_a_slow_one(request_: ModelRequest) -> None:
    async with (
        serving(stream(chunk("def"), hang=30)) as server,
        OpenAIModel(Endpoint(base_url=server.base_url, timeouts=QUICK)) as model,
    ):
        await model.facts()
        server.pages["/v1/models"] = raw_reply(200, b"<html>gone</html>", kind="application/json")
        with pytest.raises(InfrastructureError, match="answers nothing at all"):
            await model.complete(request_)


async def test_slow_but_steady_answer_outlives_the_first_token_timeout(request_: ModelRequest) -> None:
    steady = stream(*[chunk("x")] * 8, chunk(finish="stop"), pause=0.1)
    async with serving(steady) as server:
        assert (await ask(server, request_, timeouts=QUICK)).text == "x" * 8


async def test_reasoning_counts_as_a_sign_of_life(request_: ModelRequest) -> None:
    thinking = [chunk(None, reasoning_content="hm")] * 6
    async with serving(stream(*thinking, chunk("ok"), chunk(finish="stop"), pause=0.1)) as server:
        assert (await ask(server, request_, timeouts=QUICK)).text == "ok"


@pytest.mark.parametrize("empty", [answer(""), answer("  \n")])
async def test_empty_answer_is_asked_again(request_: ModelRequest, empty: object) -> None:
    async with serving(empty, answer("ok")) as server:  # type: ignore[arg-type]
        assert (await ask(server, request_)).text == "ok"


async def test_nothing_but_empty_answers_is_a_model_error(request_: ModelRequest) -> None:
    async with serving(answer("")) as server:
        with pytest.raises(ModelError, match="answered nothing"):
            await ask(server, request_)
        assert len(server.bodies) == 3


@pytest.mark.parametrize(
    "garbage",
    [
        stream("{not json"),
        stream([]),
        stream({"choices": ["x"], "usage": None}),
        stream({"error": {"message": "exploded"}}),
        stream(chunk("def"), done=False),
        raw_reply(200, b"<html>hello</html>", kind="text/html"),
    ],
)
async def test_garbage_is_an_infrastructure_error(request_: ModelRequest, garbage: object) -> None:
    async with serving(garbage) as server:  # type: ignore[arg-type]
        with pytest.raises(InfrastructureError, match=server.base_url):
            await ask(server, request_)


@pytest.mark.parametrize(("status", "advice"), [(401, "API key"), (403, "API key"), (404, "model's name")])
async def test_wrong_settings_are_for_the_person(request_: ModelRequest, status: int, advice: str) -> None:
    async with serving(error_reply(status, "no")) as server:
        with pytest.raises(RefusalError, match=advice):
            await ask(server, request_)
        assert len(server.bodies) == 1


async def test_refused_request_is_a_model_error_and_not_repeated(request_: ModelRequest) -> None:
    async with serving(error_reply(400, "request (6030 tokens) exceeds the context")) as server:
        with pytest.raises(ModelError, match="6030 tokens"):
            await ask(server, request_)
        assert len(server.bodies) == 1


async def test_too_long_prompt_is_not_even_sent() -> None:
    request = ModelRequest(
        role="executor", messages=(Message(role="user", content="word " * 4000),), max_tokens=512
    )
    async with serving(answer("ok")) as server:
        with pytest.raises(ModelError, match=r"about \d+ tokens; tiny takes 4096"):
            await ask(server, request)
        assert server.bodies == []


async def test_base_url_of_something_else(request_: ModelRequest) -> None:
    async with serving(answer("ok"), models="welcome") as server:
        with pytest.raises(RefusalError, match="does not speak the OpenAI API"):
            await ask(server, request_)


async def test_models_page_that_hangs(request_: ModelRequest) -> None:
    async def silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async with (
        serving(answer("ok"), models=silent) as server,
        OpenAIModel(Endpoint(base_url=server.base_url, timeouts=Timeouts(connect=0.1))) as model,
    ):
        with pytest.raises(InfrastructureError, match=r"stuck or still loading"):
            await model.facts()


async def test_older_llamacpp_tells_its_context_in_props() -> None:
    listing = {"data": [{"id": "tiny", "owned_by": "llamacpp", "meta": {"n_ctx_train": 32768}}]}
    props = {"default_generation_settings": {"n_ctx": 2048}}
    async with (
        serving(answer("ok"), models=listing, props=props) as server,
        OpenAIModel(Endpoint(base_url=server.base_url)) as model,
    ):
        assert (await model.facts()).context_tokens == 2048


async def test_props_may_be_missing() -> None:
    listing = {"data": [{"id": "tiny", "owned_by": "llamacpp"}]}
    async with (
        serving(answer("ok"), models=listing) as server,
        OpenAIModel(Endpoint(base_url=server.base_url)) as model,
    ):
        assert (await model.facts()).context_tokens is None


async def test_never_more_than_max_in_flight(request_: ModelRequest) -> None:
    slow = stream(chunk("ok"), chunk(finish="stop"), pause=0.05)
    async with (
        serving(slow) as server,
        OpenAIModel(Endpoint(base_url=server.base_url, max_in_flight=2)) as model,
    ):
        await asyncio.gather(*(model.complete(request_) for _ in range(6)))
    assert server.most_in_flight == 2
    assert len(server.bodies) == 6


async def test_cancelling_closes_the_stream(request_: ModelRequest) -> None:
    async with (
        serving(stream(*[chunk("x")] * 1000, pause=0.01)) as server,
        OpenAIModel(Endpoint(base_url=server.base_url)) as model,
        asyncio.timeout(8),
    ):
        call = asyncio.create_task(model.complete(request_))
        await server.begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await server.ended.wait()


async def test_key_is_sent_and_shown_nowhere(request_: ModelRequest) -> None:
    async with serving(error_reply(401, "no")) as server:
        with pytest.raises(RefusalError) as caught:
            await ask(server, request_, api_key="sk-secret")
    assert any("Bearer sk-secret" in head for head in server.headers)
    assert "sk-secret" not in str(caught.value)


async def test_key_of_the_environment_stays_there(
    request_: ModelRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-service")
    async with serving(answer("ok")) as server:
        await ask(server, request_)
    assert not any("sk-of-another-service" in head for head in server.headers)


async def test_proxy_of_the_environment_is_not_asked_for_loopback(
    request_: ModelRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with serving(answer("ok")) as server:
        assert (await ask(server, request_)).text == "ok"


async def test_server_without_prefill_gives_the_same_text(request_: ModelRequest) -> None:
    request = request_.model_copy(update={"prefill": "```python\n", "stop": ("\n```",)})
    text = "Sure, here it is:\n```python\ndef f():\n    pass\n```\nEnjoy!"
    async with serving(answer(text), models=OTHER) as server:
        completion = await ask(server, request)
    assert completion.text == "def f():\n    pass"
    assert "stop" not in server.bodies[0]
    assert server.bodies[0]["messages"][-1]["role"] == "user"


@pytest.mark.parametrize(("models", "extra"), [(LLAMACPP, set()), (VLLM, {"continue_final_message"})])
async def test_prefill_reaches_the_wire(request_: ModelRequest, models: object, extra: set[str]) -> None:
    request = request_.model_copy(update={"prefill": "```python\n", "stop": ("\n```",)})
    async with serving(answer("def f(): pass"), models=models) as server:
        await ask(server, request)
    body = server.bodies[0]
    assert body["messages"][-1] == {"role": "assistant", "content": "```python\n"}
    assert body["stop"] == ["\n```"]
    assert extra <= body.keys()


async def test_detection_happens_once(request_: ModelRequest) -> None:
    async with serving(answer("ok")) as server, OpenAIModel(Endpoint(base_url=server.base_url)) as model:
        await asyncio.gather(*(model.complete(request_) for _ in range(4)))
    assert sum("GET /v1/models" in head for head in server.headers) == 1


async def test_schema_reaches_the_wire(request_: ModelRequest) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    async with serving(answer("{}")) as server:
        await ask(server, request_.model_copy(update={"response_schema": schema}))
    assert server.bodies[0]["response_format"]["json_schema"] == {
        "name": "answer",
        "strict": True,
        "schema": schema,
    }


async def test_json_page_404_for_models_is_for_the_person(request_: ModelRequest) -> None:
    async with serving(answer("ok"), models=json_reply(404, {})) as server:
        with pytest.raises(RefusalError, match="base URL"):
            await ask(server, request_)
