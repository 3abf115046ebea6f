"""Every request that the gateway sends is one that GitHub itself describes, and the App may send it."""

import inspect
from collections.abc import Awaitable, Callable

import pytest

from bot.github.deliveries import redeliver_missed
from bot.github.manifest import finish_app
from bot.github.permissions import PERMISSIONS
from bot.github.protocol import GitHub
from bot.github.pygithub import PyGitHub
from bot.github.types import RepoRef
from bot.settings import GitHubSettings
from tests.bot.github import openapi
from tests.bot.github.conftest import REPO
from tests.bot.github.stub import Reply, Seen, Stub

CALLS: dict[str, Callable[[GitHub, RepoRef], Awaitable[object]]] = {
    "identity": lambda github, repo: github.identity(),
    "repository": lambda github, repo: github.repository(repo),
    "role": lambda github, repo: github.role(repo, "hub&ot[bot]"),
    "missing_permissions": lambda github, repo: github.missing_permissions(repo),
    "issue": lambda github, repo: github.issue(repo, 7),
    "comments": lambda github, repo: github.comments(repo, 7),
    "create_comment": lambda github, repo: github.create_comment(repo, 7, "Hello"),
    "edit_comment": lambda github, repo: github.edit_comment(repo, 70, "Hello"),
    "react": lambda github, repo: github.react(repo, 7, "eyes"),
    "react to a comment": lambda github, repo: github.react(repo, 7, "rocket", comment=70),
    "add_label": lambda github, repo: github.add_label(repo, 7, "needs-human"),
    "file": lambda github, repo: github.file(repo, ".github/a ü#?.yml", ref="feature/a&b"),
    "branch": lambda github, repo: github.branch(repo, "issuewright/7-tea#1"),
    "branch_rules": lambda github, repo: github.branch_rules(repo, "issuewright/7-tea#1"),
    "pull_request": lambda github, repo: github.pull_request(repo, 8),
    "pull_requests": lambda github, repo: github.pull_requests(repo, head="issuewright/7-tea"),
    "recent_pull_requests": lambda github, repo: github.recent_pull_requests(repo),
    "create_pull_request": lambda github, repo: github.create_pull_request(
        repo, head="issuewright/7-tea", base="main", title="Tea", body="Closes #7", draft=True
    ),
    "edit_pull_request": lambda github, repo: github.edit_pull_request(repo, 8, body="New"),
    "reopen": lambda github, repo: github.edit_pull_request(repo, 8, reopen=True),
    "push_access": lambda github, repo: github.push_access(repo),
}

# docs.github.com/en/rest/authentication/permissions-required-for-github-apps; None needs none.
NEEDED: dict[str, tuple[str, str] | None] = {
    "git/get-blob": ("contents", "read"),
    "git/get-ref": ("contents", "read"),
    "issues/add-labels": ("issues", "write"),
    "issues/create-comment": ("issues", "write"),
    "issues/get": ("issues", "read"),
    "issues/list-comments": ("issues", "read"),
    "issues/update-comment": ("issues", "write"),
    "pulls/create": ("pull_requests", "write"),
    "pulls/get": ("pull_requests", "read"),
    "pulls/list": ("pull_requests", "read"),
    "pulls/update": ("pull_requests", "write"),
    "reactions/create-for-issue": ("issues", "write"),
    "reactions/create-for-issue-comment": ("issues", "write"),
    "repos/get": ("metadata", "read"),
    "repos/get-branch-rules": ("metadata", "read"),
    "repos/get-collaborator-permission-level": ("metadata", "read"),
    "repos/get-content": ("contents", "read"),
    "users/get-authenticated": None,
    "users/get-by-username": None,
}


@pytest.fixture
def described(stub: Stub) -> Stub:
    """GitHub's own examples as answers; in that of a file the content is none."""
    stub.otherwise = openapi.answer
    file = {
        "type": "file",
        "encoding": "none",
        "content": "",
        "sha": "3d21ec53a331a6f037a91c368710b99387d012c1",
    }
    stub.reply("GET", "/repos/octo/repo/contents/.github/a%20%C3%BC%23%3F.yml", Reply(200, file))
    return stub


