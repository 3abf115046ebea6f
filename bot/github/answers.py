"""What GitHub's answers mean: which of our errors a status is, in words that say what to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.github.errors import Forbidden, GitHubError, NotFound, RateLimited, Rejected, Unavailable

_SECONDARY_WAIT_SECONDS = 60
"""GitHub's advice for a limit that comes without a time."""


@dataclass(frozen=True)
class Request:
    """One call of GitHub's REST API."""

    doing: str
    """What for, in words that fit after "GitHub could not"."""
    verb: str
    path: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: Mapping[str, object] | None = None


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    data: Any
    """The JSON, or None."""


def failure(answer: Answer, doing: str, *, now: datetime) -> GitHubError | None:
    """The error that an answer is; None for a success."""
    if answer.status < 300:
        return None
    what = f"GitHub could not {doing}: {_words(answer.data)} (HTTP {answer.status})"
    retry_at = _retry_at(answer, now)
    if retry_at is not None:
        return RateLimited(f"{what}; try again after {retry_at:%H:%M:%S} UTC", retry_at=retry_at)
    if answer.status == 408 or answer.status >= 500:
        return Unavailable(f"{what}; GitHub has trouble, try again later (githubstatus.com)")
    if answer.status == 401:
        return Forbidden(
            f"{what}; the token, or the App's id and private key, are not accepted. Check that they have not "
            "expired or been revoked, and that this machine's clock is right"
        )
    if answer.status == 403:
        return Forbidden(f"{what}; {_advice(answer)}")
    if answer.status in (404, 410):
        return NotFound(f"{what}; check the name, and that the App or token may see the repository")
    if answer.status < 400:
        return Rejected(f"{what}; it has moved, use its present name")
    return Rejected(what)


def _retry_at(answer: Answer, now: datetime) -> datetime | None:
    """When a limit ends; None where the answer is not about one."""
    after = _seconds(answer, "retry-after")
    spent = answer.headers.get("x-ratelimit-remaining") == "0"
    said = "rate limit" in _words(answer.data).lower()
    if answer.status != 429 and not (
        answer.status == 403 and ("retry-after" in answer.headers or spent or said)
    ):
        return None
    if after is not None:
        return now + timedelta(seconds=after)
    reset = _seconds(answer, "x-ratelimit-reset")
    if spent and reset is not None:
        # A second more: nobody says when in that second.
        return max(datetime.fromtimestamp(reset + 1, UTC), now)
    return now + timedelta(seconds=_SECONDARY_WAIT_SECONDS)


def _seconds(answer: Answer, header: str) -> int | None:
    text = answer.headers.get(header, "")
    return int(text) if text.isdecimal() and len(text) <= 10 else None


def _advice(answer: Answer) -> str:
    """Which permission a refused request needs, as GitHub names it where it does."""
    needed = answer.headers.get("x-accepted-github-permissions")
    scopes = answer.headers.get("x-accepted-oauth-scopes")
    if needed:
        return (
            f"give the App or token the permission {needed.replace('=', ': ')}, and accept it where installed"
        )
    if scopes:
        return f"give the token one of the scopes {scopes}"
    return "check the permissions of the App or token, and the repository's and organization's rules"


def _words(data: Any) -> str:
    """GitHub's own explanation: its message and the errors below it."""
    if not isinstance(data, dict):
        return "no explanation"
    errors = data.get("errors")
    details = [_detail(error) for error in errors] if isinstance(errors, list) else []
    return ": ".join([str(data.get("message") or "no explanation"), *filter(None, ["; ".join(details)])])


def _detail(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)
    return str(error.get("message") or f"{error.get('field', 'a field')} is {error.get('code', 'wrong')}")
