"""Snapshots: every regular file byte for byte, everything else named with a reason."""

import random
from pathlib import Path

import pytest

from bot.git.process import Git
from bot.git.repository import GitRepository
from bot.git.snapshot import MAX_FILE_BYTES, read_snapshot
from pipelines.errors import InfrastructureError, RefusalError
from tests.bot.git_scratch import Scratch, new_scratch, use_own_configuration

FILES = {
    "README.md": b"hello\n",
    "empty": b"",
    "crlf.py": b"a = 1\r\nb = 2\r\n",
    "no newline": b"x",
    "binary.bin": bytes(range(256)) * 10,
    "dir/with space/quo\"te'.py": b"1\n",
    "中文/ファイル.py": b"2\n",
    "-dash.py": b"3\n",
    "tab\there.py": b"4\n",
    "line\nbreak.py": b"5\n",
    "back\\slash.py": b"6\n",
    "looks-like-an-answer": b"abc blob 3\nxyz\n",
}


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_own_configuration(tmp_path / "home", monkeypatch)


@pytest.fixture
def scratch(tmp_path: Path) -> Scratch:
    return new_scratch(tmp_path / "repo", FILES)


def test_every_file_byte_for_byte(scratch: Scratch) -> None:
    repository = GitRepository.open(scratch.path)
    snapshot = repository.snapshot(repository.base().commit)
    assert snapshot.files == FILES
    assert snapshot.tree == scratch.git("rev-parse", "HEAD^{tree}")
    assert snapshot.skipped == {}


def test_the_commit_counts_and_not_the_work_tree(scratch: Scratch) -> None:
    scratch.git("config", "core.autocrlf", "true")
    scratch.write({"README.md": b"dirty", "untracked.py": b""})
    scratch.git("add", "README.md")
    before = scratch.state()
    repository = GitRepository.open(scratch.path)
    assert repository.snapshot(repository.base().commit).files == FILES
    assert scratch.state() == before


def test_what_is_no_regular_file_is_skipped_with_a_reason(scratch: Scratch) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"
    (scratch.path / "link").symlink_to("README.md")
    scratch.write(
        {"big.bin": b"\0" * (MAX_FILE_BYTES + 1), "edge.bin": b"\0" * MAX_FILE_BYTES, "lfs.bin": pointer}
    )
    base = scratch.add_commit({})
    scratch.git("update-index", "--add", "--cacheinfo", f"160000,{base},module")
    blob = scratch.git("hash-object", "-w", "--stdin", stdin=b"x")
    scratch.git("update-index", "-z", "--index-info", stdin=b"100644 %s\tlatin-\xe9.py\0" % blob.encode())
    scratch.git("commit", "--quiet", "-m", "Odd entries")
    repository = GitRepository.open(scratch.path)
    snapshot = repository.snapshot(repository.base().commit)
    assert snapshot.files.keys() == FILES.keys() | {"edge.bin"}
    assert snapshot.skipped == {
        "link": "a symbolic link",
        "module": "a submodule",
        "big.bin": "5.0 MiB, more than the 5 MiB read per file",
        "lfs.bin": "a Git LFS pointer; its content is not in the repository",
        "latin-\\xe9.py": "its name is not UTF-8",
    }


def test_a_tree_with_escaping_names_is_read_without_them(scratch: Scratch) -> None:
    blob = scratch.git("hash-object", "-w", "--stdin", stdin=b"x")
    inner = scratch.git("mktree", stdin=f"100644 blob {blob}\tx.py\n".encode())
    outer = f"040000 tree {inner}\t..\n040000 tree {inner}\t.git\n100644 blob {blob}\tok.py\n"
    tree = scratch.git("mktree", stdin=outer.encode())
    commit = scratch.git("commit-tree", tree, "-m", "Hostile")
    snapshot = read_snapshot(Git(scratch.path), commit)
    assert snapshot.files == {"ok.py": b"x"}
    assert snapshot.skipped.keys() == {"../x.py", ".git/x.py"}


def test_too_much_together_is_refused_with_the_size(scratch: Scratch) -> None:
    scratch.add_commit({"a.bin": b"\0" * 1_500_000, "b.bin": b"\1" * 1_500_000})
    with pytest.raises(RefusalError, match=r"holds 3 MiB of files, more than the 2 MiB.*smaller repository"):
        read_snapshot(Git(scratch.path), "HEAD", max_total_bytes=2 * 1024 * 1024)


def test_many_files_come_from_one_process_without_a_deadlock(tmp_path: Path) -> None:
    files = {f"d{n % 40}/f{n}.txt": b"%d" % n * (n % 700) for n in range(4000)}
    scratch = new_scratch(tmp_path / "many", files)
    assert read_snapshot(Git(scratch.path), "HEAD").files == files


@pytest.mark.parametrize("kept_bytes", [0, 40, None])
def test_a_damaged_repository_is_an_infrastructure_error(scratch: Scratch, kept_bytes: int | None) -> None:
    scratch.add_commit({"noise.bin": random.Random(1).randbytes(50_000)})
    blob = scratch.git("rev-parse", "HEAD:noise.bin")
    stored = scratch.path / ".git/objects" / blob[:2] / blob[2:]
    stored.chmod(0o644)
    if kept_bytes is None:
        stored.unlink()
    else:
        stored.write_bytes(stored.read_bytes()[:kept_bytes])
    with pytest.raises(InfrastructureError, match=r"noise\.bin.*git fsck"):
        read_snapshot(Git(scratch.path), "HEAD")


def test_a_commit_that_is_not_there_is_an_infrastructure_error(scratch: Scratch) -> None:
    with pytest.raises(InfrastructureError, match="rev-parse failed"):
        read_snapshot(Git(scratch.path), "no-such-commit")


def test_a_partial_clone_that_lacks_files_is_refused_with_the_remedy(
    tmp_path: Path, scratch: Scratch
) -> None:
    scratch.git("config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    scratch.git(
        "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{scratch.path}", str(partial)
    )
    repository = GitRepository.open(partial)
    with pytest.raises(RefusalError, match=r"partial clone.*git fetch --refetch"):
        repository.snapshot(repository.base().commit)


def test_text_is_forgiving(scratch: Scratch) -> None:
    scratch.add_commit({"bom.py": b"\xef\xbb\xbfx = 1\n", "latin.py": b"# \xe9\n"})
    snapshot = read_snapshot(Git(scratch.path), "HEAD")
    assert snapshot.text("bom.py") == "x = 1\n"
    assert snapshot.text("latin.py") == "# \ufffd\n"
    assert snapshot.text("missing") is None
    assert {"dir", "dir/with space", "中文"} == snapshot.directories
