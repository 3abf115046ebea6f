"""A publishing process that is killed: the next one leaves exactly one commit."""

import asyncio
import fcntl
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot.demo.git_server import GitServer
from bot.git.publish import Published, publish
from tests.bot.git.remote_scratch import TOKEN, RemoteScratch, access_to, clone_in

NEW = {"src/tool.py": b"VALUE = 1\n", "tests/test_tool.py": b"\r\n"}
BRANCH = "issuewright/1-x"


def test_a_process_killed_before_any_change_is_made_good_by_the_next(
    remote: RemoteScratch, tmp_path: Path
) -> None:
    base = remote.head("main")
    command = [sys.executable, "-m", "tests.bot.git.crashing_publish", str(tmp_path), remote.url, base]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    tries = [line.split() for line in done.stdout.splitlines()]
    assert len(tries) == 9
    assert [first for first, _ in tries[:-1]] == ["killed"] * (len(tries) - 1)
    (commit,) = {second for _, second in tries}
    assert tries[-1] == [commit, commit]
    assert remote.bare.git("rev-parse", f"{commit}^@") == base
    heads = [remote.head(f"crash/{number}") for number in range(len(tries))]
    assert heads == [commit] * len(tries)
    assert len(remote.pushes) == len(tries)


async def test_a_lost_answer_is_found_to_have_been_a_yes(remote: RemoteScratch, tmp_path: Path) -> None:
    """The process dies when the server has the commit and has not yet said so; its git lives on."""
    program = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from bot.git.publish import publish\n"
        "from tests.bot.git.remote_scratch import Publication, access_to, details\n"
        "files = {'src/tool.py': b'VALUE = 1\\n', 'tests/test_tool.py': b'\\r\\n'}\n"
        "wanted = Publication(base=sys.argv[3], branch=sys.argv[4], files=files, details=details())\n"
        "asyncio.run(publish(Path(sys.argv[1]), access_to(sys.argv[2]), wanted))\n"
    )
    pushes: list[str] = []
    running: list[subprocess.Popen[bytes]] = []
    locked: list[bool] = []

    def on_push(_name: str, updates: tuple[object, ...]) -> None:
        pushes.append(str(updates))
        for process in running:
            process.kill()
            process.wait()
            locked.append(_is_locked(clone_in(tmp_path / "clones").with_suffix(".lock")))

    server = GitServer(tmp_path / "remotes", accepts=lambda token: token == TOKEN, on_push=on_push)
    with server.serve() as root:
        url = f"{root}/owner/name.git"
        arguments = [str(tmp_path / "clones"), url, remote.head("main"), BRANCH]
        process = await asyncio.to_thread(subprocess.Popen, [sys.executable, "-c", program, *arguments])
        running.append(process)
        assert await asyncio.to_thread(process.wait) == -signal.SIGKILL
        again = await publish(tmp_path / "clones", access_to(url), remote.publication(NEW))
    assert again == Published(BRANCH, remote.head(BRANCH), pushed=False, kept_commits=0)
    assert remote.bare.git("rev-list", "--count", f"main..{again.commit}") == "1"
    assert len(pushes) == 1
    assert locked == [True]


def _is_locked(path: Path) -> bool:
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.mark.parametrize("after", [b"theirs\n", None])
async def test_a_person_who_was_faster_than_the_second_try_is_not_undone(
    remote: RemoteScratch, tmp_path: Path, after: bytes | None
) -> None:
    """The first try pushed and died; before the second, somebody changed or deleted the file."""
    await publish(tmp_path / "a", remote.access(), remote.publication(NEW))
    if after is None:
        remote.person.git("fetch", "--quiet", str(remote.bare.path), BRANCH)
        remote.person.git("checkout", "--quiet", "--detach", "FETCH_HEAD")
        remote.person.git("rm", "--quiet", "src/tool.py")
        theirs = remote.person.add_commit({})
        remote.push(theirs, BRANCH)
    else:
        theirs = remote.commit({"src/tool.py": after}, branch=BRANCH)
    again = await publish(tmp_path / "b", remote.access(), remote.publication(NEW))
    assert again == Published(BRANCH, theirs, pushed=False, kept_commits=1)
