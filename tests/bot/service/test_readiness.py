import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr

from bot.service.readiness import disk_trouble, require_identity, trouble, webhook_secret
from bot.settings import GitHubSettings
from pipelines.errors import InfrastructureError, RefusalError
from tests.bot.service.scratch import MemoryStore

KEY = SecretStr("-----BEGIN")
TOKEN = SecretStr("github_pat_x")


@pytest.mark.parametrize(
    "github",
    [
        GitHubSettings(token=TOKEN),
        GitHubSettings(app_id=1, private_key=KEY),
        GitHubSettings(app_id=1, private_key_file=Path("app.pem")),
        GitHubSettings(app_id=1, private_key=KEY, token=TOKEN),
    ],
)
def test_an_app_or_a_token_is_an_identity(github: GitHubSettings) -> None:
    require_identity(github)


@pytest.mark.parametrize(
    ("github", "names"),
    [
        (GitHubSettings(), ("github.token", "github.app_id")),
        (GitHubSettings(token=SecretStr("")), ("github.token", "github.app_id")),
        (GitHubSettings(app_id=1), ("github.private_key_file",)),
        (GitHubSettings(app_id=1, private_key=SecretStr("")), ("github.private_key_file",)),
        (GitHubSettings(app_id=1, token=TOKEN), ("github.private_key_file",)),
        (GitHubSettings(private_key=KEY), ("github.app_id",)),
        (GitHubSettings(private_key_file=Path("app.pem"), token=TOKEN), ("github.app_id",)),
    ],
)
def test_half_an_identity_is_refused_by_the_name_of_the_setting(
    github: GitHubSettings, names: tuple[str, ...]
) -> None:
    with pytest.raises(RefusalError) as refusal:
        require_identity(github)
    assert all(name in str(refusal.value) for name in names)


def test_the_webhook_secret() -> None:
    assert webhook_secret(GitHubSettings(webhook_secret=SecretStr("se cret"))) == "se cret"


@pytest.mark.parametrize("secret", [None, "", " ", "secret\n", " secret"])
def test_no_secret_or_one_that_cannot_match_is_refused_without_showing_it(secret: str | None) -> None:
    github = GitHubSettings(webhook_secret=None if secret is None else SecretStr(secret))
    with pytest.raises(RefusalError, match=r"github\.webhook_secret") as refusal:
        webhook_secret(github)
    assert "secret\n" not in str(refusal.value)


def test_room_on_the_disk_is_that_of_the_nearest_folder_that_exists(tmp_path: Path) -> None:
    assert disk_trouble(tmp_path / "not" / "yet", min_free=1) is None
    reason = disk_trouble(tmp_path / "not" / "yet", min_free=2**70)
    assert reason is not None
    assert str(tmp_path) in reason
    assert "not/yet" not in reason


def answering(reason: str | None) -> Callable[[], Awaitable[str | None]]:
    async def healthy() -> str | None:
        return reason

    return healthy


async def test_trouble_is_what_the_store_says_or_nothing(tmp_path: Path) -> None:
    assert await trouble(answering("no database"), tmp_path) == "no database"
    assert await trouble(answering(None), tmp_path) is None


async def test_a_store_that_fails_or_hangs_is_trouble(tmp_path: Path) -> None:
    async def failing() -> str | None:
        raise InfrastructureError("the database is gone")

    async def hanging() -> str | None:
        return await asyncio.Event().wait() and None

    assert await trouble(failing, tmp_path) == "the database is gone"
    assert "0.05 s" in str(await trouble(hanging, tmp_path, seconds=0.05))


async def test_alive_is_not_the_same_as_ready(client: httpx2.AsyncClient, store: MemoryStore) -> None:
    assert (await client.get("/readyz")).status_code == 200
    store.trouble = "the disk is full"
    ready = await client.get("/readyz")
    assert (ready.status_code, ready.json()["reason"]) == (503, "the disk is full")
    assert (await client.get("/healthz")).status_code == 200
