"""What every gateway does: the one in memory, and the real one with the other as its GitHub."""

from dataclasses import dataclass

import pytest

from bot.github.errors import Forbidden, NotFound, Rejected
from bot.github.fake import BOT, FakeGitHub
from bot.github.fake_repository import BODY_LIMIT, FakeRepository
from bot.github.protocol import GitHub
from bot.github.pygithub import PyGitHub
from bot.github.types import BranchRule, PullRequest, RepoRef
from tests.bot.github import openapi
from tests.bot.github.conftest import REPO
from tests.bot.github.fake_server import answer
from tests.bot.github.stub import Reply, Seen, Stub

BRANCH = "issuewright/7-tea"


@dataclass
class Scene:
    github: GitHub
    fake: FakeGitHub
    repository: FakeRepository


@pytest.fixture(params=["in memory", "over HTTP"])
def scene(request: pytest.FixtureRequest, stub: Stub, as_token: PyGitHub) -> Scene:
    """A repository with an issue, and a branch with a commit that the default branch lacks."""
    fake = FakeGitHub()
    repository = fake.add_repository()
    repository.open_issue("Tea", "Please", labels=("issuewright",))
    repository.push(BRANCH, {"tea.py": b"x = 1\n"})

    def described(seen: Seen) -> Reply:
        openapi.check(seen)
        return answer(fake, seen)

    stub.otherwise = described
    return Scene(fake if request.param == "in memory" else as_token, fake, repository)


async def open_pull(scene: Scene, *, head: str = BRANCH, body: str = "Closes #1") -> PullRequest:
    return await scene.github.create_pull_request(
        REPO, head=head, base="main", title="Tea", body=body, draft=True
    )


async def test_a_comment_is_written_and_edited(scene: Scene) -> None:
    first = await scene.github.create_comment(REPO, 1, "Working")
    await scene.github.create_comment(REPO, 1, "Second")
    edited = await scene.github.edit_comment(REPO, first.id, "Done ✓")
    assert edited.id == first.id
    found = await scene.github.comments(REPO, 1)
    assert [(each.body, each.author) for each in found] == [("Done ✓", BOT), ("Second", BOT)]
    assert [write.operation for write in scene.fake.writes] == ["create_comment"] * 2 + ["edit_comment"]


async def test_we_are_who_wrote_it(scene: Scene) -> None:
    written = await scene.github.create_comment(REPO, 1, "Hello")
    assert written.author == await scene.github.identity()


async def test_an_issue_is_as_it_is_now(scene: Scene) -> None:
    scene.repository.change_issue(1, state="closed", locked=True)
    found = await scene.github.issue(REPO, 1)
    assert (found.title, found.state, found.locked, found.labels) == ("Tea", "closed", True, ("issuewright",))
    assert not found.is_pull_request


async def test_a_label_and_a_reaction_may_come_twice(scene: Scene) -> None:
    for _ in range(2):
        await scene.github.add_label(REPO, 1, "needs-human")
        await scene.github.react(REPO, 1, "eyes")
    assert (await scene.github.issue(REPO, 1)).labels == ("issuewright", "needs-human")
    assert scene.repository.reactions == {(1, None, "eyes")}


async def test_a_locked_issue_takes_no_comment(scene: Scene) -> None:
    scene.repository.change_issue(1, locked=True)
    with pytest.raises(Forbidden, match="locked"):
        await scene.github.create_comment(REPO, 1, "Hello")
    assert await scene.github.comments(REPO, 1) == []


async def test_an_archived_repository_takes_nothing(scene: Scene) -> None:
    scene.repository.facts = scene.repository.facts.model_copy(update={"archived": True})
    assert (await scene.github.repository(REPO)).archived
    with pytest.raises(Forbidden, match="archived"):
        await scene.github.create_comment(REPO, 1, "Hello")
    with pytest.raises(Forbidden, match="archived"):
        await open_pull(scene)


async def test_what_is_not_there_is_not_found(scene: Scene) -> None:
    with pytest.raises(NotFound):
        await scene.github.issue(REPO, 99)
    with pytest.raises(NotFound):
        await scene.github.edit_comment(REPO, 99, "x")
    with pytest.raises(NotFound):
        await scene.github.pull_request(REPO, 1)
    with pytest.raises(NotFound):
        await scene.github.repository(RepoRef(owner="octo", name="other"))


