"""HTTP to GitHub's REST API through PyGithub; no other module knows it."""

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from github.Auth import AppAuth, AppAuthToken
from github.Requester import Requester
from requests.exceptions import RequestException
from urllib3 import Retry

from bot.github.answers import Answer, Request, failure
from bot.github.errors import Rejected, Unavailable
from pipelines.errors import RefusalError

_TIMEOUT_SECONDS = 15
_HEADERS = {"Accept": "application/vnd.github+json"}
_NEXT_PAGE = re.compile(r'<([^>]+)>; *rel="next"')


def _retry() -> Retry:
    """Reads only, and not at a limit: whoever repeats a write must look first, and a limit is reported."""
    return Retry(
        total=3,
        allowed_methods=("GET",),
        status_forcelist=(500, 502, 503, 504),
        backoff_factor=0.2,
        respect_retry_after_header=False,
        raise_on_status=False,
    )


class AppKey:
    """A GitHub App's own signature."""

    def __init__(self, app_id: int, private_key: str) -> None:
        """Raises RefusalError for a key that is none."""
        # In an environment variable the line ends are often written out.
        pem = private_key.replace("\\n", "\n").encode()
        try:
            key = load_pem_private_key(pem, password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise RefusalError(
                "the GitHub App's private key cannot be read: give the whole PEM file that GitHub made for "
                "the App, as github.private_key or by its path in github.private_key_file"
            ) from None
        if not isinstance(key, RSAPrivateKey):
            raise RefusalError("the GitHub App's private key is not the RSA key that GitHub made for the App")
        # PyGithub would read the key anew for every signature, which takes longer than a request.
        self._auth = AppAuth(app_id, sign_func=lambda claims: jwt.encode(claims, key, algorithm="RS256"))

    def token(self) -> str:
        """A fresh token for the App itself, good for minutes."""
        return self._auth.token


class Connection:
    """One GitHub, for any number of threads."""

    def __init__(self, api_url: str, *, ca_bundle: Path | None = None) -> None:
        self.api_url = api_url
        self._verify: bool | str = str(ca_bundle) if ca_bundle else True
        # At debug level PyGithub logs answers whole, new tokens too; it must not, whoever asks for it.
        logging.getLogger(Requester.__module__).setLevel(logging.INFO)

    def ask(self, request: Request, token: str | None) -> Answer:
        """Send a request and return its success; raises the errors of `bot.github.errors`."""
        return success(self.send(request, token), request)

    def send(self, request: Request, token: str | None) -> Answer:
        """Send a request once, a read up to four times; any status is an answer. Without a token: as nobody.

        Raises Unavailable where none came, Rejected where the server sends us to another host.
        """
        # A Requester keeps the request it is working on: each thread needs its own. A new connection also
        # cannot die of age, which would leave open whether a write took place.
        requester = Requester(
            auth=AppAuthToken(token) if token else None,
            base_url=self.api_url,
            timeout=_TIMEOUT_SECONDS,
            user_agent=f"issuewright/{version('issuewright')}",
            per_page=100,
            verify=self._verify,
            retry=_retry(),
            pool_size=1,
            api_version="2022-11-28",
        )
        try:
            with _transport_errors(request):
                return _exchange(requester, request)
        finally:
            requester.close()


def success(answer: Answer, request: Request) -> Answer:
    """The answer; raises the error that it is."""
    error = failure(answer, request.doing, now=datetime.now(UTC))
    if error is not None:
        raise error
    return answer


def next_page(request: Request, answer: Answer) -> Request | None:
    """The request for the page after this one, or None."""
    found = _NEXT_PAGE.search(answer.headers.get("link", ""))
    return Request(request.doing, request.verb, found[1]) if found else None


def _exchange(requester: Requester, request: Request) -> Answer:
    answer = _once(requester, request, request.path)
    location = answer.headers.get("location", "")
    # Renamed: reads are followed by PyGithub (301), writes wait for us (307, 308), not done yet.
    if answer.status in (307, 308) and urlsplit(location).hostname == requester.hostname:
        return _once(requester, request, location)
    return answer


def _once(requester: Requester, request: Request, path: str) -> Answer:
    status, headers, text = requester.requestJson(
        request.verb, path, parameters=dict(request.query), headers=dict(_HEADERS), input=request.body
    )
    return Answer(status, headers, _json(text))


@contextmanager
def _transport_errors(request: Request) -> Iterator[None]:
    try:
        yield
    except (RequestException, OSError, AssertionError) as error:
        raise Unavailable(
            f"GitHub could not {request.doing}: no answer ({error or type(error).__name__}); check "
            "github.api_url, github.ca_bundle and the network, or try again later"
        ) from error
    except RuntimeError as error:  # how PyGithub reports a redirection that it will not follow
        raise Rejected(
            f"GitHub could not {request.doing}: {error}; github.api_url must be the API's final URL"
        ) from error


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
