"""Generated files come to stand on the bot's branch of a real server, and nothing else changes there."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from bot.git.commit import NothingToCommit
from bot.git.publish import ChangedByOthers, Published, publish
from bot.github.errors import Rejected, Unavailable
from pipelines.errors import RefusalError
from tests.bot.git.remote_scratch import BOT, TOKEN, RemoteScratch, clone_in, serve_remote
from tests.bot.git_scratch import WHEN, git_program, use_own_configuration

BRANCH = "issuewright/1-x"
NEW = {"src/tool.py": b"VALUE = 1\n", "tests/test_tool.py": b"def test_it():\r\n    assert True"}
BETTER = {**NEW, "src/tool.py": b"VALUE = 2\n"}


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    return tmp_path / "clones"


async def test_a_new_branch_has_one_commit_on_the_base(remote: RemoteScratch, clones: Path) -> None:
    base = remote.head("main")
    published = await publish(clones, remote.access(), remote.publication(NEW))
    commit = remote.head(BRANCH)
    assert published == Published(BRANCH, commit, pushed=True, kept_commits=0)
    assert remote.bare.git("rev-parse", f"{commit}^@") == base
    assert remote.bare.files_at(commit) == {"README.md": b"hello\n", **NEW}
    shown = remote.bare.git("log", "-1", "--format=%an|%ae|%ce|%at|%B", commit)
    assert shown == f"issuewright|{BOT}|{BOT}|{int(WHEN.timestamp())}|Add a module\n\nCloses #1"
    assert [[update.ref for update in push] for push in remote.pushes] == [[f"refs/heads/{BRANCH}"]]
    assert remote.bare.git("fsck", "--strict") == ""


async def test_the_base_branch_may_have_moved_on(remote: RemoteScratch, clones: Path) -> None:
    base = remote.head("main")
    remote.commit({"other.txt": b"x"})
    published = await publish(clones, remote.access(), remote.publication(NEW, base=base))
    assert remote.bare.git("rev-parse", f"{published.commit}^@") == base


async def test_again_is_harmless_and_gives_the_same_commit(remote: RemoteScratch, clones: Path) -> None:
    first = await publish(clones, remote.access(), remote.publication(NEW))
    again = await publish(clones, remote.access(), remote.publication(NEW))
    elsewhere = await publish(clones.with_name("elsewhere"), remote.access(), remote.publication(NEW))
    assert again == elsewhere == replace(first, pushed=False)
    assert len(remote.pushes) == 1


async def test_a_better_result_goes_on_top_of_the_earlier_one(remote: RemoteScratch, clones: Path) -> None:
    first = await publish(clones, remote.access(), remote.publication(NEW))
    second = await publish(clones, remote.access(), remote.publication(BETTER))
    assert second == Published(BRANCH, remote.head(BRANCH), pushed=True, kept_commits=0)
    assert remote.bare.git("rev-parse", f"{second.commit}^@") == first.commit
    assert remote.changes(first.commit, second.commit) == {"src/tool.py"}


async def test_a_persons_commits_on_the_branch_are_kept(remote: RemoteScratch, clones: Path) -> None:
    await publish(clones, remote.access(), remote.publication(NEW))
    theirs = remote.commit({"docs/note.md": b"mine"}, branch=BRANCH)
    published = await publish(clones, remote.access(), remote.publication(BETTER))
    assert published == Published(BRANCH, remote.head(BRANCH), pushed=True, kept_commits=1)
    assert remote.bare.git("rev-parse", f"{published.commit}^@") == theirs
    assert remote.bare.files_at(published.commit) == {
        "README.md": b"hello\n",
        "docs/note.md": b"mine",
        **BETTER,
    }


async def test_a_file_that_a_person_changed_is_left_to_them(remote: RemoteScratch, clones: Path) -> None:
    await publish(clones, remote.access(), remote.publication(NEW))
    theirs = remote.commit({"src/tool.py": b"VALUE = 'mine'\n"}, branch=BRANCH)
    with pytest.raises(ChangedByOthers, match=r"'issuewright/1-x' is left as it is.*`src/tool\.py`") as aside:
        await publish(clones, remote.access(), remote.publication(BETTER))
    assert aside.value.paths == ("src/tool.py",)
    assert remote.head(BRANCH) == theirs


async def test_the_same_result_again_leaves_a_persons_edit_alone(remote: RemoteScratch, clones: Path) -> None:
    await publish(clones, remote.access(), remote.publication(NEW))
    theirs = remote.commit({"src/tool.py": b"VALUE = 'mine'\n"}, branch=BRANCH)
    published = await publish(clones, remote.access(), remote.publication(NEW))
    assert published == Published(BRANCH, theirs, pushed=False, kept_commits=1)


async def test_a_branch_that_a_person_rewrote_is_not_forced(remote: RemoteScratch, clones: Path) -> None:
    """Their commit has our files in other words, and none of ours is left."""
    await publish(clones, remote.access(), remote.publication(NEW))
    remote.person.git("checkout", "--quiet", "-B", "theirs", "main")
    theirs = remote.person.add_commit({"src/tool.py": b"VALUE = 'squashed'\n"})
    remote.push(theirs, BRANCH, "--force")
    with pytest.raises(ChangedByOthers):
        await publish(clones, remote.access(), remote.publication(BETTER))
    assert remote.head(BRANCH) == theirs


async def test_main_merged_into_the_branch_is_kept_as_it_is(remote: RemoteScratch, clones: Path) -> None:
    base = remote.head("main")
    await publish(clones, remote.access(), remote.publication(NEW))
    remote.commit({"other.txt": b"x"})
    remote.person.git("fetch", "--quiet", str(remote.bare.path), BRANCH)
    remote.person.git("merge", "--quiet", "--no-edit", "FETCH_HEAD")
    merge = remote.person.git("rev-parse", "HEAD")
    remote.push(merge, BRANCH)
    published = await publish(clones, remote.access(), remote.publication(BETTER, base=base))
    assert published == Published(BRANCH, remote.head(BRANCH), pushed=True, kept_commits=2)
    assert remote.bare.git("rev-parse", f"{published.commit}^@") == merge


async def test_a_later_try_from_a_newer_base_goes_on_with_the_old_branch(
    remote: RemoteScratch, clones: Path
) -> None:
    """What only main changed since the branch began is nobody's change on the branch."""
    await publish(clones, remote.access(), remote.publication(NEW))
    old = remote.head(BRANCH)
    newer = remote.commit({"README.md": b"hello again\n"})
    files = {**BETTER, "README.md": b"hello again\nand more\n"}
    published = await publish(clones, remote.access(), remote.publication(files, base=newer))
    assert published == Published(BRANCH, remote.head(BRANCH), pushed=True, kept_commits=0)
    assert remote.bare.git("rev-parse", f"{published.commit}^@") == old
    assert remote.changes(newer, published.commit) == set(files)


