"""Pushes with real git, seen through the emulated API; each test works on a branch of its own."""

import base64
from pathlib import Path

import pytest

from bot.demo.local_github import LocalGitHub
from bot.demo.rest import Rest
from pipelines.errors import InfrastructureError
from tests.bot.demo.test_emulator import installation_token
from tests.bot.git_scratch import Scratch, new_scratch

REPO = "/repos/ada/teatime"
FILES = {
    "README.md": b"hello\n",
    "crlf.txt": b"a\r\nb\r\n",
    "binary": bytes(range(256)),
    "deep/er/fänny 中.txt": b"",
}


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return new_scratch(tmp_path / "work", FILES)


def owner(github: LocalGitHub) -> Rest:
    return github.emulator.as_person("ada")


def head(github: LocalGitHub, branch: str) -> str | None:
    found = owner(github).get(f"{REPO}/branches/{branch}")
    return found and str(found["commit"]["sha"])


def test_a_pushed_branch_is_there_with_every_byte_and_the_commits_own_names(
    github: LocalGitHub, scratch: Scratch
) -> None:
    first = scratch.git("rev-parse", "HEAD")
    second = scratch.add_commit({"README.md": b"more\n"}, "Say more\n\nin a body")
    scratch.git("branch", "feature/bytes")
    github.push(scratch.path, "feature/bytes")
    assert head(github, "feature/bytes") == second
    listed = owner(github).get(f"{REPO}/commits?sha=feature/bytes")
    assert [entry["sha"] for entry in listed] == [second, first]
    assert listed[0]["commit"]["message"].startswith("Say more\n\nin a body")
    tree = owner(github).get(f"{REPO}/git/trees/{second}?recursive=1")["tree"]
    blobs = {entry["path"]: entry["sha"] for entry in tree if entry["type"] == "blob"}
    seen = {
        path: base64.b64decode(owner(github).get(f"{REPO}/git/blobs/{sha}")["content"])
        for path, sha in blobs.items()
    }
    assert seen == {**FILES, "README.md": b"more\n"}


def test_a_branch_moves_is_rewound_and_goes(github: LocalGitHub, scratch: Scratch) -> None:
    first = scratch.git("rev-parse", "HEAD")
    second = scratch.add_commit({"new.py": b"x = 1\n"})
    for commit in (first, second, first):
        github.push(scratch.path, f"+{commit}:refs/heads/moving")
        assert head(github, "moving") == commit
    github.push(scratch.path, ":refs/heads/moving")
    assert head(github, "moving") is None


def test_merges_executables_links_and_time_zones_keep_their_names(
    github: LocalGitHub, scratch: Scratch
) -> None:
    (scratch.path / "run.sh").write_bytes(b"#!/bin/sh\n")
    (scratch.path / "run.sh").chmod(0o755)
    (scratch.path / "link").symlink_to("README.md")
    scratch.add_commit({}, "Odd files")
    scratch.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    author = ("--author=Zoë D'Arc <zoe@example.org>", "--date=2026-05-04T03:02:01-0730")
    scratch.git("commit", "--quiet", "--allow-empty", "-m", "Ünïcode", *author)
    scratch.git("checkout", "--quiet", "-b", "merged", "main")
    scratch.git("merge", "--quiet", "--no-ff", "-m", "Both", "side")
    github.push(scratch.path, "merged")
    assert head(github, "merged") == scratch.git("rev-parse", "merged")


def test_a_push_needs_a_token_that_may_write_the_repository(github: LocalGitHub, scratch: Scratch) -> None:
    app = installation_token(github.emulator, {"contents": "write", "metadata": "read"})
    github.push(scratch.path, "main:by-the-app", token=app.token)
    github.push(scratch.path, "main:by-a-collaborator", token=github.emulator.tokens["bob"])
    reader = installation_token(github.emulator, {"contents": "read", "metadata": "read"})
    for token in (reader.token, github.emulator.tokens["eve"], "ghp_unknown"):
        with pytest.raises(InfrastructureError, match=r"Authentication failed|could not read Username"):
            github.push(scratch.path, "main:refused", token=token)
    assert head(github, "by-the-app") == head(github, "by-a-collaborator") == scratch.git("rev-parse", "main")
    assert head(github, "refused") is None


def test_a_draft_pull_request_of_a_pushed_branch_knows_its_commit(
    github: LocalGitHub, scratch: Scratch
) -> None:
    github.push(scratch.path, "main:base-of-draft")
    commit = scratch.add_commit({"new.py": b"x = 1\n"})
    github.push(scratch.path, "main:drafted")
    body = {"title": "Draft", "head": "drafted", "base": "base-of-draft", "draft": True, "body": "Closes #1"}
    number = owner(github).send("POST", f"{REPO}/pulls", body)["number"]
    seen = owner(github).get(f"{REPO}/pulls/{number}")
    assert seen["draft"]
    assert seen["head"]["sha"] == commit
