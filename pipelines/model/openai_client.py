"""A Model behind an OpenAI-compatible server. The types of `openai` stay in this module."""

import asyncio
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Self

import openai
import stamina
from openai.types.chat import ChatCompletionChunk

from pipelines.errors import ModelError, PipelineError, RefusalError
from pipelines.model.dialect import (
    ServerFacts,
    chat_arguments,
    context_of_props,
    cut_to_prefill,
    estimate_prompt_tokens,
    estimate_tokens,
    prefill_style,
    read_models,
)
from pipelines.model.endpoint import Endpoint
from pipelines.model.protocol import Completion, ModelRequest
from pipelines.model.retries import EmptyAnswer, ServerTrouble, Timeout, retry_delay, too_slow

_PROBE_SECONDS = 5.0
_RETRIED_STATUS = frozenset({408, 409, 429})
_MAX_RETRY_AFTER = 120.0
_SHOWN_CHARACTERS = 500


@dataclass(kw_only=True)
class _Answer:
    """What has been received so far of one streamed answer."""

    text: str = ""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    started: bool = False
    """Whether a token has come, of the answer or of reasoning."""

    def add(self, chunk: ChatCompletionChunk) -> bool:
        """Take in a chunk; true when it carried a token. Raises ValueError when it has another form."""
        try:
            return self._add(chunk)
        except (AttributeError, TypeError) as error:
            raise ValueError(f"a chunk of an unknown form ({error})") from error

    def _add(self, chunk: ChatCompletionChunk) -> bool:
        if chunk.usage is not None:
            self.prompt_tokens = chunk.usage.prompt_tokens
            self.completion_tokens = chunk.usage.completion_tokens
        if not chunk.choices:
            return False
        choice = chunk.choices[0]
        self.text += choice.delta.content or ""
        self.finish_reason = choice.finish_reason or self.finish_reason
        extra = choice.delta.model_extra or {}
        token = bool(choice.delta.content or extra.get("reasoning_content") or extra.get("reasoning"))
        self.started = self.started or token
        return token


