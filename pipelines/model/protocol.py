"""The model boundary: one request, one completion."""

import hashlib
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

Role = Literal["planner", "executor"]
"""MaCTG's hybrid (section 3): plans may come from another endpoint than code."""


class Message(BaseModel):
    """One chat turn."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["system", "user", "assistant"]
    content: str


class ModelRequest(BaseModel):
    """Everything that decides an answer, and nothing that depends on the server it goes to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Role
    messages: tuple[Message, ...]
    prefill: str = ""
    """Text the answer must start with; it is not repeated in `Completion.text`."""
    stop: tuple[str, ...] = ()
    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    response_schema: dict[str, Any] | None = None
    """JSON schema that the answer must satisfy."""

    def digest(self) -> str:
        """SHA-256 of the exact request: the Ledger's key."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class Completion(BaseModel):
    """A model's answer and what it cost."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    finish_reason: Literal["stop", "length"]
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    model: str


class Model(Protocol):
    """Anything that completes requests: a server, a script, a recording."""

    async def complete(self, request: ModelRequest) -> Completion:
        """Answer a request.

        Raises InfrastructureError when the server is down or silent for too long, ModelError when it
        refuses the request (too long for its context, unsupported schema). An answer that was cut off
        comes back with finish_reason "length": the caller decides.
        """
        ...
