"""Opening repositories, choosing the base, and branch names."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.git.branch import branch_slug
from bot.git.process import check_version
from bot.git.repository import GitRepository
from pipelines.errors import RefusalError
from tests.bot.git_scratch import Scratch, commit_files, git_program, new_scratch, use_own_configuration


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_own_configuration(tmp_path / "home", monkeypatch)


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return new_scratch(tmp_path / "repo")


@pytest.fixture
def repository(scratch: Scratch) -> GitRepository:
    return GitRepository.open(scratch.path)


def test_a_subdirectory_opens_the_whole_repository(scratch: Scratch) -> None:
    scratch.write({"deep/er/x.py": b""})
    assert GitRepository.open(scratch.path / "deep/er").root == scratch.path


def test_odd_directory_names_open(tmp_path: Path) -> None:
    for name in ("with space", "-dash", "中文", "new\nline", "quo'te"):
        assert GitRepository.open(new_scratch(tmp_path / name).path).root == tmp_path / name


def test_a_relative_path_opens(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(scratch.path.parent)
    assert GitRepository.open(Path("repo")).root == scratch.path
    monkeypatch.chdir(scratch.path)
    assert GitRepository.open(Path()).root == scratch.path


def test_places_that_are_no_repository_are_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    unborn = tmp_path / "unborn"
    unborn.mkdir()
    Scratch(unborn).git("init", "--quiet")
    bare = tmp_path / "bare"
    bare.mkdir()
    Scratch(bare).git("init", "--quiet", "--bare")
    for name, message in {
        "missing": "does not exist.*--repo",
        "file": "is a file.*--repo",
        "file/below": "does not exist",
        "empty": "not in a git repository.*git init",
        "unborn": "no commits yet.*first commit",
        "bare": "no commits yet",
    }.items():
        with pytest.raises(RefusalError, match=message):
            GitRepository.open(tmp_path / name)


def test_a_broken_repository_is_refused_with_gits_message(scratch: Scratch) -> None:
    (scratch.path / ".git/config").write_text("[core\n")
    with pytest.raises(RefusalError, match="bad config line 1"):
        GitRepository.open(scratch.path)


def test_a_repository_of_another_user_is_refused_with_the_remedy(tmp_path: Path, scratch: Scratch) -> None:
    program = git_program(tmp_path / "bin", 'GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec "$REAL" "$@"')
    with pytest.raises(RefusalError, match=r"another user.*safe\.directory .*repo"):
        GitRepository.open(scratch.path, executable=program)
    trusting = tmp_path / "home/.gitconfig"
    trusting.write_text(f"[safe]\n\tdirectory = {scratch.path}\n")
    assert GitRepository.open(scratch.path, executable=program).root == scratch.path


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every directory")
def test_an_unreadable_directory_is_refused(scratch: Scratch) -> None:
    scratch.path.chmod(0)
    try:
        with pytest.raises(RefusalError, match="permissions"):
            GitRepository.open(scratch.path)
    finally:
        scratch.path.chmod(0o755)


def test_a_directory_that_git_may_not_enter_is_refused(tmp_path: Path, scratch: Scratch) -> None:
    program = git_program(
        tmp_path / "bin", "echo \"fatal: cannot change to 'repo': Permission denied\" >&2; exit 128"
    )
    with pytest.raises(RefusalError, match="cannot be read: check its permissions"):
        GitRepository.open(scratch.path, executable=program)


def test_git_must_be_installed_and_recent(tmp_path: Path, scratch: Scratch) -> None:
    with pytest.raises(RefusalError, match="install git"):
        GitRepository.open(scratch.path, executable=str(tmp_path / "no-git"))
    (tmp_path / "plain").write_text("")
    with pytest.raises(RefusalError, match="install git"):
        GitRepository.open(scratch.path, executable=str(tmp_path / "plain"))
    program = git_program(
        tmp_path / "bin", 'case "$*" in *version) echo git version 2.20.1;; *) exec "$REAL" "$@";; esac'
    )
    with pytest.raises(RefusalError, match=r"2\.20\.1.*install git 2\.31"):
        GitRepository.open(scratch.path, executable=program)


@pytest.mark.parametrize(
    "text", ["git version 2.31.0", "git version 2.39.5 (Apple Git-154)", "git version 3.0.rc1"]
)
def test_recent_versions_pass(text: str) -> None:
    check_version(text)


@pytest.mark.parametrize("text", ["git version 2.30.9", "git version 1.99", "", "hello"])
def test_old_or_unknown_versions_are_refused(text: str) -> None:
    with pytest.raises(RefusalError, match="too old"):
        check_version(text)


def test_base_is_head_with_its_branch(scratch: Scratch, repository: GitRepository) -> None:
    commit = scratch.git("rev-parse", "HEAD")
    assert repository.base() == (commit, "main")
    scratch.git("checkout", "--quiet", "-b", "feature/テスト")
    assert repository.base() == (commit, "feature/テスト")
    scratch.git("checkout", "--quiet", "--detach")
    assert repository.base() == (commit, None)


def test_base_takes_branches_tags_and_commits(scratch: Scratch, repository: GitRepository) -> None:
    first = scratch.git("rev-parse", "HEAD")
    scratch.git("branch", "old")
    scratch.git("tag", "-a", "v1", "-m", "Version 1")
    scratch.add_commit({"b.py": b""})
    assert repository.base("old") == (first, "old")
    assert repository.base("v1") == (first, None)
    assert repository.base(first[:10]) == (first, None)
    assert repository.base("HEAD~1") == (first, None)


@pytest.mark.parametrize(
    "revision", ["", " ", "--all", "-n1", "no-such", "HEAD..main", "HEAD:README.md", "a\0b", "0" * 40]
)
def test_base_refuses_what_is_no_revision(repository: GitRepository, revision: str) -> None:
    with pytest.raises(RefusalError, match="--base"):
        repository.base(revision)


def test_an_unborn_head_needs_a_named_base(scratch: Scratch) -> None:
    commit = scratch.git("rev-parse", "HEAD")
    scratch.git("symbolic-ref", "HEAD", "refs/heads/unborn")
    repository = GitRepository.open(scratch.path)
    with pytest.raises(RefusalError, match="--base"):
        repository.base()
    assert repository.base("main") == (commit, "main")
    with pytest.raises(RefusalError, match="checked out"):
        commit_files(repository, {"a.py": b""}, branch="unborn", base=commit)


def test_free_branch_counts_past_taken_names(scratch: Scratch, repository: GitRepository) -> None:
    assert repository.free_branch("issuewright/x") == "issuewright/x"
    for name in ("issuewright/x", "Issuewright/X-2", "issuewright/x-3/deep"):
        scratch.git("branch", name)
    assert repository.free_branch("issuewright/x") == "issuewright/x-4"
    assert repository.free_branch("issuewright") == "issuewright-2"
    scratch.git("branch", "top")
    scratch.git("branch", "top-x")
    assert repository.free_branch("top/x") == "top-x-2"
    with pytest.raises(RefusalError, match="branch name"):
        repository.free_branch("a b")


def test_a_free_branch_can_be_created(scratch: Scratch, repository: GitRepository) -> None:
    scratch.git("branch", "issuewright")
    with pytest.raises(RefusalError, match="beginning"):
        commit_files(repository, {"a.py": b""}, branch="issuewright/x")
    branch = repository.free_branch("issuewright/x")
    assert commit_files(repository, {"a.py": b""}, branch=branch) == repository.read_branch(branch)


def test_delete_branch_only_from_the_expected_commit(scratch: Scratch, repository: GitRepository) -> None:
    base = repository.base().commit
    commit = commit_files(repository, {"a.py": b""})
    with pytest.raises(RefusalError, match="changed by someone else"):
        repository.delete_branch("issuewright/new", base)
    assert repository.read_branch("issuewright/new") == commit
    repository.delete_branch("issuewright/new", commit)
    assert repository.read_branch("issuewright/new") is None
    repository.delete_branch("issuewright/new", commit)
    with pytest.raises(RefusalError, match="checked out"):
        repository.delete_branch("main", base)


def test_read_branch_sees_branches_only(scratch: Scratch, repository: GitRepository) -> None:
    scratch.git("tag", "v1")
    assert repository.read_branch("main") == scratch.git("rev-parse", "HEAD")
    assert [repository.read_branch(name) for name in ("v1", "HEAD", "", "-x", "main~0x")] == [None] * 5


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Add slugify()", "add-slugify"),
        ("Fix <class 'ValueError'> in `parse`\n--exec", "fix-class-valueerror-in-parse-exec"),
        ("Grüße aus Köln", "grusse-aus-koln"),
        ("テストを追加する", "issue-7"),
        ("🎉🎉", "issue-7"),
        ("", "issue-7"),
        ("../../etc/passwd.lock", "etc-passwd-lock"),
        ("a" * 80, "a" * 50),
        ("word " * 20, "-".join(["word"] * 10)),
    ],
)
def test_branch_slugs(title: str, slug: str) -> None:
    assert branch_slug(title, fallback="issue-7") == slug


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=120))
def test_every_slug_is_a_branch_name_that_git_accepts(title: str) -> None:
    slug = branch_slug(title, fallback="issue-7")
    assert 1 <= len(slug) <= 50
    for name in (slug, f"issuewright/{slug}"):
        subprocess.run(["git", "check-ref-format", "--branch", name], check=True, capture_output=True)
