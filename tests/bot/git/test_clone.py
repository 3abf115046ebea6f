"""Our copies of GitHub repositories, against a real git server."""

import asyncio
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.git.clone import clone_name, ensure_clone
from bot.github.errors import NotFound
from pipelines.errors import InfrastructureError, RefusalError
from tests.bot.git.remote_scratch import TOKEN, RemoteScratch, access_to, clone_in, serve_remote
from tests.bot.git_scratch import use_own_configuration


def _raw(path: Path) -> bytes:
    return b"\0".join(file.read_bytes() for file in path.rglob("*") if file.is_file())


async def test_a_branch_is_here_with_its_files_and_without_history(
    remote: RemoteScratch, tmp_path: Path
) -> None:
    commit = remote.commit({"src/a.py": b"a = 1\r\n", "bin": bytes(range(256))})
    found = await ensure_clone(tmp_path / "clones", remote.access(), branch="main")
    assert found.commit == commit
    snapshot = found.repository.snapshot(commit)
    assert snapshot.files == {"README.md": b"hello\n", "src/a.py": b"a = 1\r\n", "bin": bytes(range(256))}
    clone = clone_in(tmp_path / "clones")
    assert (clone / "shallow").read_text().split() == [commit]
    assert TOKEN.encode() not in _raw(clone)
    assert remote.url.encode() not in (clone / "config").read_bytes()
    assert not list(clone.glob("hooks/*"))


async def test_the_clone_is_used_again_and_follows_the_branch(remote: RemoteScratch, tmp_path: Path) -> None:
    folder = tmp_path / "clones"
    first = await ensure_clone(folder, remote.access(), branch="main")
    (clone_in(folder) / "mark").touch()
    commit = remote.commit({"b.txt": b"b"})
    second = await ensure_clone(folder, remote.access(), branch="main")
    assert second.commit == commit != first.commit
    assert (clone_in(folder) / "mark").exists()
    assert "b.txt" not in first.repository.snapshot(first.commit).files
    assert "b.txt" in second.repository.snapshot(second.commit).files


async def test_a_commit_that_is_here_is_not_asked_for_again(remote: RemoteScratch, tmp_path: Path) -> None:
    first = await ensure_clone(tmp_path / "clones", remote.access(), branch="main")
    again = await ensure_clone(
        tmp_path / "clones", remote.access("no longer good"), branch="main", commit=first.commit
    )
    assert again == first


async def test_a_commit_that_the_branch_has_left_behind_is_still_found(
    remote: RemoteScratch, tmp_path: Path
) -> None:
    old = remote.head("main")
    remote.commit({"b.txt": b"b"})
    found = await ensure_clone(tmp_path / "clones", remote.access(), branch="main", commit=old)
    assert found.repository.snapshot(old).files == {"README.md": b"hello\n"}


@pytest.mark.parametrize(
    "branch", ["feature/テスト", "AB#1992-x", "a+b@c", "-dash", "release/1.x", "日本", "émoji-🎉"]
)
async def test_any_branch_that_git_allows_can_be_the_base(
    remote: RemoteScratch, tmp_path: Path, branch: str
) -> None:
    remote.commit({"b.txt": b"b"}, branch="prefix/refs/heads/" + branch)  # fits the same pattern
    commit = remote.commit({"c.txt": b"c"}, branch=branch)
    assert (await ensure_clone(tmp_path / "clones", remote.access(), branch=branch)).commit == commit


async def test_a_repository_without_commits_is_refused_with_advice(
    remote: RemoteScratch, tmp_path: Path
) -> None:
    remote.bare.git("update-ref", "-d", "refs/heads/main")
    with pytest.raises(RefusalError, match=r"owner/name\.git has no commits yet: make a first commit there"):
        await ensure_clone(tmp_path / "clones", remote.access(), branch="main")
    remote.commit({"a.txt": b"a"})
    await ensure_clone(tmp_path / "clones", remote.access(), branch="main")


async def test_a_missing_branch_is_named(remote: RemoteScratch, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="has no branch 'develop': create it, or name another"):
        await ensure_clone(tmp_path / "clones", remote.access(), branch="develop")


async def test_a_commit_that_the_server_lacks_is_refused(remote: RemoteScratch, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="the commit is no longer there"):
        await ensure_clone(tmp_path / "clones", remote.access(), branch="main", commit="1" * 40)


def _empty_objects(clone: Path) -> None:
    for path in (clone / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"")


