"""What the service needs: to start at all, and to take work."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

from pydantic import SecretStr

from bot.settings import GitHubSettings
from pipelines.errors import InfrastructureError, RefusalError

MIN_FREE_BYTES = 500_000_000
"""Below this a clone, a Run or the database may fail half-way."""


def require_identity(github: GitHubSettings) -> None:
    """Refuse to work without credentials. Raises RefusalError naming the setting."""
    has_key = bool(_text(github.private_key)) or github.private_key_file is not None
    if github.app_id is not None and not has_key:
        raise RefusalError(
            "github.app_id is set without the App's private key: set github.private_key_file to its .pem file"
            " (ISSUEWRIGHT_GITHUB__PRIVATE_KEY_FILE) or github.private_key to its text"
        )
    if github.app_id is None and has_key:
        raise RefusalError(
            "the App's private key is set without github.app_id (ISSUEWRIGHT_GITHUB__APP_ID):"
            " the App's page on GitHub shows it"
        )
    if github.app_id is None and not _text(github.token):
        raise RefusalError(
            "GitHub needs an identity: set github.app_id and github.private_key_file for a GitHub App,"
            " or github.token (ISSUEWRIGHT_GITHUB__TOKEN) to a fine-grained personal token"
        )


def webhook_secret(github: GitHubSettings) -> str:
    """The secret, without which anyone could give orders. Raises RefusalError naming the setting."""
    secret = _text(github.webhook_secret)
    if not secret.strip():
        raise RefusalError(
            "the service does not start without a webhook secret: set github.webhook_secret"
            " (ISSUEWRIGHT_GITHUB__WEBHOOK_SECRET) to the secret that GitHub's webhook page or the App has"
        )
    if secret != secret.strip():
        raise RefusalError(
            "github.webhook_secret begins or ends with white space, so no signature would match: take it off"
        )
    return secret


def disk_trouble(folder: Path, *, min_free: int = MIN_FREE_BYTES) -> str | None:
    """Why there is too little room for work in a folder, which need not exist yet; None: there is enough."""
    place = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(place).free
    if free >= min_free:
        return None
    return f"{place} has {free // 1_000_000} MB left and {min_free // 1_000_000} MB are needed: free some"


async def trouble(
    healthy: Callable[[], Awaitable[str | None]], folder: Path, *, seconds: float = 5
) -> str | None:
    """Why no work can be taken just now; None: it can."""
    try:
        async with asyncio.timeout(seconds):
            return await healthy() or await asyncio.to_thread(disk_trouble, folder)
    except TimeoutError:
        return f"the jobs' database did not answer within {seconds:g} s"
    except (InfrastructureError, OSError) as error:
        return str(error)


def _text(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""
