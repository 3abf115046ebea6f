"""Decisions about servers: what they are, what they get, what fits."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipelines.errors import ModelError, RefusalError
from pipelines.model.dialect import (
    MIN_ANSWER_TOKENS,
    ServerFacts,
    chat_arguments,
    context_of_props,
    cut_to_prefill,
    estimate_prompt_tokens,
    estimate_tokens,
    read_models,
)
from pipelines.model.endpoint import Endpoint
from pipelines.model.protocol import Message, ModelRequest
from tests.pipelines.model.fake_server import LLAMACPP, OTHER, VLLM

URL = "http://127.0.0.1:8000/v1"
FENCE = "```python\n"


def facts(kind: Any = "llamacpp", context_tokens: int | None = None) -> ServerFacts:
    return ServerFacts(kind=kind, model="tiny", context_tokens=context_tokens)


def request(content: str = "hi", **changes: Any) -> ModelRequest:
    messages = (Message(role="user", content=content),)
    return ModelRequest(role="executor", messages=messages, **{"max_tokens": 1000, **changes})


def arguments(asked: ModelRequest, known: ServerFacts, **settings: Any) -> dict[str, Any]:
    return chat_arguments(asked, Endpoint(base_url=URL, **settings), known)


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        (LLAMACPP, facts("llamacpp", 4096)),
        (VLLM, facts("vllm", 8192)),
        (OTHER, facts("other")),
        ({"data": [{"id": "tiny", "owned_by": "llamacpp", "meta": None}]}, facts("llamacpp")),
        ({"data": [{"id": "tiny", "owned_by": "vllm", "max_model_len": "many"}]}, facts("vllm")),
    ],
)
def test_servers_are_recognised(listing: object, expected: ServerFacts) -> None:
    assert read_models(listing, Endpoint(base_url=URL)) == expected


def test_the_wanted_model_is_chosen_by_id_or_alias() -> None:
    listing = {"data": [{"id": "a"}, {"id": "b", "aliases": ["big"], "max_model_len": 99}]}
    for name in ("b", "big"):
        chosen = read_models(listing, Endpoint(base_url=URL, model=name))
        assert (chosen.model, chosen.context_tokens) == ("b", 99)


def test_an_unlisted_model_is_asked_for_by_its_name() -> None:
    chosen = read_models(VLLM, Endpoint(base_url=URL, model="hidden"))
    assert chosen == ServerFacts(kind="vllm", model="hidden", context_tokens=None)
    assert read_models({"data": []}, Endpoint(base_url=URL, model="hidden")).kind == "other"


def test_no_model_at_all() -> None:
    with pytest.raises(RefusalError, match="serves no model"):
        read_models({"data": []}, Endpoint(base_url=URL))


@pytest.mark.parametrize("listing", ["<html>", None, {}, [], {"data": "x"}, {"data": ["x"]}])
def test_other_answers_are_refused(listing: object) -> None:
    with pytest.raises(RefusalError, match="does not speak the OpenAI API"):
        read_models(listing, Endpoint(base_url=URL))


def test_settings_overrule_the_server() -> None:
    assert read_models(VLLM, Endpoint(base_url=URL, context_tokens=2000)).context_tokens == 2000


@pytest.mark.parametrize(
    ("props", "expected"),
    [
        ({"default_generation_settings": {"n_ctx": 512}}, 512),
        ({}, None),
        ("x", None),
        ({"default_generation_settings": 1}, None),
    ],
)
def test_context_of_props(props: object, expected: int | None) -> None:
    assert context_of_props(props) == expected


@pytest.mark.parametrize(
    ("kind", "send_seed", "sent"),
    [
        ("llamacpp", None, True),
        ("llamacpp", False, False),
        ("vllm", None, False),
        ("vllm", True, True),
        ("other", None, False),
        ("other", True, True),
    ],
)
def test_seed_is_kept_from_servers_that_die_of_it(kind: str, send_seed: bool | None, sent: bool) -> None:
    assert ("seed" in arguments(request(seed=7), facts(kind), send_seed=send_seed)) is sent


def test_no_seed_is_not_seed_zero() -> None:
    assert "seed" not in arguments(request(), facts())
    assert arguments(request(seed=0), facts())["seed"] == 0


def test_prefill_for_each_kind_of_server() -> None:
    asked = request(prefill=FENCE, stop=("\n```",))
    turn = {"role": "assistant", "content": FENCE}
    plain = arguments(asked, facts("llamacpp"))
    assert plain["messages"][-1] == turn
    assert "extra_body" not in plain
    vllm = arguments(asked, facts("vllm"))
    assert vllm["messages"][-1] == turn
    assert vllm["extra_body"] == {"continue_final_message": True, "add_generation_prompt": False}
    other = arguments(asked, facts("other"))
    assert turn not in other["messages"]
    assert "stop" not in other


def test_prefill_setting_overrules_detection() -> None:
    assert "extra_body" in arguments(request(prefill=FENCE), facts("other"), prefill="vllm")
    assert arguments(request(prefill=FENCE), facts("vllm"), prefill="none")["messages"][-1]["role"] == "user"


def test_stop_is_sent_where_nothing_was_prefilled() -> None:
    assert arguments(request(stop=("END",)), facts("other"))["stop"] == ["END"]


def test_a_request_is_not_changed_by_sending_it() -> None:
    asked = request(prefill=FENCE)
    before = asked.digest()
    arguments(asked, facts())
    assert asked.digest() == before


@given(words=st.integers(0, 1500), max_tokens=st.integers(1, 3000), context=st.integers(300, 4000))
def test_prompt_and_answer_fit_the_context(words: int, max_tokens: int, context: int) -> None:
    asked = request("word " * words, max_tokens=max_tokens)
    prompt = estimate_prompt_tokens(asked)
    least = min(max_tokens, MIN_ANSWER_TOKENS)
    if prompt + least > context:
        with pytest.raises(ModelError, match=rf"about {prompt} tokens; tiny takes {context} "):
            arguments(asked, facts(context_tokens=context))
        return
    granted = arguments(asked, facts(context_tokens=context))["max_tokens"]
    assert least <= granted <= max_tokens
    assert prompt + granted <= context


def test_unknown_context_limits_nothing() -> None:
    assert arguments(request("word " * 9000), facts())["max_tokens"] == 1000


@given(st.text(max_size=200), st.text(max_size=200))
def test_estimate_grows_with_the_text(a: str, b: str) -> None:
    assert 0 <= estimate_tokens(a) <= estimate_tokens(a + b) <= estimate_tokens(a) + estimate_tokens(b) + 1


def test_digits_and_other_scripts_weigh_more() -> None:
    assert estimate_tokens("1234567890") == 10
    assert estimate_tokens("编程语言") == 4
    assert estimate_tokens("def function") == 4
    assert estimate_tokens("") == 0


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("```python\nx = 1\n```\nDone", "x = 1"),
        ("Sure:\n\n```py\nx = 1\n```", "x = 1"),
        ("  \n```python\nx = 1", "x = 1"),
        ("<think>```\n</think>\n```python\nx = 1\n```", "x = 1"),
        ("x = 1\n```", "x = 1"),
        ("x = 1", "x = 1"),
    ],
)
def test_answer_without_prefill_looks_prefilled(answer: str, expected: str) -> None:
    assert cut_to_prefill(answer, prefill=FENCE, stop=("\n```",)) == expected


def test_other_prefills_are_cut_where_they_come_first() -> None:
    assert cut_to_prefill("Answer: 3. Next: 4", prefill="Answer:", stop=(".",)) == " 3"
    assert cut_to_prefill("It is 3", prefill="Answer:", stop=()) == "It is 3"


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8000", "ftp://host/v1", "http://user:pw@host/v1", "http:///v1"]
)
def test_base_url_must_be_a_plain_one(url: str) -> None:
    with pytest.raises(ValidationError, match="base_url"):
        Endpoint(base_url=url)


def test_key_is_not_in_the_endpoints_text() -> None:
    assert "sk-secret" not in repr(Endpoint(base_url=URL, api_key="sk-secret"))
