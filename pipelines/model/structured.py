"""Answers as validated data, also from models that do not keep to a form."""

import json
import re
from collections.abc import Callable, Iterator
from typing import TypeVar

import json_repair
from pydantic import BaseModel, ValidationError

from pipelines.errors import ModelError
from pipelines.model.protocol import Message, Model, ModelRequest
from pipelines.model.thinking import strip_thinking

T = TypeVar("T", bound=BaseModel)

_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)^[ \t]*\1", re.DOTALL | re.MULTILINE)
_QUOTED_CHARACTERS = 2000
_SHOWN_ERRORS = 5


class _Unusable(ModelError):
    """An answer that cannot be used, with its text."""

    def __init__(self, problem: str, *, answer: str) -> None:
        super().__init__(problem)
        self.answer = answer


async def ask_json(
    model: Model,
    request: ModelRequest,
    schema: type[T],
    *,
    attempts: int = 2,
    fallback: Callable[[str], T | None] | None = None,
) -> T:
    """Ask for JSON of a schema up to `attempts` times, telling each time what was wrong with the last answer.

    A `fallback` reads, as plain text, what is not the JSON; at last it gets an answer to `request` as it
    is. A server that refuses the schema is asked once without it. Raises ModelError when nothing fits, and
    what the model raises beyond that (InfrastructureError, BudgetExceeded, RefusalError).
    """
    constrained = request.model_copy(update={"response_schema": schema.model_json_schema()})
    asked = constrained
    plain = request if fallback else None
    problem = "no attempt was allowed"
    for _ in range(attempts):
        try:
            return await _ask_once(model, asked, schema)
        except _Unusable as error:
            problem = str(error)
            if (read := _read_plain(error.answer, fallback)) is not None:
                return read
            asked = _with_complaint(constrained, answer=error.answer, problem=problem)
        except ModelError as error:
            problem = str(error)
            plain = plain or _with_schema_in_words(request, schema)
            break
    if plain is not None:
        try:
            return await _ask_once(model, plain, schema)
        except _Unusable as error:
            problem = str(error)
            if (read := _read_plain(error.answer, fallback)) is not None:
                return read
    raise ModelError(f"No usable {schema.__name__} from the model: {problem}")


def parse_json(text: str, schema: type[T]) -> T:
    """Find data of a schema in an answer: bare, fenced, amid prose, or slightly broken.

    Raises ModelError that says what does not fit, in words to be shown to the model.
    """
    answer = strip_thinking(text)
    problem = "the answer contains no JSON object"
    for value in _values(answer):
        try:
            return schema.model_validate(value)
        except ValidationError as error:
            problem = _describe(error)
    raise ModelError(f"The answer does not fit: {problem}")


async def _ask_once(model: Model, request: ModelRequest, schema: type[T]) -> T:
    completion = await model.complete(request)
    if completion.finish_reason == "length":
        raise _Unusable(
            f"the answer was cut off after {completion.completion_tokens} tokens; be much shorter",
            answer=completion.text,
        )
    try:
        return parse_json(completion.text, schema)
    except ModelError as error:
        raise _Unusable(str(error), answer=completion.text) from error


def _with_complaint(request: ModelRequest, *, answer: str, problem: str) -> ModelRequest:
    """The request with the faulty answer quoted as text and a turn that says what was wrong with it."""
    quoted = answer[:_QUOTED_CHARACTERS].strip() or "(no answer)"
    complaint = f"That answer cannot be used. {problem}. Answer again with one corrected JSON object only."
    turns = (Message(role="assistant", content=quoted), Message(role="user", content=complaint))
    return request.model_copy(update={"messages": (*request.messages, *turns)})


def _with_schema_in_words(request: ModelRequest, schema: type[BaseModel]) -> ModelRequest:
    words = f"Answer with one JSON object only, of this JSON schema: {json.dumps(schema.model_json_schema())}"
    return request.model_copy(update={"messages": (*request.messages, Message(role="user", content=words))})


def _read_plain(text: str, fallback: Callable[[str], T | None] | None) -> T | None:
    try:
        return fallback(strip_thinking(text)) if fallback and text.strip() else None
    except (ValueError, LookupError):
        return None


def _values(answer: str) -> Iterator[object]:
    """Everything in an answer that may be the asked data, the likeliest first."""
    for source in (answer, *(match[2] for match in _FENCED.finditer(answer))):
        if "{" not in source and "[" not in source:
            continue
        try:
            value = json_repair.loads(source)
        except (ValueError, RecursionError):
            continue
        yield value
        if isinstance(value, list):
            yield from reversed([item for item in value if isinstance(item, dict)])


def _describe(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False)
    shown = [f"{'.'.join(map(str, fault['loc'])) or 'answer'}: {fault['msg']}" for fault in faults]
    more = f"; and {len(shown) - _SHOWN_ERRORS} more" if len(shown) > _SHOWN_ERRORS else ""
    return "; ".join(shown[:_SHOWN_ERRORS]) + more
