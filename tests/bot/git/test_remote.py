"""How git is run against a server: what it may reach, what it must never show, how it ends."""

import asyncio
import datetime as dt
import ipaddress
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bot.demo.git_server import GitServer
from bot.git.clone import ensure_clone
from bot.git.remote import Remote, check_url
from bot.git.remote_errors import remote_error
from bot.github.errors import Forbidden, GitHubError, NotFound, Unavailable
from pipelines.errors import InfrastructureError, RefusalError
from tests.bot.git.remote_scratch import TOKEN, RemoteScratch, access_to
from tests.bot.git_scratch import use_own_configuration


@contextmanager
def http_server(
    status: int, headers: dict[str, str], seen: list[str], context: ssl.SSLContext | None = None
) -> Iterator[str]:
    """A server that answers everything alike, and notes what it was asked with which credentials."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(f"{self.path} {self.headers.get('Authorization')}")
            self.send_response(status)
            for name, value in {**headers, "Content-Length": "0"}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A client that does not trust us hangs up."""

    server = Server(("127.0.0.1", 0), Handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http{'s' if context else ''}://127.0.0.1:{server.server_port}/owner/name.git"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_own_configuration(tmp_path / "home", monkeypatch)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/owner/name.git",
        "https://ghe.example:8443/owner/name.git",
        "http://127.0.0.1:8080/owner/name.git",
        "http://localhost/owner/name.git",
    ],
)
def test_https_and_this_machine_are_fine(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://github.com/owner/name.git",
        "http://127.0.0.1.example/owner/name.git",
        "ssh://git@github.com/owner/name.git",
        "git@github.com:owner/name.git",
        "file:///etc",
        "/etc",
        "ext::sh -c id",
        "https://x-access-token:secret@github.com/owner/name.git",
        "https://github.com/owner/name.git?token=secret",
        "https://github.com/owner/name.git#secret",
        "https://github.com",
        "https:///owner/name.git",
        "https://github.com/owner/na me.git",
        "https://github.com/owner/name.git\n[x]",
        "--upload-pack=secret",
        "",
    ],
)
def test_other_urls_are_refused_without_showing_secrets(url: str) -> None:
    with pytest.raises(RefusalError, match="git's URL") as refused:
        Remote(access_to(url))
    assert "secret" not in str(refused.value)


async def test_the_token_is_on_no_command_line_and_in_no_file(remote: RemoteScratch, tmp_path: Path) -> None:
    """Looked at while git waits for the server to look at the token."""
    seen: list[bytes] = []

    def accepts(token: str) -> bool:
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                seen.append(process.read_bytes())
            except OSError:
                continue  # it has ended
        return token == TOKEN

    server = GitServer(tmp_path / "remotes", accepts=accepts)
    with server.serve() as url:
        found = await ensure_clone(tmp_path / "clones", access_to(f"{url}/owner/name.git"), branch="main")
    ours = [command for command in seen if url.encode() in command]
    assert any(b"remote-http" in command for command in ours)
    secret = access_to(url).authorization.removeprefix("Basic ").encode()
    assert not [command for command in seen if TOKEN.encode() in command or secret in command]
    for path in (tmp_path / "clones").rglob("*"):
        if path.is_file():
            assert TOKEN.encode() not in path.read_bytes()
            assert secret not in path.read_bytes()
    assert found.commit == remote.head("main")


@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [
        (401, Forbidden, "renew the token"),
        (403, Forbidden, "contents: write"),
        (404, NotFound, "may not see it"),
        (429, Unavailable, "try again later"),
        (500, Unavailable, "try again later"),
        (502, Unavailable, "try again later"),
        (503, Unavailable, "try again later"),
    ],
)
@pytest.mark.usefixtures("own_configuration")
async def test_a_servers_refusal_says_who_must_do_what(
    tmp_path: Path, status: int, kind: type[GitHubError], advice: str
) -> None:
    seen: list[str] = []
    headers = {"WWW-Authenticate": 'Basic realm="x"'}
    with http_server(status, headers, seen) as url, pytest.raises(kind, match=advice) as refused:
        await ensure_clone(tmp_path / "clones", access_to(url), branch="main")
    assert url in str(refused.value)
    assert TOKEN not in str(refused.value)
    assert seen


@pytest.mark.usefixtures("own_configuration")
async def test_a_server_that_is_not_there_is_tried_later(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="try again later"):
        await ensure_clone(tmp_path / "clones", access_to("http://127.0.0.1:1/owner/name.git"), branch="main")


@pytest.mark.usefixtures("own_configuration")
async def test_a_redirect_never_carries_the_token_elsewhere(tmp_path: Path) -> None:
    here: list[str] = []
    there: list[str] = []
    with http_server(200, {}, there) as target:
        location = f"{target.replace('127.0.0.1', 'localhost')}/info/refs?service=git-upload-pack"
        with (
            http_server(302, {"Location": location}, here) as url,
            pytest.raises(NotFound, match="answers with a redirect"),
        ):
            await ensure_clone(tmp_path / "clones", access_to(url), branch="main")
    assert len(here) == 1
    assert there == []


