"""The real embedded model: llama.cpp with the published weights."""

import asyncio
import importlib.util
import inspect
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import BaseModel, Field

from pipelines.errors import ModelError, RefusalError
from pipelines.model import code_blocks
from pipelines.model.code_blocks import extract_code
from pipelines.model.embedded import EmbeddedServer
from pipelines.model.endpoint import Endpoint
from pipelines.model.openai_client import OpenAIModel
from pipelines.model.protocol import Message, ModelRequest
from pipelines.model.structured import ask_json
from pipelines.model.weights import DEFAULT_WEIGHTS, default_folder
from tests.pipelines.model.processes import PARENT, ends_within, is_running

pytestmark = [pytest.mark.model, pytest.mark.asyncio(loop_scope="module")]

FENCE = "```python\n"


def weights() -> Path:
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("needs the extra 'embedded'")
    path = Path(os.environ.get("TEST_GGUF") or default_folder() / DEFAULT_WEIGHTS.name)
    if not path.is_file():
        pytest.skip(f"needs the weights {path}, or another GGUF file named by TEST_GGUF")
    return path


@dataclass
class Started:
    """The server that the tests of this module share, once the first of them has started it."""

    stack: AsyncExitStack
    server: EmbeddedServer | None = None


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def started() -> AsyncIterator[Started]:
    async with AsyncExitStack() as stack:
        yield Started(stack)


@pytest_asyncio.fixture(loop_scope="module")
async def server(started: Started) -> EmbeddedServer:
    """Started inside a test, for only tests that are marked may start a model."""
    if started.server is None:
        new = EmbeddedServer(weights(), context_tokens=2048, parallel=4)
        started.server = await started.stack.enter_async_context(new)
    return started.server


@pytest_asyncio.fixture(loop_scope="module")
async def model(server: EmbeddedServer) -> AsyncIterator[OpenAIModel]:
    endpoint = Endpoint.model_validate({"base_url": server.base_url, "api_key": server.api_key})
    async with OpenAIModel(endpoint) as client:
        yield client


def ask(content: str, **changes: object) -> ModelRequest:
    fields = {"role": "executor", "messages": [Message(role="user", content=content)], "max_tokens": 96}
    return ModelRequest.model_validate({**fields, **changes})


async def test_server_tells_what_one_request_may_take(model: OpenAIModel, server: EmbeddedServer) -> None:
    facts = await model.facts()
    assert (facts.kind, facts.model, facts.context_tokens) == ("llamacpp", server.model, 2048)


async def test_prefilled_answer_is_code_at_once(model: OpenAIModel) -> None:
    request = ask("Write a Python function add(a, b).", prefill=FENCE, stop=("\n```",))
    completion = await model.complete(request)
    assert not completion.text.startswith("```")
    assert completion.prompt_tokens > 10
    namespace: dict[str, object] = {}
    exec(extract_code(completion.text, prefilled=True), namespace)
    assert callable(namespace["add"])


async def test_same_seed_same_answer(model: OpenAIModel) -> None:
    request = ask("Invent a name for a cat.", temperature=1.0, seed=5, max_tokens=12)
    first = await model.complete(request)
    assert (await model.complete(request)).text == first.text


async def test_answer_is_cut_at_max_tokens(model: OpenAIModel) -> None:
    completion = await model.complete(ask("Count from 1 to 100.", max_tokens=8))
    assert completion.finish_reason == "length"
    assert completion.completion_tokens == 8


async def test_json_of_a_schema(model: OpenAIModel) -> None:
    class Names(BaseModel):
        names: list[str] = Field(min_length=2, max_length=2)

    assert len((await ask_json(model, ask("Name two colours."), Names)).names) == 2


async def test_requests_are_answered_side_by_side(model: OpenAIModel) -> None:
    requests = [ask(f"Say the number {number}.", max_tokens=6) for number in range(6)]
    completions = await asyncio.gather(*map(model.complete, requests))
    assert all(completion.text.strip() for completion in completions)


async def test_estimate_of_tokens_errs_on_the_safe_side(model: OpenAIModel) -> None:
    code = inspect.getsource(code_blocks)[:2000]
    completion = await model.complete(ask(f"{code}\nWhat is this?", max_tokens=1))
    assert 0.5 < completion.prompt_tokens / (len(code) / 3) <= 1.0


async def test_prompt_beyond_the_context_is_refused(model: OpenAIModel, server: EmbeddedServer) -> None:
    request = ask("word " * 3000)
    with pytest.raises(ModelError, match="2048"):
        await model.complete(request)
    trusting = Endpoint.model_validate(
        {"base_url": server.base_url, "api_key": server.api_key, "context_tokens": 99_999}
    )
    async with OpenAIModel(trusting) as client:
        with pytest.raises(ModelError, match="exceeds the available context"):
            await client.complete(request)


async def test_strangers_are_turned_away(server: EmbeddedServer) -> None:
    async with OpenAIModel(Endpoint(base_url=server.base_url)) as stranger:
        with pytest.raises(RefusalError, match="API key"):
            await stranger.complete(ask("Hello"))


async def test_killed_parent_leaves_no_orphan() -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, str(weights()), stdout=subprocess.PIPE
    )
    assert parent.stdout
    child = int(await parent.stdout.readline())
    assert is_running(child)
    parent.kill()
    await parent.wait()
    assert await asyncio.to_thread(ends_within, child, 10)
