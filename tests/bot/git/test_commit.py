"""Commits by plumbing: the right content on the branch, and nothing else changed."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from bot.git.commit import CommitDetails, NothingToCommit
from bot.git.process import Git
from bot.git.repository import GitRepository
from pipelines.errors import InfrastructureError, RefusalError
from tests.bot.git_scratch import WHEN, Scratch, commit_files, git_program, new_scratch, use_own_configuration

NEW = {"src/tool.py": b"VALUE = 1\n"}


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_own_configuration(tmp_path / "home", monkeypatch)


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return new_scratch(tmp_path / "repo", {"README.md": b"hello\n", "pkg/old.py": b"old = 1\r\n"})


@pytest.fixture
def repository(scratch: Scratch) -> GitRepository:
    return GitRepository.open(scratch.path)


def test_commit_holds_the_files_on_top_of_the_base(scratch: Scratch, repository: GitRepository) -> None:
    base = repository.base().commit
    commit = commit_files(repository, NEW)
    assert scratch.git("rev-parse", "refs/heads/issuewright/new") == commit
    assert scratch.git("rev-parse", f"{commit}^") == base
    assert scratch.files_at(commit) == {"README.md": b"hello\n", "pkg/old.py": b"old = 1\r\n", **NEW}
    shown = scratch.git("log", "-1", "--format=%an|%ae|%cn|%ce|%at|%ct|%B", commit)
    stamp = int(WHEN.timestamp())
    who = "issuewright|issuewright@example.org"
    assert shown == f"{who}|{who}|{stamp}|{stamp}|Add a module\n\nCloses #1"
    assert scratch.git("fsck", "--strict") == ""


def test_a_dirty_tree_with_staged_changes_stays_as_it_is(scratch: Scratch, repository: GitRepository) -> None:
    scratch.write({"README.md": b"edited, not staged\n", "staged.txt": b"staged\n", "src/tool.py": b"mine\n"})
    scratch.git("add", "staged.txt")
    scratch.git("rm", "--quiet", "--cached", "pkg/old.py")
    before = scratch.state()
    commit = commit_files(repository, NEW)
    assert scratch.state() == before
    assert "staged.txt" not in scratch.files_at(commit)
    assert scratch.files_at(commit)["README.md"] == b"hello\n"


def test_same_inputs_give_the_same_commit(tmp_path: Path, repository: GitRepository) -> None:
    first = commit_files(repository, NEW)
    repository.delete_branch("issuewright/new", first)
    assert commit_files(repository, NEW) == first
    assert commit_files(repository, dict(reversed({**NEW, "b.py": b""}.items())), branch="other") != first


def test_a_second_try_after_a_crash_finds_its_own_commit(repository: GitRepository) -> None:
    first = commit_files(repository, NEW)
    assert commit_files(repository, NEW) == first


def test_a_follow_up_commit_moves_the_branch_from_its_head(
    scratch: Scratch, repository: GitRepository
) -> None:
    first = commit_files(repository, NEW)
    second = commit_files(repository, {"src/tool.py": b"VALUE = 2\n"}, base=first)
    assert repository.read_branch("issuewright/new") == second
    assert scratch.git("rev-parse", f"{second}^") == first


def test_a_branch_with_someone_elses_commit_is_never_overwritten(
    scratch: Scratch, repository: GitRepository
) -> None:
    scratch.git("branch", "issuewright/new")
    scratch.git("checkout", "--quiet", "issuewright/new")
    theirs = scratch.add_commit({"human.py": b"\n"})
    scratch.git("checkout", "--quiet", "main")
    with pytest.raises(RefusalError, match="changed by someone else"):
        commit_files(repository, NEW)
    assert repository.read_branch("issuewright/new") == theirs


def test_of_two_commits_racing_for_a_branch_one_wins(repository: GitRepository) -> None:
    def attempt(number: int) -> str | None:
        try:
            return commit_files(repository, {"src/tool.py": b"VALUE = %d\n" % number})
        except RefusalError:
            return None

    with ThreadPoolExecutor(4) as pool:
        results = [commit for commit in pool.map(attempt, range(4)) if commit]
    assert results == [repository.read_branch("issuewright/new")]


def test_a_branch_that_moves_at_the_last_moment_is_refused(tmp_path: Path, scratch: Scratch) -> None:
    program = git_program(
        tmp_path / "bin",
        'case "$*" in *update-ref*)\n'
        f'  "$REAL" -C "{scratch.path}" branch --force issuewright/new "$("$REAL" -C "{scratch.path}" '
        'rev-parse main)" ;;\nesac\nexec "$REAL" "$@"',
    )
    repository = GitRepository.open(scratch.path, executable=program)
    with pytest.raises(RefusalError, match="changed by someone else"):
        commit_files(repository, NEW)
    assert repository.read_branch("issuewright/new") == repository.base().commit


def test_the_checked_out_branch_is_refused(scratch: Scratch, repository: GitRepository) -> None:
    before = scratch.state()
    with pytest.raises(RefusalError, match="checked out"):
        commit_files(repository, NEW, branch="main")
    assert scratch.state() == before


def test_a_branch_checked_out_in_another_work_tree_is_refused(
    tmp_path: Path, scratch: Scratch, repository: GitRepository
) -> None:
    scratch.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    with pytest.raises(RefusalError, match="checked out"):
        commit_files(repository, NEW, branch="side")


def test_modes_are_kept(scratch: Scratch, repository: GitRepository) -> None:
    scratch.write({"run.py": b"#!/usr/bin/env python\n"})
    (scratch.path / "run.py").chmod(0o755)
    base = scratch.add_commit({})
    commit = commit_files(repository, {"run.py": b"#!/usr/bin/env python3\n", "plain.py": b""}, base=base)
    listing = scratch.git("ls-tree", commit, "run.py", "plain.py").splitlines()
    assert [line.split()[0] for line in listing] == ["100644", "100755"]


def test_content_is_stored_as_given_whatever_the_filters_say(
    scratch: Scratch, repository: GitRepository
) -> None:
    scratch.git("config", "core.autocrlf", "true")
    scratch.git("config", "filter.shout.clean", "tr a-z A-Z")
    base = scratch.add_commit({".gitattributes": b"*.py text eol=crlf filter=shout\n"})
    content = b"a = 1\r\nb = '\xff\x00'\n"
    commit = commit_files(repository, {"a b/\xe4.py": content}, base=base)
    assert scratch.files_at(commit)["a b/\xe4.py"] == content


@pytest.mark.parametrize(
    "name", ["with space.py", "quo\"te'.py", "中文.py", "-dash.py", "--exec=x.py", "a*b?.py", ":(top)x.py"]
)
def test_odd_file_names(scratch: Scratch, repository: GitRepository, name: str) -> None:
    commit = commit_files(repository, {name: b"1\n", f"dir/{name}": b"2\n"})
    found = scratch.files_at(commit)
    assert (found[name], found[f"dir/{name}"]) == (b"1\n", b"2\n")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../out.py", r"'\.\.'"),
        ("a/../../out.py", r"'\.\.'"),
        ("/etc/out.py", "absolute"),
        ("C:/out.py", "absolute"),
        ("", "empty"),
        ("a//b.py", "empty"),
        ("./a.py", "empty or"),
        (".git/config", "git's own"),
        ("a/.GIT/hooks/x", "git's own"),
        ("a/.git /x", "git's own"),
        ("a/.git./x", "git's own"),
        ("GIT~1/x", "git's own"),
        (".git::$INDEX_ALLOCATION/x", "git's own"),
        (".g\u200cit/x", "git's own"),
        (".github/workflows/x.yml", "workflows"),
        (".GitHub/Workflows/x.yml", "workflows"),
        ("a\\b.py", "backslash"),
        ("a\nb.py", "control"),
        ("x" * 256, "255"),
        ("README.md/x.py", "not a directory"),
        ("pkg", "directory of that name"),
        ("readme.MD", "letter case"),
        ("PKG/new.py", "letter case"),
    ],
)
def test_paths_that_are_refused(scratch: Scratch, repository: GitRepository, path: str, reason: str) -> None:
    before = scratch.git_files()
    with pytest.raises(RefusalError, match=reason):
        commit_files(repository, {path: b"x"})
    assert scratch.git_files() == before


def test_new_files_that_clash_with_each_other_are_refused(repository: GitRepository) -> None:
    with pytest.raises(RefusalError, match="letter case"):
        commit_files(repository, {"new.py": b"1", "New.py": b"2"})
    with pytest.raises(RefusalError, match="not a directory"):
        commit_files(repository, {"new": b"1", "new/x.py": b"2"})


def test_links_submodules_and_lfs_files_are_refused(scratch: Scratch, repository: GitRepository) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    (scratch.path / "link.py").symlink_to("README.md")
    base = scratch.add_commit({".gitattributes": b"*.bin filter=lfs\n", "model.dat": pointer})
    scratch.git("update-index", "--add", "--cacheinfo", f"160000,{base},module")
    scratch.git("commit", "--quiet", "-m", "Submodule")
    for path in ("link.py", "module"):
        with pytest.raises(RefusalError, match="symbolic link or a submodule"):
            commit_files(repository, {path: b"x"})
    for path in ("model.dat", "new.bin"):
        with pytest.raises(RefusalError, match="LFS"):
            commit_files(repository, {path: b"x"})
    with pytest.raises(RefusalError, match="not a directory"):
        commit_files(repository, {"module/x.py": b"x"})


def test_an_unchanged_tree_makes_no_commit_and_no_branch(repository: GitRepository) -> None:
    for files in ({"README.md": b"hello\n"}, {}):
        with pytest.raises(NothingToCommit, match="nothing to commit"):
            commit_files(repository, files)
    assert repository.read_branch("issuewright/new") is None


def test_hooks_signing_and_odd_settings_have_no_say(scratch: Scratch, repository: GitRepository) -> None:
    hooks = scratch.path / ".git/hooks"
    for name in ("pre-commit", "post-commit", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch '{scratch.path}/hook-ran'\nexit 1\n")
        (hooks / name).chmod(0o755)
    for key, value in {
        "commit.gpgSign": "true",
        "core.hooksPath": str(hooks),
        "core.splitIndex": "true",
        "i18n.commitEncoding": "ISO-8859-1",
        "user.useConfigOnly": "true",
        "core.fsmonitor": str(hooks / "pre-commit"),
    }.items():
        scratch.git("config", key, value)
    before = scratch.git_files()
    commit = repository.commit(
        base=repository.base().commit,
        branch="b",
        files=NEW,
        details=CommitDetails(
            message="Ünïcode 中文 `$(touch x)` \0\n",
            author_name="Zoë",
            author_email="zoe@example.org",
            when=WHEN,
        ),
    )
    assert not (scratch.path / "hook-ran").exists()
    assert scratch.git_files() - before == {"refs/heads/b", "logs/refs/heads/b"}
    raw = scratch.git("cat-file", "commit", commit)
    assert "Ünïcode 中文 `$(touch x)` \ufffd" in raw
    assert "encoding" not in raw


def test_variables_of_a_surrounding_git_command_have_no_say(
    tmp_path: Path, scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = new_scratch(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git/index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other.path / ".git/objects"))
    commit = commit_files(GitRepository.open(scratch.path), NEW)
    monkeypatch.undo()
    assert scratch.git("cat-file", "-t", commit) == "commit"
    assert GitRepository.open(other.path).read_branch("issuewright/new") is None


def interrupted_commit(tmp_path: Path, scratch: Scratch, step: str, signal_name: str) -> int:
    """Commit in a process of its own that gets the signal when this git command starts; its return code."""
    program = git_program(
        tmp_path / "bin",
        f'case " $* " in *" {step} "*) kill -{signal_name} "$PPID"; sleep 1; exit 1;; esac\n'
        'exec "$REAL" "$@"',
    )
    script = (
        "import signal, sys; from pathlib import Path; from bot.git.repository import GitRepository;"
        "from tests.bot.git_scratch import commit_files;"
        "signal.signal(signal.SIGINT, signal.default_int_handler);"
        "repository = GitRepository.open(Path(sys.argv[1]), executable=sys.argv[2]);"
        "commit_files(repository, {'src/tool.py': b'VALUE = 1'})"
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", script, str(scratch.path), program]
    return subprocess.run(command, env=environment, check=False, capture_output=True).returncode


@pytest.mark.parametrize("step", ["read-tree", "hash-object", "write-tree", "commit-tree", "update-ref"])
def test_a_kill_at_any_step_leaves_nothing_in_the_repository(
    tmp_path: Path, scratch: Scratch, step: str
) -> None:
    scratch.write({"README.md": b"dirty\n"})
    before, files_before = scratch.state(), scratch.git_files()
    assert interrupted_commit(tmp_path, scratch, step, "KILL") == -signal.SIGKILL
    assert scratch.state() == before
    assert scratch.git_files() == files_before


@pytest.mark.parametrize("step", ["write-tree", "commit-tree"])
def test_an_interrupt_leaves_nothing_anywhere(tmp_path: Path, scratch: Scratch, step: str) -> None:
    before, files_before = scratch.state(), scratch.git_files()
    assert interrupted_commit(tmp_path, scratch, step, "INT") == -signal.SIGINT
    assert scratch.state() == before
    assert scratch.git_files() == files_before
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_git_that_cannot_write_is_an_infrastructure_error(tmp_path: Path, scratch: Scratch) -> None:
    program = git_program(
        tmp_path / "bin",
        'case "$*" in *hash-object*) trap "" XFSZ; ulimit -f 0;; esac\nexec "$REAL" "$@"',
    )
    repository = GitRepository.open(scratch.path, executable=program)
    with pytest.raises(InfrastructureError, match=r"hash-object failed.*(File too large|unable to write)"):
        commit_files(repository, NEW)
    assert repository.read_branch("issuewright/new") is None


def test_a_locked_branch_is_an_infrastructure_error(scratch: Scratch, repository: GitRepository) -> None:
    lock = scratch.path / ".git/refs/heads/busy.lock"
    lock.write_bytes(b"")
    with pytest.raises(InfrastructureError, match="lock"):
        commit_files(repository, NEW, branch="busy")


@pytest.mark.parametrize("branch", ["", "-x", "a..b", "a b", "HEAD", "a.lock", "x\n", "a/", "@{1}"])
def test_branch_names_that_git_rejects_are_refused(repository: GitRepository, branch: str) -> None:
    with pytest.raises(RefusalError, match="branch name"):
        commit_files(repository, NEW, branch=branch)


@pytest.mark.parametrize("branch", ["feature/テスト", "AB#1992-x", "fix+more", "🎉"])
def test_any_valid_branch_name_is_taken(repository: GitRepository, branch: str) -> None:
    assert commit_files(repository, NEW, branch=branch) == repository.read_branch(branch)


def test_bare_worktree_and_shallow_repositories(tmp_path: Path, scratch: Scratch) -> None:
    scratch.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"))
    scratch.add_commit({"later.py": b"\n"})
    scratch.git("clone", "--quiet", "--bare", str(scratch.path), str(tmp_path / "bare"))
    scratch.git("clone", "--quiet", "--depth=1", f"file://{scratch.path}", str(tmp_path / "shallow"))
    for name in ("tree", "bare", "shallow"):
        repository = GitRepository.open(tmp_path / name)
        commit = commit_files(repository, NEW, branch=f"from-{name}")
        assert repository.read_branch(f"from-{name}") == commit
        assert repository.snapshot(commit).files["src/tool.py"] == NEW["src/tool.py"]
    assert scratch.git("rev-parse", "from-tree")


def test_a_partial_clone_without_the_blobs_can_be_committed_to(tmp_path: Path, scratch: Scratch) -> None:
    scratch.git("config", "uploadpack.allowFilter", "true")
    target = tmp_path / "partial"
    scratch.git(
        "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{scratch.path}", str(target)
    )
    Scratch(target).git("remote", "set-url", "origin", "file:///nowhere")
    commit = commit_files(GitRepository.open(target), NEW)
    assert "src/tool.py" in Scratch(target).git("ls-tree", "-r", "--name-only", commit)


def test_commit_details_refuse_what_git_cannot_store() -> None:
    good = CommitDetails(message="m", author_name="A", author_email="a@example.org", when=WHEN)
    assert good.environment()["GIT_COMMITTER_DATE"] == f"@{int(WHEN.timestamp())} +0000"
    for bad in (
        replace(good, author_name=" "),
        replace(good, author_email="a\nb"),
        replace(good, author_name="<>"),
    ):
        with pytest.raises(RefusalError, match="author"):
            bad.environment()
    with pytest.raises(ValueError, match="time zone"):
        replace(good, when=datetime(2026, 1, 1)).environment()


def test_git_itself_also_rejects_git_directories(scratch: Scratch) -> None:
    """Our own check is not the only wall: the index refuses such paths too."""
    git = Git(scratch.path)
    blob = git.output("hash-object", "-w", "--stdin", stdin=b"x").line
    with pytest.raises(InfrastructureError, match="Invalid path"):
        git.output("update-index", "--add", "--cacheinfo", f"100644,{blob},.git/config")