async def test_the_users_own_git_configuration_adds_no_credentials(
    remote: RemoteScratch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "ask"
    program.write_text(f"#!/bin/sh\ntouch {ran}\necho password={TOKEN}\n")
    program.chmod(0o755)
    base = remote.url.removesuffix("/owner/name.git")
    (tmp_path / "home/.gitconfig").write_text(
        f"[credential]\n\thelper = {program}\n[core]\n\taskPass = {program}\n"
        f'[http "{base}"]\n\textraHeader = Authorization: Basic nonsense\n'
    )
    for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
        monkeypatch.setenv(name, str(program))
    monkeypatch.setenv("GIT_TRACE_CURL", str(tmp_path / "trace"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "http.userAgent")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "kept")
    await ensure_clone(tmp_path / "clones", remote.access(), branch="main")
    with pytest.raises(Forbidden):
        await ensure_clone(tmp_path / "other", remote.access("bad"), branch="main")
    assert not ran.exists()
    assert not (tmp_path / "trace").exists()


class Blocked:
    """A server that takes its time, and the git commands that wait for it."""

    def __init__(self, root: Path) -> None:
        self.asked = threading.Event()
        self.release = threading.Event()
        self.server = GitServer(root, accepts=self._accepts)

    def _accepts(self, _token: str) -> bool:
        self.asked.set()
        return self.release.wait(120) and False

    @staticmethod
    def commands(url: str) -> list[bytes]:
        found = []
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = process.read_bytes()
            except OSError:
                continue
            if url.encode() in command:
                found.append(command)
        return found


@pytest.fixture
def blocked(tmp_path: Path, own_configuration: None) -> Iterator[Blocked]:
    (tmp_path / "remotes").mkdir()
    blocked = Blocked(tmp_path / "remotes")
    yield blocked
    blocked.release.set()


async def test_cancelling_ends_git_and_all_that_it_started(blocked: Blocked, tmp_path: Path) -> None:
    with blocked.server.serve() as url:
        access = access_to(f"{url}/owner/name.git")
        task = asyncio.create_task(ensure_clone(tmp_path / "clones", access, branch="main"))
        assert await asyncio.to_thread(blocked.asked.wait, 20)
        assert len(blocked.commands(access.url)) >= 2
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(_until, lambda: not blocked.commands(access.url))
        blocked.release.set()
        with pytest.raises(Forbidden):  # the lock is free again
            await ensure_clone(tmp_path / "clones", access, branch="main")


async def test_an_exchange_without_end_is_ended(blocked: Blocked, tmp_path: Path) -> None:
    with blocked.server.serve() as url:
        access = access_to(f"{url}/owner/name.git")
        with pytest.raises(Unavailable, match=r"git ls-remote with http.* did not end within 0\.2 s"):
            await ensure_clone(tmp_path / "clones", access, branch="main", seconds=0.2)
        await asyncio.to_thread(_until, lambda: not blocked.commands(access.url))
        blocked.release.set()


def _until(holds: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(200):
        if holds():
            return
        pause.wait(0.05)
    raise AssertionError("it never came to hold")


def _certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """A certificate for 127.0.0.1 that is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "issuewright test")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = folder / "authority.pem"
    pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = folder / "key.pem"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, private)
    return pem, context


@pytest.mark.usefixtures("own_configuration")
async def test_a_servers_own_authority_is_trusted_where_it_is_named(tmp_path: Path) -> None:
    authority, context = _certificate(tmp_path)
    (tmp_path / "home/.gitconfig").write_text("[http]\n\tsslVerify = false\n")
    seen: list[str] = []
    with http_server(404, {}, seen, context) as url:
        with pytest.raises(RefusalError, match=r"name its authority's file as `github\.ca_bundle`"):
            await ensure_clone(tmp_path / "clones", access_to(url), branch="main")
        assert seen == []
        with pytest.raises(NotFound):
            await ensure_clone(tmp_path / "clones", access_to(url), branch="main", ca_bundle=authority)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("remote: Write access to repository not granted.\nfatal: unable to access", Forbidden),
        (
            "remote: Permission to o/n.git denied to bot.\nThe requested URL returned error: 403",
            Forbidden,
        ),
        ("remote: Invalid username or password.\nfatal: Authentication failed for 'https://x/'", Forbidden),
        ("remote: Repository not found.\nfatal: repository 'https://x/' not found", NotFound),
        ("fatal: remote error: upload-pack: not our ref 1111", NotFound),
        ("unable to access 'https://x/': Could not resolve host: x", Unavailable),
        ("unable to access 'https://x/': Failed to connect to x port 443 after 1 ms", Unavailable),
        ("error: RPC failed; curl 92 HTTP/2 stream 0 was not closed cleanly", Unavailable),
        ("send-pack: unexpected disconnect while reading sideband packet", Unavailable),
        ("the remote end hung up unexpectedly", Unavailable),
        ("fatal: early EOF", Unavailable),
        ("server certificate verification failed. CAfile: none CRLfile: none", RefusalError),
        ("SSL certificate problem: self-signed certificate", RefusalError),
        ("unable to access 'https://x/': The requested URL returned error: 301", NotFound),
    ],
)
def test_what_git_says_is_understood(said: str, kind: type[Exception]) -> None:
    error = remote_error("fetch from", "https://x/o/n.git", said)
    assert type(error) is kind
    assert str(error).startswith("git cannot fetch from https://x/o/n.git: ")
    assert said.split()[-1] in str(error)


@pytest.mark.parametrize("said", ["error: object file is empty", "fatal: bad object HEAD", ""])
def test_what_the_network_does_not_explain_is_the_clones_fault(said: str) -> None:
    assert type(remote_error("fetch from", "https://x/o/n.git", said)) is InfrastructureError


def test_secrets_are_taken_out_of_what_git_says() -> None:
    access = access_to("https://github.com/owner/name.git")
    encoded = access.authorization.removeprefix("Basic ")
    said = f"header {access.authorization}; {encoded}; {TOKEN}; the rest"
    assert Remote(access).redacted(said) == "header ***; ***; ***; the rest"
    assert TOKEN not in repr(Remote(access))
    assert encoded not in repr(Remote(access))
