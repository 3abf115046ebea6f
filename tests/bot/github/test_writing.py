"""Writes are sent once, spaced out, and refused in GitHub's own words; limits are reported."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr

from bot.github.errors import RateLimited, Rejected, Unavailable
from bot.github.pygithub import PyGitHub
from bot.settings import GitHubSettings
from tests.bot.github.conftest import REPO
from tests.bot.github.samples import COMMENTS, ROOT, comment, pull, stub_app
from tests.bot.github.stub import Reply, Stub


async def open_pull(github: PyGitHub) -> object:
    return await github.create_pull_request(
        REPO, head="issuewright/7-tea", base="main", title="Tea", body="Closes #7", draft=True
    )


async def test_a_write_in_a_renamed_repository_is_followed_once(as_token: PyGitHub, stub: Stub) -> None:
    moved = f"{stub.url}/repositories/1/issues/7/comments"
    stub.reply("POST", COMMENTS, Reply(307, {"message": "Moved"}, {"Location": moved}))
    stub.reply("POST", "/repositories/1/issues/7/comments", Reply(201, comment()))
    assert (await as_token.create_comment(REPO, 7, "Hello")).id == 70
    assert [seen.body for seen in stub.seen] == [{"body": "Hello"}] * 2


async def test_a_write_is_not_sent_to_another_host(as_token: PyGitHub, stub: Stub) -> None:
    headers = {"Location": "http://elsewhere.example/comments"}
    stub.reply("POST", COMMENTS, Reply(307, {"message": "Moved"}, headers))
    with pytest.raises(Rejected, match="moved"):
        await as_token.create_comment(REPO, 7, "Hello")
    assert len(stub.seen) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_a_write_is_sent_once_whatever_happens(status: int, gateway: PyGitHub, stub: Stub) -> None:
    stub_app(stub)
    stub.reply("POST", COMMENTS, Reply(status, "<html>Bad Gateway</html>"))
    with pytest.raises(Unavailable, match=f"comment on #7 in octo/repo.*{status}"):
        await gateway.create_comment(REPO, 7, "Hello")
    assert len(stub.requests("POST", COMMENTS)) == 1


async def test_a_read_is_tried_again(as_token: PyGitHub, stub: Stub) -> None:
    stub.reply("GET", COMMENTS, Reply(502, "<html>"), Reply(503, "<html>"), Reply(200, [comment()]))
    assert len(await as_token.comments(REPO, 7)) == 1
    assert len(stub.seen) == 3


async def test_a_read_is_given_up_in_the_end(as_token: PyGitHub, stub: Stub) -> None:
    stub.reply("GET", COMMENTS, Reply(502, "<html>"))
    with pytest.raises(Unavailable, match="502"):
        await as_token.comments(REPO, 7)
    assert len(stub.seen) == 4


@pytest.mark.parametrize(
    ("message", "errors", "told"),
    [
        (
            "Validation Failed",
            [{"message": "A pull request already exists for octo:issuewright/7-tea."}],
            "A pull request already exists",
        ),
        ("Validation Failed", [{"field": "head", "code": "invalid"}], "head is invalid"),
        ("Validation Failed", [{"message": "No commits between main and x"}], "No commits between"),
        ("Validation Failed", ["body is too long"], "body is too long"),
        ("Draft pull requests are not supported in this repository.", None, "Draft pull requests"),
    ],
)
async def test_a_refusal_carries_githubs_own_words(
    message: str, errors: object, told: str, as_token: PyGitHub, stub: Stub
) -> None:
    stub.reply("POST", f"{ROOT}/pulls", Reply(422, {"message": message, "errors": errors}))
    with pytest.raises(Rejected, match=told):
        await open_pull(as_token)


async def test_only_what_changes_is_sent(as_token: PyGitHub, stub: Stub) -> None:
    stub.reply("PATCH", f"{ROOT}/pulls/8", Reply(200, pull(8)))
    await as_token.edit_pull_request(REPO, 8, body="")
    await as_token.edit_pull_request(REPO, 8, reopen=True)
    assert [seen.body for seen in stub.seen] == [{"body": ""}, {"state": "open"}]


async def test_writes_of_all_jobs_are_spaced_out_and_reads_are_not(stub: Stub) -> None:
    settings = GitHubSettings(api_url=stub.url, token=SecretStr("t"), write_seconds=3600)
    github = PyGitHub(settings)
    stub.reply("POST", COMMENTS, Reply(201, comment()))
    stub.reply("GET", COMMENTS, Reply(200, []))
    await github.create_comment(REPO, 7, "first")
    second = asyncio.create_task(github.create_comment(REPO, 7, "second"))
    await github.comments(REPO, 7)
    assert [seen.verb for seen in stub.seen] == ["POST", "GET"]
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second


@pytest.mark.parametrize("verb", ["GET", "POST"])
@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"Retry-After": "90"}, "You have exceeded a secondary rate limit.", 90),
        ({}, "You have exceeded a secondary rate limit. Please wait a few minutes.", 60),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "{reset}"}, "API rate limit exceeded", 1801),
    ],
    ids=["retry after", "no time", "reset"],
)
async def test_a_limit_is_reported_at_once(
    verb: str,
    status: int,
    headers: dict[str, str],
    message: str,
    seconds: int,
    as_token: PyGitHub,
    stub: Stub,
) -> None:
    before = datetime.now(UTC)
    reset = str(int((before + timedelta(seconds=1800)).timestamp()))
    filled = {name: value.format(reset=reset) for name, value in headers.items()}
    stub.reply(verb, COMMENTS, Reply(status, {"message": message}, filled))
    with pytest.raises(RateLimited, match="try again after") as raised:
        await (as_token.comments(REPO, 7) if verb == "GET" else as_token.create_comment(REPO, 7, "x"))
    wait = raised.value.retry_at - before
    assert timedelta(seconds=seconds - 2) < wait < timedelta(seconds=seconds + 60)
    assert len(stub.seen) == 1
