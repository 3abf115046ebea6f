"""As whom the gateway asks: tokens are minted, kept, renewed and never shown."""

import asyncio
import logging
from base64 import b64decode
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.github.errors import Forbidden, NotFound
from bot.github.pygithub import PyGitHub
from bot.settings import GitHubSettings
from pipelines.errors import RefusalError
from tests.bot.github.conftest import REPO
from tests.bot.github.samples import COMMENTS, ROOT, TOKENS, comment, stub_app
from tests.bot.github.stub import Reply, Stub


async def test_a_missing_permission_is_named(gateway: PyGitHub, stub: Stub) -> None:
    stub_app(stub)
    headers = {"X-Accepted-GitHub-Permissions": "issues=write; pull_requests=write"}
    reply = Reply(403, {"message": "Resource not accessible by integration"}, headers)
    stub.reply("POST", COMMENTS, reply)
    with pytest.raises(Forbidden, match=r"not accessible.*permission issues: write; pull_requests: write"):
        await gateway.create_comment(REPO, 7, "x")


async def test_what_is_not_there_is_said_with_its_place(as_token: PyGitHub) -> None:
    with pytest.raises(NotFound, match=r"read #7 in octo/repo: Not Found"):
        await as_token.issue(REPO, 7)


async def test_a_refused_token_is_told_and_not_shown(as_token: PyGitHub, stub: Stub) -> None:
    stub.reply("GET", COMMENTS, Reply(401, {"message": "Bad credentials"}))
    with pytest.raises(Forbidden, match=r"Bad credentials.*revoked") as raised:
        await as_token.comments(REPO, 7)
    assert "github_pat_1" not in str(raised.value)
    assert len(stub.seen) == 1


async def test_a_refused_installation_token_is_renewed_once(as_app: PyGitHub, stub: Stub) -> None:
    stub_app(stub, tokens=("ghs_old", "ghs_new"))
    stub.reply("POST", COMMENTS, Reply(401, {"message": "Bad credentials"}), Reply(201, comment()))
    await as_app.create_comment(REPO, 7, "x")
    assert [seen.token for seen in stub.requests("POST", COMMENTS)] == ["ghs_old", "ghs_new"]


async def test_a_second_refusal_is_the_end(as_app: PyGitHub, stub: Stub) -> None:
    stub_app(stub, tokens=("ghs_1", "ghs_2", "ghs_3"))
    stub.reply("GET", COMMENTS, Reply(401, {"message": "Bad credentials"}))
    with pytest.raises(Forbidden):
        await as_app.comments(REPO, 7)
    assert len(stub.requests("GET", COMMENTS)) == 2


async def test_an_installation_token_is_kept_and_good_for_one_repository(
    as_app: PyGitHub, stub: Stub
) -> None:
    stub_app(stub)
    stub.reply("GET", COMMENTS, Reply(200, []))
    await asyncio.gather(*(as_app.comments(REPO, 7) for _ in range(5)))
    (minted,) = stub.requests("POST", TOKENS)
    assert minted.body == {
        "permissions": {"contents": "write", "issues": "write", "metadata": "read"},
        "repositories": ["repo"],
    }


async def test_an_installation_token_is_renewed_before_it_expires(as_app: PyGitHub, stub: Stub) -> None:
    stub_app(stub, tokens=("ghs_short", "ghs_next"), minutes=4)
    stub.reply("GET", COMMENTS, Reply(200, []))
    await as_app.comments(REPO, 7)
    await as_app.comments(REPO, 7)
    assert [seen.token for seen in stub.requests("GET", COMMENTS)] == ["ghs_short", "ghs_next"]


async def test_each_push_gets_a_new_token(as_app: PyGitHub, stub: Stub) -> None:
    stub_app(stub, tokens=("ghs_1", "ghs_2"))
    first, second = await as_app.push_access(REPO), await as_app.push_access(REPO)
    credentials = [b64decode(each.authorization.removeprefix("Basic ")) for each in (first, second)]
    assert credentials == [b"x-access-token:ghs_1", b"x-access-token:ghs_2"]
    assert first.url == f"{stub.url}/octo/repo.git"
    assert first.authorization not in repr(first)


