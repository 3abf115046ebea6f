"""The demo's git remote, as git itself and a raw HTTP client see it."""

import base64
import http.client
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bot.demo.git_server import NO_COMMIT, GitServer, RefUpdate
from tests.bot.git_scratch import Scratch, new_scratch, use_own_configuration

BASIC = "Basic " + base64.b64encode(b"x-access-token:good").decode()


class Remote:
    """A server of one repository, and what it said of pushes."""

    def __init__(self, root: Path) -> None:
        self.pushes: list[tuple[str, tuple[RefUpdate, ...]]] = []
        self.server = GitServer(
            root, accepts=lambda token: token == "good", on_push=lambda *push: self.pushes.append(push)
        )
        self.folder = self.server.create("owner/name")
        self.url = ""

    def address(self, token: str = "good", user: str = "x-access-token") -> str:
        return self.url.replace("http://", f"http://{user}:{token}@") + "/owner/name.git"


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Remote]:
    use_own_configuration(tmp_path / "home", monkeypatch)
    remote = Remote(tmp_path / "remotes")
    with remote.server.serve() as remote.url:
        yield remote


@pytest.fixture
def scratch(tmp_path: Path, remote: Remote) -> Scratch:
    return new_scratch(tmp_path / "work", {"big.bin": bytes(range(256)) * 20_000, "a.txt": b"a\r\n"})


def test_a_push_is_stored_reported_and_cloned_again(remote: Remote, scratch: Scratch, tmp_path: Path) -> None:
    first = scratch.git("rev-parse", "HEAD")
    scratch.git("push", "--quiet", remote.address(), "main", "main:other")
    second = scratch.add_commit({"b.txt": b"b"})
    scratch.git("push", "--quiet", remote.address(), "main", ":other")
    assert remote.pushes == [
        (
            "owner/name",
            (
                RefUpdate("refs/heads/main", NO_COMMIT, first),
                RefUpdate("refs/heads/other", NO_COMMIT, first),
            ),
        ),
        (
            "owner/name",
            (RefUpdate("refs/heads/main", first, second), RefUpdate("refs/heads/other", first, NO_COMMIT)),
        ),
    ]
    scratch.git("clone", "--quiet", "--depth=1", remote.address(), str(tmp_path / "again"))
    assert (tmp_path / "again/a.txt").read_bytes() == b"a\r\n"
    assert scratch.git("-C", str(tmp_path / "again"), "rev-list", "--count", "HEAD") == "1"


def test_a_body_in_chunks_arrives_whole(remote: Remote, tmp_path: Path) -> None:
    noise = b"".join(str(number * 7919 % 10_007).encode() for number in range(100_000))
    scratch = new_scratch(tmp_path / "work", {"noise": noise})
    done = subprocess.run(
        ["git", "-c", "http.postBuffer=65536", "-c", "core.compression=0", "push", remote.address(), "main"],
        cwd=scratch.path,
        env={**os.environ, "GIT_TRACE_CURL": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Transfer-Encoding: chunked" in done.stderr
    assert [updates[0].after for _, updates in remote.pushes] == [scratch.git("rev-parse", "HEAD")]


def test_a_compressed_body_and_the_newer_protocol_are_understood(remote: Remote, scratch: Scratch) -> None:
    commits = [scratch.add_commit({"n.txt": str(number).encode()}) for number in range(40)]
    refs = [f"{commit}:refs/heads/b{number}" for number, commit in enumerate(commits)]
    scratch.git("push", "--quiet", remote.address(), *refs)
    trace = subprocess.run(
        [
            "git",
            "-c",
            "protocol.version=2",
            "-c",
            "http.postBuffer=1000000",
            "fetch",
            remote.address(),
            "b39",
        ],
        cwd=scratch.path,
        env={**os.environ, "GIT_TRACE_CURL": "1", "GIT_TRACE_PACKET": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "version 2" in trace.stderr
    listing = scratch.git("-c", "protocol.version=0", "ls-remote", remote.address())
    assert listing.count("refs/heads/") == 40
    scratch.git("fetch", "--quiet", "--depth=1", remote.address(), commits[3])


def test_a_gzip_body_is_unpacked(remote: Remote, scratch: Scratch) -> None:
    """Git compresses requests of more than 1 KiB, such as one with many haves."""
    scratch.git("push", "--quiet", remote.address(), "main")
    for number in range(60):
        scratch.add_commit({"n.txt": str(number).encode()})
    other = new_scratch(scratch.path.parent / "other")
    other.git("push", "--quiet", remote.address(), "main:other")
    done = subprocess.run(
        ["git", "fetch", remote.address(), "other"],
        cwd=scratch.path,
        env={**os.environ, "GIT_TRACE_CURL": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Content-Encoding: gzip" in done.stderr


@pytest.mark.parametrize(("user", "token"), [("x-access-token", "bad"), ("someone", "good")])
def test_a_wrong_token_is_refused(remote: Remote, scratch: Scratch, user: str, token: str) -> None:
    done = subprocess.run(
        ["git", "push", remote.address(token, user), "main"],
        cwd=scratch.path,
        env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Authentication failed" in done.stderr
    assert remote.pushes == []


@pytest.mark.parametrize("authorization", ["", "Basic", "Basic %%%", "Basic //8=", "Bearer good"])
def test_a_request_without_a_readable_token_is_answered_401(remote: Remote, authorization: str) -> None:
    assert _get(remote, "/owner/name.git/info/refs?service=git-upload-pack", authorization)[0] == 401


@pytest.mark.parametrize(
    "path", ["/owner/none.git/info/refs", "/../home/info/refs", "/%2e%2e/home/info/refs"]
)
def test_what_is_not_a_repository_below_the_root_is_answered_with_an_error(remote: Remote, path: str) -> None:
    status, _ = _get(remote, f"{path}?service=git-upload-pack", BASIC)
    assert status in (403, 404, 500)


@pytest.mark.parametrize(
    "cut", [b"Content-Length: 100\r\n\r\nabc", b"Transfer-Encoding: chunked\r\n\r\n64\r\nabc"]
)
def test_a_push_cut_off_in_its_middle_changes_nothing(remote: Remote, cut: bytes) -> None:
    address = urlsplit(remote.url)
    with socket.create_connection((str(address.hostname), int(address.port or 0))) as connection:
        head = f"POST /owner/name.git/git-receive-pack HTTP/1.1\r\nHost: x\r\nAuthorization: {BASIC}\r\n"
        connection.sendall(head.encode() + cut)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(100) == b""
    assert remote.pushes == []


def _get(remote: Remote, path: str, authorization: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(urlsplit(remote.url).netloc)
    try:
        connection.request("GET", path, headers={"Authorization": authorization})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()
