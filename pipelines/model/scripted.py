"""A Model that answers from a script: for tests and demonstrations."""

from collections.abc import Callable, Iterable, Iterator

from pipelines.errors import PipelineError
from pipelines.model.dialect import estimate_prompt_tokens, estimate_tokens
from pipelines.model.protocol import Completion, ModelRequest

Answer = str | Completion | PipelineError


class ScriptedModel:
    """Answers each request by the next item of a list, or by what a function makes of the request.

    A PipelineError in the script is raised. `requests` holds all requests in order of arrival.
    """

    def __init__(self, script: Iterable[Answer] | Callable[[ModelRequest], Answer]) -> None:
        self.requests: list[ModelRequest] = []
        self._script: Iterator[Answer] | Callable[[ModelRequest], Answer]
        self._script = script if callable(script) else iter(script)

    async def complete(self, request: ModelRequest) -> Completion:
        """Give the scripted answer. Raises LookupError at the script's end: that is a bug of the script."""
        self.requests.append(request)
        answer = self._next(request)
        if isinstance(answer, PipelineError):
            raise answer
        if isinstance(answer, Completion):
            return answer
        return Completion(
            text=answer,
            finish_reason="stop",
            prompt_tokens=estimate_prompt_tokens(request),
            completion_tokens=estimate_tokens(answer),
            seconds=0.0,
            model="scripted",
        )

    def _next(self, request: ModelRequest) -> Answer:
        if callable(self._script):
            return self._script(request)
        try:
            return next(self._script)
        except StopIteration:
            last = request.messages[-1].content if request.messages else ""
            raise LookupError(
                f"The script has no answer to request {len(self.requests)}, which ends in: {last[-200:]!r}"
            ) from None