async def test_nothing_new_makes_no_branch(remote: RemoteScratch, clones: Path) -> None:
    with pytest.raises(NothingToCommit, match="no branch was made"):
        await publish(clones, remote.access(), remote.publication({"README.md": b"hello\n"}))
    assert remote.pushes == []


ODD = [
    "fänny/ünï.py",
    '中文".txt',
    "-rf.py",
    "a b/c,d.py",
    "emoji-🎉.py",
    "e\u0301.py",
    "star*?[x].py",
    ":(top)x.py",
    "$HOME.py",
]


async def test_odd_names_line_ends_and_modes_stay_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_own_configuration(tmp_path / "home", monkeypatch)
    old = {
        "crlf.py": b"a = 1\r\nb = 2\r\n",
        "run.sh": b"#!/bin/sh\n",
        "bom.py": b"\xef\xbb\xbfa = 1\r\n",
        "latin.txt": b"gr\xfc\xdfe\n",
        "tab\tname": b"t",
        'quote"name': b"q",
        "link.txt": b"",
    }
    with serve_remote(tmp_path, old) as remote:
        remote.person.write({".gitattributes": b"* text=auto eol=lf ident working-tree-encoding=UTF-16\n"})
        raw = remote.person.git("hash-object", "-w", "--no-filters", "--stdin", stdin=b"not utf-8")
        attributes = remote.person.git("hash-object", "-w", "--no-filters", ".gitattributes")
        listing = b"".join(
            b"%b %b\t%b\0" % (mode, blob.encode(), name)
            for mode, blob, name in [
                (b"100644", raw, b"bad-\xff\xfe.txt"),
                (b"100644", attributes, b".gitattributes"),
                (b"120000", raw, b"link.txt"),
                (b"100755", remote.person.git("rev-parse", "HEAD:run.sh"), b"run.sh"),
                (b"160000", "1" * 40, b"module"),
            ]
        )
        remote.person.git("update-index", "-z", "--index-info", stdin=listing)
        remote.person.git("commit", "--quiet", "-m", "Odd things")
        remote.push("HEAD", "main")
        base = remote.head("main")
        new = {name: f"# {name}\r\n".encode() for name in ODD} | {
            "crlf.py": b"a = 1\r\nb = 3\r\n",
            "bom.py": b"\xef\xbb\xbfa = 2\r\n",
            "run.sh": b"#!/bin/sh\necho",
            "bin.py": bytes(range(256)),
        }
        published = await publish(tmp_path / "clones", remote.access(), remote.publication(new))
        assert remote.changes(base, published.commit) == set(new)
        for name, content in new.items():
            assert remote.content(published.commit, name) == content
        changed = remote.bare.git("diff-tree", "-r", "-z", base, published.commit).split("\0")[0::2]
        assert {line.split()[0] + line.split()[1] for line in changed if line} == {
            ":100644100644",
            ":100755100755",
            ":000000100644",
        }


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".github/workflows/ci.yml", "never go into .github/workflows"),
        (".github/WorkFlows/ci.yml", "never go into .github/workflows"),
        ("deep/setup.py", "never generated"),
        ("link.py", "a symbolic link or a submodule"),
        ("module", "a symbolic link or a submodule"),
        ("module/inside.py", "is a file, not a directory"),
        ("weights/new.bin", "gives it to Git LFS"),
        ("old.bin", "Git LFS keeps its content"),
        ("../out.py", "leaves the repository"),
        (".git/hooks/pre-push", "git's own directory"),
        ("tools/x.py", "`allowed_paths`"),
    ],
)
async def test_what_must_not_be_written_is_refused_before_any_push(
    remote: RemoteScratch, clones: Path, path: str, message: str
) -> None:
    (remote.person.path / "link.py").symlink_to("README.md")
    remote.person.write(
        {
            ".gitattributes": b"weights/** filter=lfs diff=lfs merge=lfs -text\n",
            "old.bin": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
        }
    )
    remote.person.git("add", ".")
    remote.person.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    remote.person.git("commit", "--quiet", "-m", "Things")
    remote.push("HEAD", "main")
    publication = replace(
        remote.publication({"ok.py": b"", path: b"x"}),
        allowed_paths=("*", "weights/", "deep/", "module/", ".git*/**"),
    )
    with pytest.raises(RefusalError, match=message) as refused:
        await publish(clones, remote.access(), publication)
    assert repr(path) in str(refused.value)
    assert remote.pushes == []


