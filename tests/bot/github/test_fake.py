"""The GitHub in memory: scripted faults, its log, and a git repository behind it."""

import asyncio
from base64 import b64decode
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.git.process import Git
from bot.github.errors import RateLimited, Rejected, Unavailable
from bot.github.fake import FakeGitHub
from bot.github.types import Actor, PullRequest
from tests.bot.github.conftest import REPO


@pytest.fixture
def fake() -> FakeGitHub:
    made = FakeGitHub()
    made.add_repository().open_issue("Tea")
    return made


async def test_a_call_fails_as_told_and_then_works(fake: FakeGitHub) -> None:
    limited = RateLimited("slow down", retry_at=datetime.now(UTC))
    fake.fail("create_comment", Unavailable("502"), limited)
    with pytest.raises(Unavailable, match="502"):
        await fake.create_comment(REPO, 1, "a")
    with pytest.raises(RateLimited):
        await fake.create_comment(REPO, 1, "a")
    await fake.create_comment(REPO, 1, "a")
    assert [write.text for write in fake.written("create_comment")] == ["a"]
    assert fake.calls == ["create_comment"] * 3


async def test_a_write_may_happen_although_it_fails(fake: FakeGitHub) -> None:
    fake.fail("create_comment", Unavailable("502"), done=True)
    with pytest.raises(Unavailable):
        await fake.create_comment(REPO, 1, "a")
    assert [each.body for each in await fake.comments(REPO, 1)] == ["a"]


async def test_faults_are_for_one_method(fake: FakeGitHub) -> None:
    fake.fail("comments", Unavailable("502"))
    await fake.issue(REPO, 1)
    with pytest.raises(Unavailable):
        await fake.comments(REPO, 1)


async def test_what_is_refused_is_not_in_the_log(fake: FakeGitHub) -> None:
    with pytest.raises(Rejected, match="empty"):
        await fake.create_comment(REPO, 1, "")
    assert fake.writes == []


async def test_the_log_says_what_was_written_where(fake: FakeGitHub) -> None:
    await fake.react(REPO, 1, "eyes")
    await fake.add_label(REPO, 1, "bug")
    assert [tuple(write) for write in fake.writes] == [
        ("react", "octo/repo", 1, "eyes"),
        ("add_label", "octo/repo", 1, "bug"),
    ]


async def test_people_comment_too(fake: FakeGitHub) -> None:
    repository = fake.repositories["octo/repo"]
    repository.say(1, "/issuewright retry", author="Alice")
    repository.say(1, "me too", author=Actor(login="other[bot]", id=4, type="Bot"))
    alice, bot = await fake.comments(REPO, 1)
    assert (alice.author.type, bot.author.type) == ("User", "Bot")
    assert alice.author.id == repository.say(1, "again", author="alice").author.id
    assert fake.writes == []


async def test_every_call_lets_others_go_on(fake: FakeGitHub) -> None:
    order: list[str] = []

    async def two_calls(name: str) -> None:
        for _ in range(2):
            await fake.issue(REPO, 1)
            order.append(name)

    await asyncio.gather(two_calls("a"), two_calls("b"))
    assert order == ["a", "b", "a", "b"]


async def test_a_git_repository_may_lie_behind_it(tmp_path: Path) -> None:
    git = bare_repository(tmp_path / "repo.git")
    fake = FakeGitHub()
    fake.add_repository(remote=git.directory)
    main = await fake.branch(REPO, "main")
    assert main == git.output("rev-parse", "main").line
    assert await fake.file(REPO, "é.txt", ref="main") == b"\xff\r\n"
    assert await fake.file(REPO, "é.txt", ref=main or "") == b"\xff\r\n"
    assert await fake.file(REPO, "none", ref="main") is None
    assert await fake.branch(REPO, "none") is None
    git.output("branch", "same", "main")
    with pytest.raises(Rejected, match="no commits between main and same"):
        await open_pull(fake, "same")
    pushed = commit(git, "work", b"more", parent=main)
    made = await open_pull(fake, "work")
    assert made.head_sha == pushed
    access = await fake.push_access(REPO)
    assert access.url == git.directory.as_uri()
    assert b64decode(access.authorization.removeprefix("Basic ")) == b"x-access-token:fake-token"


async def open_pull(fake: FakeGitHub, head: str) -> PullRequest:
    return await fake.create_pull_request(REPO, head=head, base="main", title="T", body="B", draft=True)


def bare_repository(path: Path) -> Git:
    path.mkdir()
    git = Git(path)
    git.output("init", "--quiet", "--bare", "--initial-branch=main")
    commit(git, "main", b"\xff\r\n", parent=None)
    return git


def commit(git: Git, branch: str, content: bytes, *, parent: str | None) -> str:
    """A commit with one file, without a working tree."""
    blob = git.output("hash-object", "-w", "--stdin", stdin=content).line
    tree = git.output("mktree", stdin=f"100644 blob {blob}\té.txt\n".encode()).line
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.com"))
    }
    parents = ["-p", parent] if parent else []
    made = git.output("commit-tree", tree, "-m", "One file", *parents, env=who).line
    git.output("update-ref", f"refs/heads/{branch}", made)
    return made
