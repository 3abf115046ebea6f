"""Settings of one OpenAI-compatible server."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

PrefillStyle = Literal["auto", "llamacpp", "vllm", "none"]
"""How a server is told to continue a started answer; "none" means that it cannot."""

Seconds = Annotated[float, Field(gt=0)]


class Timeouts(BaseModel):
    """Longest waits for one call, in seconds; the defaults suit a 1.5B model on two busy CPU cores."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    connect: Seconds = 10
    first_token: Seconds = 600
    between_tokens: Seconds = 120
    total: Seconds = 1800


class Endpoint(BaseModel):
    """Where a model is served and what that server can do.

    `seed` reaches only llama.cpp unless `send_seed` says otherwise: vLLM on a CPU dies of it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str
    """Ends in the API's root, as in http://127.0.0.1:8000/v1."""
    model: str = "auto"
    """"auto" takes the first model that the server lists."""
    api_key: SecretStr | None = None
    send_seed: bool | None = None
    prefill: PrefillStyle = "auto"
    context_tokens: int | None = Field(default=None, gt=0)
    """Limit of prompt and answer together; None asks the server."""
    max_in_flight: int = Field(default=8, gt=0)
    attempts: int = Field(default=4, gt=0)
    """How often a call is tried when the server is down, busy, failing or silent."""
    timeouts: Timeouts = Timeouts()

    @field_validator("base_url")
    @classmethod
    def _check_base_url(cls, value: str) -> str:
        url = urlsplit(value)
        if url.scheme not in ("http", "https") or not url.hostname:
            raise ValueError("give the API's root as a URL, as in http://127.0.0.1:8000/v1")
        if url.username or url.password:
            raise ValueError("a base URL is shown in messages: give the key as api_key instead")
        return value.rstrip("/")

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine, and so never behind a proxy."""
        host = urlsplit(self.base_url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")