async def test_a_body_may_be_long_but_not_longer(scene: Scene) -> None:
    written = await scene.github.create_comment(REPO, 1, "x" * BODY_LIMIT)
    for long in ("x" * (BODY_LIMIT + 1), "é" * (BODY_LIMIT + 1)):
        with pytest.raises(Rejected, match="65536"):
            await scene.github.create_comment(REPO, 1, long)
        with pytest.raises(Rejected, match="65536"):
            await scene.github.edit_comment(REPO, written.id, long)
        with pytest.raises(Rejected, match="65536"):
            await open_pull(scene, body=long)
    assert len(await scene.github.comments(REPO, 1)) == 1
    assert await scene.github.recent_pull_requests(REPO) == []


async def test_a_pull_request_is_a_draft_and_an_issue_too(scene: Scene) -> None:
    made = await open_pull(scene)
    assert made.draft
    assert made.head_sha == scene.repository.branches[BRANCH]
    assert await scene.github.pull_requests(REPO, head=BRANCH) == [made]
    assert await scene.github.pull_requests(REPO, head="main") == []
    assert (await scene.github.issue(REPO, made.number)).is_pull_request
    await scene.github.create_comment(REPO, made.number, "Hello")
    assert len(await scene.github.comments(REPO, made.number)) == 1


async def test_a_pull_request_follows_its_branch(scene: Scene) -> None:
    made = await open_pull(scene)
    pushed = scene.repository.push(BRANCH, {"tea.py": b"x = 2\n"})
    assert (await scene.github.pull_request(REPO, made.number)).head_sha == pushed


async def test_a_second_pull_request_for_a_branch_is_refused(scene: Scene) -> None:
    made = await open_pull(scene)
    with pytest.raises(Rejected, match="already exists"):
        await open_pull(scene)
    scene.repository.change_pull(made.number, state="closed")
    again = await open_pull(scene)
    found = await scene.github.pull_requests(REPO, head=BRANCH)
    assert [each.number for each in found] == [again.number, made.number]


async def test_a_pull_request_needs_its_branch_and_a_commit(scene: Scene) -> None:
    with pytest.raises(Rejected, match="head is invalid"):
        await open_pull(scene, head="nowhere")
    scene.repository.branches["same"] = scene.repository.branches["main"]
    with pytest.raises(Rejected, match="no commits between"):
        await open_pull(scene, head="same")


async def test_a_closed_pull_request_opens_again_and_a_merged_one_does_not(scene: Scene) -> None:
    made = await open_pull(scene)
    scene.repository.change_pull(made.number, state="closed")
    opened = await scene.github.edit_pull_request(REPO, made.number, body="Again", reopen=True)
    assert (opened.state, opened.body) == ("open", "Again")
    scene.repository.change_pull(made.number, state="closed", merged=True)
    with pytest.raises(Rejected, match="merged"):
        await scene.github.edit_pull_request(REPO, made.number, reopen=True)
    assert (await scene.github.pull_request(REPO, made.number)).merged


async def test_files_and_branches_are_read(scene: Scene) -> None:
    commit = scene.repository.push("main", {".github/é.yml": b"a: \xff\r\n"})
    assert await scene.github.branch(REPO, "main") == commit
    assert await scene.github.branch(REPO, "issuewright") is None
    for ref in ("main", commit):
        assert await scene.github.file(REPO, ".github/é.yml", ref=ref) == b"a: \xff\r\n"
    assert await scene.github.file(REPO, "none", ref="main") is None


async def test_roles_do_not_tell_letter_case_apart(scene: Scene) -> None:
    scene.repository.roles = {"Alice": "maintain", "bob": "triage"}
    assert await scene.github.role(REPO, "alice") == "maintain"
    assert await scene.github.role(REPO, "bob") == "triage"
    assert await scene.github.role(REPO, "stranger") == "read"
    scene.repository.facts = scene.repository.facts.model_copy(update={"private": True})
    assert await scene.github.role(REPO, "stranger") == "none"


async def test_rules_of_branches_are_told(scene: Scene) -> None:
    scene.repository.rules = (BranchRule(type="required_signatures"),)
    assert [rule.type for rule in await scene.github.branch_rules(REPO, BRANCH)] == ["required_signatures"]


async def test_missing_permissions_are_told(scene: Scene) -> None:
    assert await scene.github.missing_permissions(REPO) == ()
    scene.repository.missing = ("contents: write", "pull_requests: write")
    assert await scene.github.missing_permissions(REPO) == scene.repository.missing


async def test_a_renamed_repository_says_its_present_name(scene: Scene) -> None:
    scene.fake.rename("octo/repo", "octo/new")
    assert (await scene.github.repository(REPO)).full_name == "octo/new"


async def test_a_repository_is_found_in_any_spelling(scene: Scene) -> None:
    assert (await scene.github.issue(RepoRef(owner="Octo", name="REPO"), 1)).title == "Tea"