@pytest.mark.parametrize("name", CALLS)
async def test_each_request_is_described_and_allowed(name: str, gateway: PyGitHub, described: Stub) -> None:
    await CALLS[name](gateway, REPO)
    assert described.seen or name == "push_access"
    for seen in described.seen:
        openapi.check(seen)
        check_permission(seen)


def check_permission(seen: Seen) -> None:
    """The App signs only what is about itself; everything else is covered by its manifest."""
    operation = str(openapi.operation_of(seen)["id"])
    if operation.startswith("apps/"):
        assert seen.token.count(".") == 2, f"{operation} is for the App's own signature"
        return
    assert seen.token.startswith(("ghs_", "github_pat_")), f"{operation} is for a token"
    needed = NEEDED[operation]
    assert needed is None or PERMISSIONS[needed[0]] in (needed[1], "write")


async def test_an_installation_that_is_known_is_not_looked_for(as_app: PyGitHub, described: Stub) -> None:
    await as_app.repository(REPO.model_copy(update={"installation": 12}))
    assert [seen.path for seen in described.seen] == [
        "/app/installations/12",
        "/app/installations/1/access_tokens",
        "/repos/octo/repo",
    ]
    for seen in described.seen:
        openapi.check(seen)


async def test_asking_for_deliveries_is_described(app_settings: GitHubSettings, described: Stub) -> None:
    failed = {"id": 5, "guid": "a", "delivered_at": "2999-01-01T00:00:00Z", "status_code": 502}
    described.reply("GET", "/app/hook/deliveries", Reply(200, [failed]))
    assert await redeliver_missed(app_settings, hours=1) == 1
    for seen in described.seen:
        openapi.check(seen)


def test_finishing_an_app_is_described_and_needs_no_token(described: Stub) -> None:
    made = finish_app(GitHubSettings(api_url=described.url), "a/code")
    assert made.id == 1
    assert made.pem.get_secret_value().startswith("-----BEGIN RSA PRIVATE KEY-----")
    assert "BEGIN" not in repr(made)
    for seen in described.seen:
        openapi.check(seen)
        assert "authorization" not in seen.headers


def test_every_method_of_the_gateway_is_called() -> None:
    methods = {name for name, _ in inspect.getmembers(GitHub, inspect.isfunction) if not name.startswith("_")}
    assert methods <= CALLS.keys()


REPOSITORY = "/repos/octo/repo"


@pytest.mark.parametrize(
    "seen",
    [
        Seen("GET", "/repos/octo/repo/nonsense", {}, {}, None),
        Seen("DELETE", REPOSITORY, {}, {}, None),
        Seen("GET", f"{REPOSITORY}/pulls", {"page_size": "100"}, {}, None),
        Seen("GET", f"{REPOSITORY}/pulls", {"state": "any"}, {}, None),
        Seen("GET", f"{REPOSITORY}/issues/seven", {}, {}, None),
        Seen("GET", f"{REPOSITORY}/issues/7", {}, {}, {"body": "x"}),
        Seen("POST", f"{REPOSITORY}/issues/7/comments", {}, {}, {"text": "x"}),
        Seen("POST", f"{REPOSITORY}/issues/7/comments", {}, {}, {"body": 1}),
        Seen("POST", f"{REPOSITORY}/issues/7/reactions", {}, {}, {"content": "wow"}),
        Seen("POST", f"{REPOSITORY}/pulls", {}, {}, {"head": "a", "title": "b"}),
        Seen("POST", "/app/installations/1/access_tokens", {}, {}, {"permissions": {"issues": "all"}}),
    ],
    ids=lambda seen: f"{seen.verb} {seen.path} {seen.query or seen.body}",
)
def test_a_request_that_github_does_not_know_is_found(seen: Seen) -> None:
    with pytest.raises(openapi.OutsideTheDescription):
        openapi.check(seen)