async def test_secrets_never_leave(remote: RemoteScratch, clones: Path) -> None:
    publication = replace(remote.publication({"a.py": f"T = '{TOKEN}'\n".encode()}), secrets=[TOKEN])
    with pytest.raises(RefusalError, match=r"'a\.py' is not pushed: line 1") as refused:
        await publish(clones, remote.access(), publication)
    assert TOKEN not in str(refused.value)
    assert remote.pushes == []


@pytest.mark.parametrize("branch", ["a..b", "-x", "HEAD", "a b", "x.lock", "", "ü\n"])
async def test_a_name_that_git_does_not_take_is_refused(
    remote: RemoteScratch, clones: Path, branch: str
) -> None:
    with pytest.raises(RefusalError, match="is not a branch name that git accepts"):
        await publish(clones, remote.access(), remote.publication(NEW, branch=branch))
    assert remote.pushes == []


@pytest.mark.parametrize(("taken", "wanted"), [("issuewright", BRANCH), (f"{BRANCH}/more", BRANCH)])
async def test_a_branch_that_leaves_no_room_is_named(
    remote: RemoteScratch, clones: Path, taken: str, wanted: str
) -> None:
    remote.commit({"a": b""}, branch=taken)
    with pytest.raises(RefusalError, match=f"'{wanted}' cannot exist beside branch '{taken}'"):
        await publish(clones, remote.access(), remote.publication(NEW, branch=wanted))


async def test_a_refusal_of_the_server_is_final_and_told(remote: RemoteScratch, clones: Path) -> None:
    remote.bare.git("config", "transfer.hideRefs", f"refs/heads/{BRANCH}")
    with pytest.raises(Rejected, match=r"does not take branch 'issuewright/1-x': \[remote rejected\]"):
        await publish(clones, remote.access(), remote.publication(NEW))
    assert remote.pushes == []