async def test_an_app_that_is_not_installed_is_told(as_app: PyGitHub) -> None:
    with pytest.raises(NotFound, match="find the App's installation for octo/repo"):
        await as_app.issue(REPO, 7)


async def test_missing_permissions_of_an_installation(as_app: PyGitHub, stub: Stub) -> None:
    stub_app(stub)
    assert await as_app.missing_permissions(REPO) == ("pull_requests: write",)


async def test_missing_permissions_of_a_token(as_token: PyGitHub, stub: Stub) -> None:
    facts = {
        "full_name": "octo/repo",
        "default_branch": "main",
        "html_url": "https://github.com/octo/repo",
    }
    may = [{"push": True, "triage": True}, {"push": False, "triage": True}, {"pull": True}]
    stub.reply("GET", ROOT, *(Reply(200, {**facts, "permissions": rights}) for rights in may))
    assert await as_token.missing_permissions(REPO) == ()
    assert await as_token.missing_permissions(REPO) == ("contents: write", "pull_requests: write")
    assert "issues: write" in await as_token.missing_permissions(REPO)


async def test_an_app_is_its_bot(as_app: PyGitHub, stub: Stub) -> None:
    stub_app(stub)
    stub.reply("GET", "/app", Reply(200, {"slug": "issuewright"}))
    stub.reply("GET", "/app/installations", Reply(200, [{"id": 12}]))
    bot = {"login": "issuewright[bot]", "id": 77, "type": "Bot"}
    stub.reply("GET", "/users/issuewright%5Bbot%5D", Reply(200, bot))
    found = await as_app.identity()
    assert (found.login, found.id, found.type) == ("issuewright[bot]", 77, "Bot")
    asked = len(stub.seen)
    assert await as_app.identity() == found
    assert len(stub.seen) == asked


async def test_an_app_without_installation_knows_its_login(as_app: PyGitHub, stub: Stub) -> None:
    stub.reply("GET", "/app", Reply(200, {"slug": "issuewright"}))
    stub.reply("GET", "/app/installations", Reply(200, []))
    assert (await as_app.identity()).login == "issuewright[bot]"


async def test_no_secret_is_logged(as_app: PyGitHub, stub: Stub, caplog: pytest.LogCaptureFixture) -> None:
    stub_app(stub)
    stub.reply("GET", COMMENTS, Reply(200, []))
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, logger="github"):
        await as_app.comments(REPO, 7)
    assert caplog.text
    assert "ghs_1" not in caplog.text
    assert all(seen.token not in caplog.text for seen in stub.seen)


def test_without_access_the_settings_are_refused() -> None:
    with pytest.raises(RefusalError, match=r"github\.app_id.*github\.token"):
        PyGitHub(GitHubSettings())


def test_an_app_needs_its_key(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match="private_key_file"):
        PyGitHub(GitHubSettings(app_id=1))
    with pytest.raises(RefusalError, match=r"no\.pem"):
        PyGitHub(GitHubSettings(app_id=1, private_key_file=tmp_path / "no.pem"))


@pytest.mark.parametrize(
    "key", ["", "secret", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----"]
)
def test_a_key_that_is_none_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(RefusalError, match="private key cannot be read") as raised:
        PyGitHub(GitHubSettings(app_id=1, private_key=SecretStr(key)))
    assert "secret" not in str(raised.value)


def test_app_and_token_are_one_too_many(private_key: SecretStr) -> None:
    with pytest.raises(RefusalError, match="keep one"):
        PyGitHub(GitHubSettings(app_id=1, private_key=private_key, token=SecretStr("t")))


async def test_a_key_from_a_variable_may_have_its_line_ends_written_out(
    private_key: SecretStr, stub: Stub
) -> None:
    key = SecretStr(private_key.get_secret_value().replace("\n", "\\n"))
    stub_app(stub)
    github = PyGitHub(GitHubSettings(api_url=stub.url, app_id=1, private_key=key))
    assert await github.missing_permissions(REPO) == ("pull_requests: write",)


async def test_a_key_in_a_file_is_read(private_key: SecretStr, stub: Stub, tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_text(private_key.get_secret_value())
    stub_app(stub)
    github = PyGitHub(GitHubSettings(api_url=stub.url, app_id=1, private_key_file=path))
    assert await github.missing_permissions(REPO) == ("pull_requests: write",)
