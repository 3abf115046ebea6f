"""What servers do differently, as pure decisions on plain data."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pipelines.errors import ModelError, RefusalError
from pipelines.model.endpoint import Endpoint
from pipelines.model.protocol import Message, ModelRequest
from pipelines.model.thinking import strip_thinking

ServerKind = Literal["llamacpp", "vllm", "other"]

MIN_ANSWER_TOKENS = 256
"""An answer may be shortened to this to fit the context, never below it."""

_TURN_TOKENS = 8
_OPENING_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[\w.+-]*[ \t]*\n", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class ServerFacts:
    """What a server told about itself; `context_tokens` counts prompt and answer of one request."""

    kind: ServerKind
    model: str
    context_tokens: int | None


def read_models(listing: object, endpoint: Endpoint) -> ServerFacts:
    """Read the answer of GET /models.

    Raises RefusalError when it is no such answer, or when the wanted model is not served.
    """
    models = listing.get("data") if isinstance(listing, Mapping) else None
    if not isinstance(models, list) or not all(isinstance(model, Mapping) for model in models):
        raise RefusalError(
            f"{endpoint.base_url} does not speak the OpenAI API: GET /models gave no list of models. "
            "Set the base URL to the API's root, as in http://127.0.0.1:8000/v1."
        )
    chosen = _choose_model(models, endpoint)
    kinds: dict[object, ServerKind] = {"llamacpp": "llamacpp", "vllm": "vllm"}
    return ServerFacts(
        kind=kinds.get(chosen.get("owned_by"), "other"),
        model=str(chosen.get("id", endpoint.model)),
        context_tokens=endpoint.context_tokens or _context_of(chosen),
    )


def context_of_props(props: object) -> int | None:
    """Tokens of one slot, from llama.cpp's GET /props."""
    settings = props.get("default_generation_settings") if isinstance(props, Mapping) else None
    return _positive(settings.get("n_ctx")) if isinstance(settings, Mapping) else None


def chat_arguments(request: ModelRequest, endpoint: Endpoint, facts: ServerFacts) -> dict[str, Any]:
    """Build the body of POST /chat/completions.

    Raises ModelError when the prompt leaves less than MIN_ANSWER_TOKENS of the server's context.
    """
    style = prefill_style(endpoint, facts)
    messages = [message.model_dump() for message in request.messages]
    arguments: dict[str, Any] = {
        "model": facts.model,
        "messages": messages,
        "max_tokens": _answer_tokens(request, facts),
        "temperature": request.temperature,
    }
    if request.prefill and style != "none":
        messages.append(Message(role="assistant", content=request.prefill).model_dump())
        if style == "vllm":
            arguments["extra_body"] = {"continue_final_message": True, "add_generation_prompt": False}
    # Without the prefill the answer opens the fence itself, and a stop sequence could match right there.
    if request.stop and not (request.prefill and style == "none"):
        arguments["stop"] = list(request.stop)
    if request.seed is not None and _sends_seed(endpoint, facts):
        arguments["seed"] = request.seed
    if request.response_schema is not None:
        arguments["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": request.response_schema},
        }
    return arguments


def prefill_style(endpoint: Endpoint, facts: ServerFacts) -> ServerKind | Literal["none"]:
    """The way in which this server continues a started answer."""
    if endpoint.prefill != "auto":
        return endpoint.prefill
    return "none" if facts.kind == "other" else facts.kind


def cut_to_prefill(text: str, *, prefill: str, stop: Sequence[str]) -> str:
    """Make the answer of a server that knows no prefill look as if it had continued `prefill`."""
    answer = strip_thinking(text)
    if answer.lstrip().startswith(prefill):
        answer = answer.lstrip().removeprefix(prefill)
    elif _OPENING_FENCE.match(prefill) and (fence := _OPENING_FENCE.search(answer)):
        answer = answer[fence.end() :]
    ends = [end for sequence in stop if (end := answer.find(sequence)) >= 0]
    return answer[: min(ends)] if ends else answer


def estimate_tokens(text: str) -> int:
    """Tokens of a text, rounded up: a digit or a non-ASCII character counts one, others a third."""
    single = sum(character.isdigit() or not character.isascii() for character in text)
    return single + (len(text) - single + 2) // 3


def estimate_prompt_tokens(request: ModelRequest) -> int:
    """Tokens that a request takes before its answer, its chat template included."""
    contents = [message.content for message in request.messages]
    return sum(estimate_tokens(text) + _TURN_TOKENS for text in [*contents, request.prefill])


def _choose_model(models: Sequence[Mapping[str, Any]], endpoint: Endpoint) -> Mapping[str, Any]:
    if endpoint.model == "auto":
        if not models:
            raise RefusalError(f"{endpoint.base_url} serves no model. Load one, or name it in the settings.")
        return models[0]
    wanted = [model for model in models if endpoint.model in (model.get("id"), *_aliases(model))]
    if wanted:
        return wanted[0]
    # Hosted services list incompletely; a server refuses an unknown name when it is asked for.
    return {"id": endpoint.model, "owned_by": models[0].get("owned_by") if models else None}


def _aliases(model: Mapping[str, Any]) -> Sequence[object]:
    aliases = model.get("aliases")
    return aliases if isinstance(aliases, list) else []


def _context_of(model: Mapping[str, Any]) -> int | None:
    meta = model.get("meta")
    return _positive(model.get("max_model_len")) or _positive(
        meta.get("n_ctx") if isinstance(meta, Mapping) else None
    )


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _sends_seed(endpoint: Endpoint, facts: ServerFacts) -> bool:
    return facts.kind == "llamacpp" if endpoint.send_seed is None else endpoint.send_seed


def _answer_tokens(request: ModelRequest, facts: ServerFacts) -> int:
    if facts.context_tokens is None:
        return request.max_tokens
    prompt = estimate_prompt_tokens(request)
    room = facts.context_tokens - prompt
    if room >= min(request.max_tokens, MIN_ANSWER_TOKENS):
        return min(request.max_tokens, room)
    raise ModelError(
        f"The prompt has about {prompt} tokens; {facts.model} takes {facts.context_tokens} for prompt and "
        f"answer together, and an answer needs {MIN_ANSWER_TOKENS}. Shorten the prompt or serve the model "
        "with a larger context."
    )