async def test_a_branch_that_moves_meanwhile_is_read_again(
    remote: RemoteScratch, clones: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = await publish(clones, remote.access(), remote.publication(NEW))
    theirs = _prepared(remote, first.commit, "docs.md")
    _before_pushes(remote, monkeypatch, tmp_path, [theirs])
    published = await publish(clones, remote.access(), remote.publication(BETTER))
    assert published == Published(BRANCH, remote.head(BRANCH), pushed=True, kept_commits=1)
    assert remote.bare.git("rev-parse", f"{published.commit}^@") == theirs


async def test_a_branch_that_always_moves_is_left_for_later(
    remote: RemoteScratch, clones: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = await publish(clones, remote.access(), remote.publication(NEW))
    moves = [first.commit]
    for number in range(4):
        moves.append(_prepared(remote, moves[-1], f"{number}.md"))
    _before_pushes(remote, monkeypatch, tmp_path, moves[1:])
    with pytest.raises(Unavailable, match="changed 3 times while it was pushed"):
        await publish(clones, remote.access(), remote.publication(BETTER))
    assert remote.head(BRANCH) == moves[3]


def _prepared(remote: RemoteScratch, parent: str, name: str) -> str:
    """A person's commit that the server has, on no branch of ours yet."""
    remote.person.git("fetch", "--quiet", str(remote.bare.path), f"refs/heads/{BRANCH}")
    remote.person.git("checkout", "--quiet", "--detach", parent)
    commit = remote.person.add_commit({name: b"x"})
    remote.push(commit, f"parked-{name}")
    return commit


def _before_pushes(
    remote: RemoteScratch, monkeypatch: pytest.MonkeyPatch, folder: Path, moves: list[str]
) -> None:
    """A git that lets a person push first: at each push the server's branch moves to the next commit."""
    todo = folder / "moves"
    todo.write_text("".join(f"{move}\n" for move in moves))
    program = git_program(
        folder / "bin",
        f"""case " $* " in *" push "*)
  next=$(head -n 1 {todo}); sed -i 1d {todo}
  [ -z "$next" ] || "$REAL" -C {remote.bare.path} update-ref refs/heads/{BRANCH} "$next" ;;
esac
exec "$REAL" "$@\"""",
    )
    monkeypatch.setenv("PATH", f"{Path(program).parent}{os.pathsep}{os.environ['PATH']}")


async def test_hooks_and_settings_in_the_clone_do_nothing(
    remote: RemoteScratch, clones: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    first = await publish(clones, remote.access(), remote.publication(NEW))
    clone = clone_in(clones)
    (clone / "hooks").mkdir(exist_ok=True)
    for name in ("pre-push", "reference-transaction", "post-commit", "fsmonitor-watchman"):
        (clone / "hooks" / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (clone / "hooks" / name).chmod(0o755)
    (clone / "info").mkdir(exist_ok=True)
    (clone / "info/attributes").write_text("* filter=evil text eol=crlf\n")
    with (clone / "config").open("a") as config:
        config.write(
            f'[filter "evil"]\n\tclean = touch {ran}\n\trequired = true\n'
            f"[core]\n\thooksPath = {clone / 'hooks'}\n\tfsmonitor = {clone / 'hooks/pre-push'}\n"
            f"[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {clone / 'hooks/pre-push'}\n"
            f"[push]\n\tgpgSign = true\n\tfollowTags = true\n"
        )
    second = await publish(clones, remote.access(), remote.publication(BETTER))
    assert second.pushed
    assert remote.bare.files_at(second.commit)["src/tool.py"] == BETTER["src/tool.py"]
    assert remote.changes(first.commit, second.commit) == {"src/tool.py"}
    assert not ran.exists()


async def test_jobs_of_one_repository_publish_side_by_side(remote: RemoteScratch, clones: Path) -> None:
    names = [f"issuewright/{number}" for number in range(3)]
    found = await asyncio.gather(
        *(publish(clones, remote.access(), remote.publication(NEW, branch=name)) for name in names)
    )
    assert [published.commit for published in found] == [remote.head(name) for name in names]
    assert len({published.commit for published in found}) == 1


async def test_a_damaged_clone_is_made_anew(remote: RemoteScratch, clones: Path) -> None:
    await publish(clones, remote.access(), remote.publication(NEW))
    clone = clone_in(clones)
    for path in (clone / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"")
    assert (await publish(clones, remote.access(), remote.publication(BETTER))).pushed
