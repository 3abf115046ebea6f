"""What the gateway makes of GitHub's answers."""

from base64 import b64encode

import pytest

from bot.github.errors import Unavailable
from bot.github.pygithub import PyGitHub
from tests.bot.github.conftest import REPO
from tests.bot.github.samples import COMMENTS, ROOT, comment, pull
from tests.bot.github.stub import Reply, Seen, Stub


async def test_all_pages_of_comments_are_read(as_token: PyGitHub, stub: Stub) -> None:
    def pages(seen: Seen) -> Reply:
        page = int(seen.query.get("page", "1"))
        more = {"Link": f'<{stub.url}{COMMENTS}?per_page=100&page={page + 1}>; rel="next"'}
        comments = [comment(page * 1000 + number) for number in range(100 if page < 3 else 4)]
        return Reply(200, comments, more if page < 3 else {})

    stub.otherwise = pages
    found = await as_token.comments(REPO, 7)
    assert len({each.id for each in found}) == 204
    assert [seen.query.get("per_page") for seen in stub.seen] == ["100"] * 3


async def test_pull_requests_of_a_fork_are_not_ours(as_token: PyGitHub, stub: Stub) -> None:
    fork = {"ref": "issuewright/7-tea", "sha": "c" * 40, "repo": {"full_name": "octo/fork"}}
    other = {"ref": "other", "sha": "c" * 40, "repo": {"full_name": "octo/repo"}}
    merged = pull(9, state="closed", merged_at="2026-01-02T03:04:05Z")
    stub.reply(
        "GET", f"{ROOT}/pulls", Reply(200, [pull(12, head=fork), pull(11, head=other), pull(10), merged])
    )
    found = await as_token.pull_requests(REPO, head="issuewright/7-tea")
    assert [(each.number, each.merged) for each in found] == [(10, False), (9, True)]
    assert stub.seen[0].query["head"] == "octo:issuewright/7-tea"


async def test_recent_pull_requests_are_the_open_ones_and_a_page_of_closed_ones(
    as_token: PyGitHub, stub: Stub
) -> None:
    def listed(seen: Seen) -> Reply:
        more = {"Link": f'<{stub.url}{ROOT}/pulls?state={seen.query["state"]}&page=2>; rel="next"'}
        if seen.query["state"] == "closed":
            return Reply(200, [pull(5, state="closed", head={**pull(5)["head"], "repo": None})], more)
        if seen.query.get("page"):
            return Reply(200, [pull(3)])
        return Reply(200, [pull(7)], more)

    stub.otherwise = listed
    found = await as_token.recent_pull_requests(REPO)
    assert [(each.number, each.state) for each in found] == [(7, "open"), (5, "closed"), (3, "open")]
    assert found[1].head_repo is None


async def test_a_missing_body_and_a_gone_author_are_read(as_token: PyGitHub, stub: Stub) -> None:
    stub.reply("GET", COMMENTS, Reply(200, [comment(body=None) | {"user": None}]))
    (found,) = await as_token.comments(REPO, 7)
    assert (found.body, found.author.login) == ("", "ghost")


async def test_an_issue_that_is_a_pull_request_says_so(as_token: PyGitHub, stub: Stub) -> None:
    issue = {
        "number": 7,
        "title": "Tea",
        "body": "Please",
        "state": "open",
        "locked": True,
        "labels": [{"name": "issuewright", "color": "fff"}, "old"],
        "user": {"login": "dependabot[bot]", "id": 6, "type": "Bot"},
        "html_url": "https://elsewhere.example/octo/repo/pull/7",
        "pull_request": {"url": "https://elsewhere.example"},
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-02T03:04:05Z",
    }
    stub.reply("GET", f"{ROOT}/issues/7", Reply(200, issue))
    found = await as_token.issue(REPO, 7)
    assert (found.is_pull_request, found.locked, found.author.type) == (True, True, "Bot")
    assert found.labels == ("issuewright", "old")


async def test_a_file_is_read_byte_for_byte(as_token: PyGitHub, stub: Stub) -> None:
    content = b"\xff\x00\r\n" * 40
    encoded = b64encode(content).decode()
    lines = "\n".join(encoded[at : at + 60] for at in range(0, len(encoded), 60))
    data = {"type": "file", "encoding": "base64", "content": lines, "sha": "c" * 40}
    stub.reply("GET", f"{ROOT}/contents/a/b%20c.bin", Reply(200, data))
    assert await as_token.file(REPO, "a/b c.bin", ref="main") == content


