"""As whom GitHub is asked: a GitHub App's installation, or a person's fine-grained token."""

import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

from pydantic import SecretStr

from bot.github.answers import Answer, Request
from bot.github.connection import AppKey, Connection
from bot.github.errors import NotFound
from bot.github.permissions import missing, missing_of_collaborator, usable
from bot.github.readings import (
    AppReading,
    InstallationReading,
    RepositoryReading,
    TokenReading,
    UserReading,
    read,
    read_list,
)
from bot.github.types import Actor, RepoRef
from bot.settings import GitHubSettings
from pipelines.errors import RefusalError

_MARGIN = timedelta(minutes=5)
"""A token is not used during its last minutes."""


class Credentials(Protocol):
    """Blocking; safe over threads; raises the errors of `bot.github.errors`."""

    def token(self, repo: RepoRef, *, fresh: bool = False) -> str:
        """A token for work on a repository, made anew where `fresh` says so."""
        ...

    def reject(self, repo: RepoRef, token: str) -> bool:
        """GitHub did not accept this token; whether `token` may now give another one."""
        ...

    def identity(self) -> Actor:
        """Who we are."""
        ...

    def missing_permissions(self, repo: RepoRef) -> tuple[str, ...]:
        """As `GitHub.missing_permissions`."""
        ...


class TokenCredentials:
    """One token for everything."""

    def __init__(self, connection: Connection, token: SecretStr) -> None:
        self._connection = connection
        self._token = token

    def token(self, repo: RepoRef, *, fresh: bool = False) -> str:
        """As `Credentials.token`."""
        return self._token.get_secret_value()

    def reject(self, repo: RepoRef, token: str) -> bool:
        """As `Credentials.reject`: there is no other."""
        return False

    def identity(self) -> Actor:
        """As `Credentials.identity`."""
        answer = self._connection.ask(
            Request("tell whose token this is", "GET", "/user"), self._token.get_secret_value()
        )
        return read(UserReading, answer).actor()

    def missing_permissions(self, repo: RepoRef) -> tuple[str, ...]:
        """As `Credentials.missing_permissions`, as far as GitHub tells: it names a token's owner's rights."""
        request = Request(f"read {repo.full_name}", "GET", f"/repos/{repo.full_name}")
        answer = self._connection.ask(request, self._token.get_secret_value())
        return missing_of_collaborator(read(RepositoryReading, answer).permissions)


class _Minted(NamedTuple):
    token: SecretStr
    expires_at: datetime


class AppCredentials:
    """Installation tokens: each for one repository and no more than the bot's permissions, for an hour."""

    def __init__(self, connection: Connection, key: AppKey) -> None:
        self._connection = connection
        self._key = key
        self._minted: dict[str, _Minted] = {}
        self._lock = threading.Lock()

    def token(self, repo: RepoRef, *, fresh: bool = False) -> str:
        """As `Credentials.token`."""
        with self._lock:
            minted = self._minted.get(repo.key)
            if fresh or minted is None or minted.expires_at - _MARGIN < datetime.now(UTC):
                installation = self._installation(repo)
                minted = self._mint(installation.id, usable(installation.permissions), [repo.name])
                self._minted[repo.key] = minted
            return minted.token.get_secret_value()

    def reject(self, repo: RepoRef, token: str) -> bool:
        """As `Credentials.reject`."""
        with self._lock:
            minted = self._minted.get(repo.key)
            if minted is not None and minted.token.get_secret_value() == token:
                del self._minted[repo.key]
        return True

    def identity(self) -> Actor:
        """As `Credentials.identity`; the id is 0 while the App is installed nowhere."""
        app = read(AppReading, self._ask(Request("tell which App this is", "GET", "/app")))
        login = f"{app.slug}[bot]"
        found = self._ask(Request("list the App's installations", "GET", "/app/installations"))
        installations = read_list(InstallationReading, found)
        if not installations:
            return Actor(login=login, type="Bot")
        minted = self._mint(installations[0].id, {"metadata": "read"}, None)
        try:
            request = Request(f"read the user {login}", "GET", f"/users/{app.slug}%5Bbot%5D")
            answer = self._connection.ask(request, minted.token.get_secret_value())
        except NotFound:
            return Actor(login=login, type="Bot")
        return read(UserReading, answer).actor()

    def missing_permissions(self, repo: RepoRef) -> tuple[str, ...]:
        """As `Credentials.missing_permissions`: what the owner of the repository has accepted."""
        return missing(self._installation(repo).permissions)

    def _installation(self, repo: RepoRef) -> InstallationReading:
        path = f"/repos/{repo.full_name}/installation"
        if repo.installation is not None:
            path = f"/app/installations/{repo.installation}"
        request = Request(f"find the App's installation for {repo.full_name}", "GET", path)
        return read(InstallationReading, self._ask(request))

    def _mint(
        self, installation: int, permissions: Mapping[str, str], repositories: list[str] | None
    ) -> _Minted:
        body: dict[str, object] = {"permissions": dict(permissions)}
        if repositories is not None:
            body["repositories"] = repositories
        where = ", ".join(repositories or ["any repository"])
        request = Request(
            f"make a token for {where} in installation {installation}",
            "POST",
            f"/app/installations/{installation}/access_tokens",
            body=body,
        )
        token = read(TokenReading, self._ask(request))
        return _Minted(SecretStr(token.token), token.expires_at)

    def _ask(self, request: Request) -> Answer:
        return self._connection.ask(request, self._key.token())


def app_key(settings: GitHubSettings) -> AppKey | None:
    """The App's key, or None where the settings name no App.

    Raises RefusalError for a key that is missing, unreadable or unusable.
    """
    if settings.app_id is None:
        return None
    if settings.private_key is not None:
        return AppKey(settings.app_id, settings.private_key.get_secret_value())
    if settings.private_key_file is None:
        raise RefusalError("github.app_id is set: set github.private_key or github.private_key_file as well")
    try:
        return AppKey(settings.app_id, settings.private_key_file.read_text(encoding="ascii"))
    except (OSError, UnicodeDecodeError) as error:
        raise RefusalError(
            f"github.private_key_file {settings.private_key_file} cannot be read: {error}"
        ) from error


def credentials_of(settings: GitHubSettings, connection: Connection) -> Credentials:
    """The App where one is set, else the token. Raises RefusalError where there is neither, or both."""
    key = app_key(settings)
    if key is not None and settings.token is not None:
        raise RefusalError("both github.app_id and github.token are set; keep one of them")
    if key is not None:
        return AppCredentials(connection, key)
    if settings.token is None:
        raise RefusalError(
            "the bot has no access to GitHub: set github.app_id and github.private_key_file for a GitHub App "
            "(`issuewright app manifest` makes one), or github.token for a fine-grained personal token"
        )
    return TokenCredentials(connection, settings.token)
