"""Which failures of a model server are tried again, and how they are told to a person."""

from typing import Literal

from pipelines.errors import InfrastructureError, ModelError
from pipelines.model.endpoint import Endpoint

Timeout = Literal["first_token", "between_tokens", "total"]


class ServerTrouble(InfrastructureError):
    """A failure that may pass; `retry_after` is the wait that the server asked for, in seconds."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class EmptyAnswer(ModelError):
    """An answer without text; worth another try."""


def retry_delay(error: Exception) -> bool | float:
    """Whether to try again after an error, or after how many seconds."""
    if isinstance(error, ServerTrouble) and error.retry_after is not None:
        return error.retry_after
    return isinstance(error, ServerTrouble | EmptyAnswer)


def too_slow(endpoint: Endpoint, timeout: Timeout, *, alive: bool) -> ServerTrouble:
    """The error for a timeout that passed; `alive` says whether the server still answers anything."""
    what = "did not finish its answer" if timeout == "total" else "sent no token"
    seconds: float = getattr(endpoint.timeouts, timeout)
    if alive:
        advice = f"It still answers, so it is slow: raise timeouts.{timeout} or lower max_in_flight."
    else:
        advice = "It answers nothing at all now: restart it, then resume the run."
    return ServerTrouble(
        f"The model server at {endpoint.base_url} {what} within {seconds:g} s ({timeout}). {advice}"
    )