class OpenAIModel:
    """Completes requests at one Endpoint, at most `max_in_flight` at a time; use as `async with`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._slots = asyncio.Semaphore(endpoint.max_in_flight)
        self._detecting = asyncio.Lock()
        self._facts: ServerFacts | None = None
        # A key is always given: openai would otherwise send the OPENAI_API_KEY of the environment.
        key = endpoint.api_key.get_secret_value() if endpoint.api_key else "none"
        timeouts = endpoint.timeouts
        self._client = openai.AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key=key,
            max_retries=0,
            timeout=openai.Timeout(timeouts.total, connect=timeouts.connect),
            http_client=openai.DefaultAsyncHttpxClient(trust_env=not endpoint.is_loopback),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._client.close()

    async def facts(self) -> ServerFacts:
        """Ask the server once which model it serves and how. Raises InfrastructureError, RefusalError."""
        async with self._detecting:
            if self._facts is None:
                self._facts = await self._detect()
            return self._facts

    async def complete(self, request: ModelRequest) -> Completion:
        """Answer a request.

        Raises InfrastructureError when the server is down, failing or silent after all attempts,
        ModelError when it refuses the request or answers nothing, RefusalError when the key or the
        model's name is wrong.
        """
        retries = stamina.retry_context(
            on=retry_delay, attempts=self._endpoint.attempts, timeout=None, wait_initial=0.5, wait_max=20.0
        )
        async with self._slots:
            async for attempt in retries:
                with attempt:
                    return await self._ask(request)
        raise AssertionError("stamina ended without a result or an error")

    async def _ask(self, request: ModelRequest) -> Completion:
        facts = await self.facts()
        arguments = chat_arguments(request, self._endpoint, facts)
        started = time.monotonic()
        answer = await self._stream(arguments)
        finish_reason = self._finish_reason(answer)
        if not answer.text.strip():
            raise EmptyAnswer(
                f"{facts.model} at {self._endpoint.base_url} answered nothing. Reword the request."
            )
        text = answer.text
        if request.prefill and prefill_style(self._endpoint, facts) == "none":
            text = cut_to_prefill(text, prefill=request.prefill, stop=request.stop)
        return Completion(
            text=text,
            finish_reason=finish_reason,
            prompt_tokens=answer.prompt_tokens or estimate_prompt_tokens(request),
            completion_tokens=answer.completion_tokens or estimate_tokens(answer.text),
            seconds=time.monotonic() - started,
            model=facts.model,
        )

    async def _stream(self, arguments: dict[str, Any]) -> _Answer:
        timeouts = self._endpoint.timeouts
        answer = _Answer()
        clock = asyncio.get_running_loop()
        silence = asyncio.timeout(timeouts.first_token)
        try:
            async with asyncio.timeout(timeouts.total), silence:
                stream = await self._client.chat.completions.create(
                    stream=True, stream_options={"include_usage": True}, **arguments
                )
                async with stream:
                    async for chunk in stream:
                        if answer.add(chunk):
                            silence.reschedule(clock.time() + timeouts.between_tokens)
        except TimeoutError:
            raise await self._too_slow(answer, silent=silence.expired()) from None
        except (openai.APIError, ValueError) as error:
            raise self._translate(error) from error
        return answer

    def _finish_reason(self, answer: _Answer) -> Literal["stop", "length"]:
        match answer.finish_reason:
            case "length":
                return "length"
            case "content_filter":
                raise ModelError(f"{self._endpoint.base_url} withheld the answer by its content filter.")
            case "stop" | "tool_calls" | "function_call":
                return "stop"
            case reason:
                raise ServerTrouble(
                    f"{self._endpoint.base_url} ended its answer early (finish reason {reason}). "
                    "Look at the server's log."
                )

    async def _detect(self) -> ServerFacts:
        try:
            async with asyncio.timeout(self._endpoint.timeouts.connect + _PROBE_SECONDS):
                listing = await self._client.get("/models", cast_to=object)
                facts = read_models(listing, self._endpoint)
                if facts.kind == "llamacpp" and facts.context_tokens is None:
                    return await self._with_props(facts)
                return facts
        except TimeoutError:
            raise ServerTrouble(
                f"The model server at {self._endpoint.base_url} accepts connections but does not answer "
                "GET /models. It is stuck or still loading: look at its log, restart it if needed."
            ) from None
        except (openai.APIError, ValueError) as error:
            raise self._translate(error) from error

    async def _with_props(self, facts: ServerFacts) -> ServerFacts:
        """Older llama.cpp tells the context of a slot only in /props, beside the API's root."""
        url = self._endpoint.base_url.rstrip("/").removesuffix("/v1") + "/props"
        try:
            props = await self._client.get(url, cast_to=object)
        except openai.APIStatusError:
            return facts
        return ServerFacts(kind=facts.kind, model=facts.model, context_tokens=context_of_props(props))

    async def _too_slow(self, answer: _Answer, *, silent: bool) -> ServerTrouble:
        timeout: Timeout = "total"
        if silent:
            timeout = "between_tokens" if answer.started else "first_token"
        return too_slow(self._endpoint, timeout, alive=await self._is_alive())

    async def _is_alive(self) -> bool:
        try:
            async with asyncio.timeout(_PROBE_SECONDS):
                await self._client.get("/models", cast_to=object)
        except openai.APIStatusError:
            return True
        except (openai.APIError, TimeoutError, ValueError):
            return False
        return True

    def _translate(self, error: openai.APIError | ValueError) -> PipelineError:
        where = self._endpoint.base_url
        if isinstance(error, openai.APIStatusError):
            return _translate_status(error, where)
        if isinstance(error, openai.APIConnectionError):
            cause = error.__cause__ or error
            return ServerTrouble(
                f"The model server at {where} cannot be reached or broke off ({cause}). "
                "Check that it runs and that the base URL is right, then resume the run."
            )
        return ServerTrouble(
            f"The model server at {where} sent an unusable answer: {error}. Look at its log."
        )


def _translate_status(error: openai.APIStatusError, where: str) -> PipelineError:
    said = f"{where} answered {error.status_code}: {error.message[:_SHOWN_CHARACTERS]}"
    if error.status_code in (401, 403):
        return RefusalError(f"{said}. Set the right API key for this endpoint.")
    if error.status_code == 404:
        return RefusalError(f"{said}. Check the base URL and the model's name.")
    if error.status_code in _RETRIED_STATUS or error.status_code >= 500:
        return ServerTrouble(f"{said}. Look at the server's log.", retry_after=_retry_after(error))
    return ModelError(f"{said}. The request does not suit this server: shorten or simplify it.")


def _retry_after(error: openai.APIStatusError) -> float | None:
    try:
        seconds = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(max(seconds, 0.0), _MAX_RETRY_AFTER)