def _one_missing_object(clone: Path) -> None:
    blob = subprocess.run(
        ["git", "rev-parse", "refs/issuewright/1/" + (clone / "shallow").read_text().strip() + ":README.md"],
        cwd=clone,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    (clone / "objects" / blob[:2] / blob[2:]).unlink()


@pytest.mark.parametrize(
    "damage",
    [
        lambda clone: (clone / "HEAD").unlink(),
        lambda clone: (clone / "config").write_text("[core\n"),
        lambda clone: shutil.rmtree(clone / "objects"),
        lambda clone: (clone / "shallow").write_text("nonsense\n"),
        _empty_objects,
        _one_missing_object,
    ],
)
async def test_a_damaged_clone_is_replaced(
    remote: RemoteScratch, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    folder = tmp_path / "clones"
    first = await ensure_clone(folder, remote.access(), branch="main")
    damage(clone_in(folder))
    again = await ensure_clone(folder, remote.access(), branch="main")
    assert again == first
    assert again.repository.snapshot(again.commit).files == {"README.md": b"hello\n"}
    assert sorted(path.suffix for path in folder.iterdir()) == [".git", ".lock"]


async def test_a_clone_inside_another_repository_is_not_mistaken_for_it(
    remote: RemoteScratch, tmp_path: Path
) -> None:
    folder = remote.person.path / "data"
    await ensure_clone(folder, remote.access(), branch="main")
    before = remote.person.git_files()
    (clone_in(folder) / "HEAD").unlink()
    await ensure_clone(folder, remote.access(), branch="main")
    assert remote.person.git_files() == before


async def test_locks_and_packs_of_a_killed_git_do_not_block(remote: RemoteScratch, tmp_path: Path) -> None:
    folder = tmp_path / "clones"
    await ensure_clone(folder, remote.access(), branch="main")
    clone = clone_in(folder)
    commit = remote.commit({"b.txt": b"b"})
    leftovers = [
        clone / name
        for name in (
            "shallow.lock",
            "config.lock",
            "packed-refs.lock",
            f"refs/issuewright/1/{commit}.lock",
            "objects/pack/tmp_pack_x",
        )
    ]
    for path in leftovers:
        path.touch()
    (clone / "mark").touch()
    assert (await ensure_clone(folder, remote.access(), branch="main")).commit == commit
    assert not any(path.exists() for path in leftovers)
    assert (clone / "mark").exists()


async def test_many_at_once_share_one_clone(remote: RemoteScratch, tmp_path: Path) -> None:
    folder = tmp_path / "clones"
    found = await asyncio.gather(
        *(ensure_clone(folder, remote.access(), branch="main") for _ in range(4)),
    )
    assert {checkout.commit for checkout in found} == {remote.head("main")}


async def test_only_so_many_old_commits_are_kept(remote: RemoteScratch, tmp_path: Path) -> None:
    folder = tmp_path / "clones"
    found = await ensure_clone(folder, remote.access(), branch="main")
    git = found.repository.git
    old = git.output("commit-tree", "-m", "old", f"{found.commit}^{{tree}}", env=_person_at(0)).line
    lines = (f"create refs/issuewright/1/{number:040} {old}\n" for number in range(300))
    git.output("update-ref", "--stdin", stdin="".join(lines).encode())
    await ensure_clone(folder, remote.access(), branch="main")
    names = git.output("for-each-ref", "--format=%(refname)").stdout.decode().split()
    assert len(names) == 200
    assert f"refs/issuewright/1/{found.commit}" in names


def _person_at(seconds: int) -> dict[str, str]:
    return {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in (("NAME", "x"), ("EMAIL", "x@example.org"), ("DATE", f"@{seconds} +0000"))
    }


async def test_links_submodules_lfs_and_attributes_come_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_own_configuration(tmp_path / "home", monkeypatch)
    evil = tmp_path / "ran"
    (tmp_path / "home/.gitconfig").write_text(
        f'[filter "lfs"]\n\tsmudge = touch {evil}\n\tclean = touch {evil}\n\trequired = true\n'
        f"[init]\n\ttemplateDir = {tmp_path / 'template'}\n"
    )
    hook = tmp_path / "template/hooks/reference-transaction"
    hook.parent.mkdir(parents=True)
    hook.write_text(f"#!/bin/sh\ntouch {evil}\n")
    hook.chmod(0o755)
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1\n"
    files = {
        "crlf.txt": b"a\r\nb\r\n",
        "model.bin": pointer,
        ".gitmodules": b'[submodule "x"]\n\tpath = x\n\turl = https://example.invalid/x.git\n',
    }
    with serve_remote(tmp_path, files) as remote:
        evil.unlink(missing_ok=True)  # the person's own git obeys the configuration
        remote.person.write({".gitattributes": b"* text=auto eol=crlf filter=lfs\n"})
        blob = remote.person.git("hash-object", "-w", "--no-filters", ".gitattributes")
        remote.person.git("update-index", "--add", "--cacheinfo", f"100644,{blob},.gitattributes")
        remote.person.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},x")
        remote.person.git("commit", "--quiet", "--no-verify", "-m", "Attributes")
        remote.push("HEAD", "main")
        evil.unlink(missing_ok=True)
        found = await ensure_clone(tmp_path / "clones", remote.access(), branch="main")
        snapshot = found.repository.snapshot(found.commit)
    assert snapshot.files["crlf.txt"] == b"a\r\nb\r\n"
    assert set(snapshot.skipped) == {"model.bin", "x"}
    assert not evil.exists()


@pytest.mark.parametrize(
    "other",
    [
        "https://github.com/owner/name",
        "https://github.com/Owner/NAME.git",
        "https://GitHub.com/owner/name.git/",
    ],
)
def test_every_spelling_of_a_url_has_the_same_clone(other: str) -> None:
    assert clone_name(other) == clone_name("https://github.com/owner/name.git")


def test_different_repositories_have_different_clones() -> None:
    urls = [
        "https://github.com/a/b.git",
        "https://github.com/a-b/c.git",
        "https://github.com/a/b-c.git",
        "https://ghe.example/a/b.git",
        "https://ghe.example:8443/a/b.git",
        "https://ghe.example/" + "a/" * 200 + "b.git",
    ]
    names = {clone_name(url) for url in urls}
    assert len(names) == len(urls)
    assert all(len(name) < 150 and "/" not in name and not name.startswith(".") for name in names)


async def test_a_folder_that_cannot_be_written_is_named(remote: RemoteScratch, tmp_path: Path) -> None:
    (tmp_path / "clones").write_text("a file")
    with pytest.raises(InfrastructureError, match=r"clones/.*\.lock cannot be opened"):
        await ensure_clone(tmp_path / "clones", access_to(remote.url), branch="main")
