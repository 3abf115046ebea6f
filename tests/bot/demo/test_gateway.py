"""The real gateway against the emulated GitHub: nobody who wrote the one wrote the other."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.demo.emulator import APP_ID, APP_SLUG, INSTALLATION
from bot.demo.local_github import LocalGitHub
from bot.github.errors import Forbidden, NotFound
from bot.github.protocol import GitHub
from bot.github.pygithub import PyGitHub
from bot.github.types import RepoRef
from bot.settings import GitHubSettings
from tests.bot.demo.test_emulator import new_issue
from tests.bot.git_scratch import new_scratch

REPO = RepoRef(owner="ada", name="teatime")


def settings(github: LocalGitHub, **who: object) -> GitHubSettings:
    where = {"api_url": github.emulator.url, "git_url": github.git_url, "write_seconds": 0}
    return GitHubSettings.model_validate(where | who)


@pytest.fixture
def gateway(github: LocalGitHub) -> GitHub:
    """As the App."""
    return PyGitHub(settings(github, app_id=APP_ID, private_key=SecretStr(github.emulator.private_key)))


async def test_it_knows_who_it_is_and_that_it_may_do_its_work(gateway: GitHub) -> None:
    assert (await gateway.identity()).login == f"{APP_SLUG}[bot]"
    assert await gateway.missing_permissions(REPO) == ()
    installed = REPO.model_copy(update={"installation": INSTALLATION})
    assert (await gateway.repository(installed)).full_name == "ada/teatime"


async def test_it_reads_everyones_role(gateway: GitHub) -> None:
    roles = [await gateway.role(REPO, login) for login in ("ada", "bob", "tim", "eve", "nobody")]
    assert roles == ["admin", "write", "triage", "none", "none"]


async def test_a_comment_is_made_edited_and_read_again(github: LocalGitHub, gateway: GitHub) -> None:
    number = new_issue(github.emulator)
    made = await gateway.create_comment(REPO, number, "one")
    await gateway.edit_comment(REPO, made.id, "two")
    (found,) = await gateway.comments(REPO, number)
    assert (found.id, found.body, found.author.type) == (made.id, "two", "Bot")


async def test_more_than_a_page_of_comments_is_read_in_order(github: LocalGitHub, gateway: GitHub) -> None:
    number = new_issue(github.emulator)
    owner = github.emulator.as_person("ada")
    for index in range(103):
        owner.send("POST", f"/repos/ada/teatime/issues/{number}/comments", {"body": str(index)})
    assert [comment.body for comment in await gateway.comments(REPO, number)] == [str(n) for n in range(103)]


async def test_an_issue_is_labelled_and_read(github: LocalGitHub, gateway: GitHub) -> None:
    number = new_issue(github.emulator)
    await gateway.add_label(REPO, number, "needs-human")
    issue = await gateway.issue(REPO, number)
    assert (issue.title, issue.state, issue.labels) == ("Count the sales", "open", ("needs-human",))
    assert not issue.is_pull_request


async def test_a_push_becomes_a_branch_files_and_a_draft_pull_request(
    github: LocalGitHub, gateway: GitHub, tmp_path: Path
) -> None:
    scratch = new_scratch(tmp_path / "work", {"src/a.py": b"x = 1\r\n"})
    github.push(scratch.path, "main:gateway-base")
    commit = scratch.add_commit({"src/größe 1.py": b"\xff\x00"})
    access = await gateway.push_access(REPO)
    assert access.url == f"{github.git_url}/ada/teatime.git"
    scratch.git(
        *("-c", f"http.{github.git_url}/.extraHeader=Authorization: {access.authorization}"),
        *("push", "--quiet", access.url, "main:issuewright/gateway"),
    )
    assert await gateway.branch(REPO, "issuewright/gateway") == commit
    assert await gateway.branch(REPO, "issuewright") is None
    assert await gateway.file(REPO, "src/größe 1.py", ref="issuewright/gateway") == b"\xff\x00"
    assert await gateway.file(REPO, "src/a.py", ref=commit) == b"x = 1\r\n"
    assert await gateway.file(REPO, "src/none.py", ref=commit) is None
    assert await gateway.branch_rules(REPO, "issuewright/gateway") == ()
    made = await gateway.create_pull_request(
        REPO, head="issuewright/gateway", base="gateway-base", title="Draft", body="Closes #1", draft=True
    )
    assert (made.draft, made.head_sha, made.head_repo) == (True, commit, "ada/teatime")
    changed = await gateway.edit_pull_request(REPO, made.number, body="New")
    assert changed.body == "New"
    assert await gateway.pull_requests(REPO, head="issuewright/gateway") == [changed]
    assert changed in await gateway.recent_pull_requests(REPO)
    closed = f"/repos/ada/teatime/pulls/{made.number}"
    github.emulator.as_person("ada").send("PATCH", closed, {"state": "closed"})
    assert (await gateway.pull_request(REPO, made.number)).state == "closed"
    assert (await gateway.edit_pull_request(REPO, made.number, reopen=True)).state == "open"


async def test_a_reaction_is_not_found_here_and_says_so(github: LocalGitHub, gateway: GitHub) -> None:
    number = new_issue(github.emulator)
    with pytest.raises(NotFound, match=f"react to #{number} in ada/teatime"):
        await gateway.react(REPO, number, "eyes")


async def test_a_personal_token_works_as_its_owner(github: LocalGitHub) -> None:
    bob = PyGitHub(settings(github, token=SecretStr(github.emulator.tokens["bob"])))
    assert (await bob.identity()).login == "bob"
    made = await bob.create_comment(REPO, new_issue(github.emulator), "hello")
    assert made.author.login == "bob"


async def test_a_repository_without_the_app_is_not_found(gateway: GitHub) -> None:
    with pytest.raises((NotFound, Forbidden)):
        await gateway.repository(RepoRef(owner="eve", name="elsewhere"))