async def test_a_big_file_is_read_as_a_blob(as_token: PyGitHub, stub: Stub) -> None:
    data = {"type": "file", "encoding": "none", "content": "", "sha": "c" * 40}
    stub.reply("GET", f"{ROOT}/contents/big", Reply(200, data))
    blob = {"encoding": "base64", "content": b64encode(b"big").decode(), "sha": "c" * 40}
    stub.reply("GET", f"{ROOT}/git/blobs/{'c' * 40}", Reply(200, blob))
    assert await as_token.file(REPO, "big", ref="main") == b"big"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(404, {"message": "Not Found"}),
        Reply(200, [{"type": "file"}]),
        Reply(200, {"type": "submodule"}),
    ],
    ids=["nothing", "folder", "submodule"],
)
async def test_what_is_no_file_is_none(reply: Reply, as_token: PyGitHub, stub: Stub) -> None:
    stub.reply("GET", f"{ROOT}/contents/x", reply)
    assert await as_token.file(REPO, "x", ref="main") is None


@pytest.mark.parametrize("status", [404, 409])
async def test_a_branch_that_is_not_there_is_none(status: int, as_token: PyGitHub, stub: Stub) -> None:
    stub.reply("GET", f"{ROOT}/git/ref/heads/a/b", Reply(status, {"message": "Git Repository is empty."}))
    assert await as_token.branch(REPO, "a/b") is None


async def test_the_rules_of_a_branch_name_their_ruleset(as_token: PyGitHub, stub: Stub) -> None:
    rules = [
        {
            "type": "branch_name_pattern",
            "parameters": {"operator": "starts_with", "pattern": "bot/"},
            "ruleset_source": "octo",
            "ruleset_id": 42,
        },
        {"type": "required_signatures"},
    ]
    stub.reply("GET", f"{ROOT}/rules/branches/bot/x", Reply(200, rules))
    named, bare = await as_token.branch_rules(REPO, "bot/x")
    assert named.parameters["pattern"] == "bot/"
    assert named.source == "ruleset 42 of octo"
    assert (bare.type, bare.source) == ("required_signatures", "")


async def test_a_server_without_rules_has_none(as_token: PyGitHub, stub: Stub) -> None:
    assert await as_token.branch_rules(REPO, "main") == ()
    assert stub.seen


@pytest.mark.parametrize(
    ("answer", "role"),
    [
        ({"permission": "read", "role_name": "triage"}, "triage"),
        ({"permission": "write", "role_name": "maintain"}, "maintain"),
        ({"permission": "write", "role_name": "Release captain"}, "write"),
        ({"permission": "read", "role_name": "Security reader"}, "read"),
        ({"permission": "admin"}, "admin"),
        ({"permission": "none", "role_name": ""}, "none"),
    ],
)
async def test_a_custom_role_counts_as_what_it_is_worth(
    answer: dict[str, str], role: str, as_token: PyGitHub, stub: Stub
) -> None:
    stub.reply("GET", f"{ROOT}/collaborators/alice/permission", Reply(200, answer))
    assert await as_token.role(REPO, "alice") == role


async def test_someone_whom_the_repository_does_not_know_has_no_role(as_token: PyGitHub) -> None:
    assert await as_token.role(REPO, "stranger") == "none"


async def test_a_renamed_repository_is_followed(as_token: PyGitHub, stub: Stub) -> None:
    stub.reply("GET", ROOT, Reply(301, {}, {"Location": f"{stub.url}/repositories/1"}))
    now = {
        "full_name": "octo/new",
        "default_branch": "trunk",
        "html_url": "https://github.com/octo/new",
        "archived": True,
    }
    stub.reply("GET", "/repositories/1", Reply(200, now))
    found = await as_token.repository(REPO)
    assert (found.full_name, found.default_branch, found.archived) == ("octo/new", "trunk", True)


async def test_an_answer_that_is_no_githubs_is_told_apart(as_token: PyGitHub, stub: Stub) -> None:
    stub.reply("GET", ROOT, Reply(200, "<html>Sign in to the proxy</html>"))
    with pytest.raises(Unavailable, match=r"not GitHub's.*github\.api_url"):
        await as_token.repository(REPO)
