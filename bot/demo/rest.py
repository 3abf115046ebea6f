"""GitHub's REST API as the people of the demo use it; the bot itself has its gateway."""

import json
import urllib.request
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError, URLError

from pipelines.errors import InfrastructureError

_SECONDS = 30


@dataclass(frozen=True)
class Rest:
    """One person at one API."""

    url: str
    token: str = field(repr=False)

    def get(self, path: str) -> Any:
        """What lies at a path, or None where there is nothing. Raises InfrastructureError."""
        try:
            return self._call("GET", path, None)
        except HTTPError as error:
            if error.code == 404:
                error.close()
                return None
            raise _failure("GET", path, error) from error

    def send(self, method: str, path: str, body: object) -> Any:
        """Write, and give what GitHub answers. Raises InfrastructureError."""
        try:
            return self._call(method, path, body)
        except HTTPError as error:
            raise _failure(method, path, error) from error

    def tries(self, method: str, path: str, body: object) -> bool:
        """Whether GitHub takes this write from this person. Raises InfrastructureError without an answer."""
        try:
            self._call(method, path, body)
        except HTTPError as error:
            error.close()
            return False
        return True

    def _call(self, method: str, path: str, body: object) -> Any:
        request = urllib.request.Request(  # noqa: S310  the URL is the emulator's
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
                return json.loads(answer.read() or b"null")
        except HTTPError:
            raise
        except (URLError, OSError) as error:
            raise InfrastructureError(
                f"{method} {path}: the emulated GitHub does not answer ({error})"
            ) from error


def _failure(method: str, path: str, error: HTTPError) -> InfrastructureError:
    with error:
        words = error.read().decode(errors="replace")[:500]
    return InfrastructureError(f"{method} {path}: the emulated GitHub answered {error.code}: {words}")
