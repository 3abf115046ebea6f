"""An emulated GitHub on a loopback port, with people, a repository and our App in it."""

import json
import secrets
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bot.demo.emulator_package import ensure_emulator, node, node_files
from bot.demo.rest import Rest
from bot.github.permissions import EVENTS, PERMISSIONS
from pipelines.errors import InfrastructureError

_START_SECONDS = 60
_STOP_SECONDS = 5
_SHOWN_LINES = 15

APP_ID = 4711
INSTALLATION = 4712
APP_SLUG = "issuewright"


@dataclass(frozen=True)
class World:
    """What there is on this GitHub."""

    owner: str = "ada"
    repository: str = "teatime"
    collaborators: Mapping[str, str] = field(default_factory=dict)
    """Login to GitHub's word for a role: pull, triage, push, maintain or admin."""
    outsiders: tuple[str, ...] = ()
    webhook_url: str | None = None
    """Where the App's webhooks go; they go nowhere without."""
    webhook_secret: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.repository}"

    @property
    def logins(self) -> tuple[str, ...]:
        """Everyone, the owner first."""
        return self.owner, *self.collaborators, *self.outsiders


@dataclass(frozen=True)
class Emulator:
    """An emulated GitHub that is running."""

    url: str
    """Root of its REST API."""
    pid: int
    world: World
    private_key: str = field(repr=False)
    """The App's, PEM."""
    tokens: Mapping[str, str] = field(repr=False)
    """A personal token for each login."""

    def as_person(self, login: str) -> Rest:
        """GitHub's REST API as one of the people."""
        return Rest(self.url, self.tokens[login])


@contextmanager
def run_emulator(world: World, *, cache: Path | None = None) -> Iterator[Emulator]:
    """Run an emulated GitHub for as long as the block lasts; it ends with this process, however that ends.

    Raises RefusalError without Node, InfrastructureError when it cannot be fetched or does not start.
    """
    entry = ensure_emulator(cache)
    tokens = {login: f"ghp_{secrets.token_hex(18)}" for login in world.logins}
    with tempfile.TemporaryFile() as log, _started(entry, log) as process:
        answer = _exchange(process, log, _seed(world, tokens))
        emulator = Emulator(answer["url"], process.pid, world, answer["private_key"], tokens)
        owner = emulator.as_person(world.owner)
        for login, permission in world.collaborators.items():
            path = f"/repos/{world.full_name}/collaborators/{login}"
            owner.send("PUT", path, {"permission": permission})
        yield emulator


@contextmanager
def _started(entry: Path, log: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    command = [str(node()), str(node_files() / "start.mjs"), str(entry)]
    # A group of its own: Ctrl-C ends us first, and we end it. No buffer: a dead one must not fail our close.
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, bufsize=0, process_group=0
    )
    with process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _exchange(process: subprocess.Popen[bytes], log: IO[bytes], seed: Mapping[str, object]) -> dict[str, str]:
    """Give the program its seed and wait for its address."""
    if process.stdin is None or process.stdout is None:
        raise AssertionError("the emulator was started with pipes")
    too_late = threading.Timer(_START_SECONDS, process.kill)
    too_late.start()
    try:
        process.stdin.write(json.dumps(seed).encode() + b"\n")
        line = process.stdout.readline()
    except BrokenPipeError:
        line = b""
    finally:
        too_late.cancel()
    if not line:
        code = process.wait()
        log.seek(0)
        words = "\n".join(log.read().decode(errors="replace").strip().splitlines()[-_SHOWN_LINES:])
        raise InfrastructureError(
            f"the GitHub emulator did not start in {_START_SECONDS} s (exit code {code}). It said:\n{words}"
        )
    answer: dict[str, str] = json.loads(line)
    return answer


def _seed(world: World, tokens: Mapping[str, str]) -> dict[str, object]:
    scopes = ["repo", "user", "admin:repo_hook"]
    # Whoever comes with an unknown token counts as the first user: that has to be nobody.
    users = ["ghost", *world.logins]
    installation = {
        "installation_id": INSTALLATION,
        "account": world.owner,
        "repository_selection": "selected",
        "repositories": [world.repository],
    }
    app = {
        "app_id": APP_ID,
        "slug": APP_SLUG,
        "name": APP_SLUG,
        "permissions": dict(PERMISSIONS),
        "events": list(EVENTS),
        "webhook_url": world.webhook_url,
        "webhook_secret": world.webhook_secret,
        "installations": [installation],
    }
    github = {
        "users": [{"login": login} for login in users],
        "repos": [{"owner": world.owner, "name": world.repository, "auto_init": False}],
        "apps": [app],
    }
    return {
        "tokens": {token: {"login": login, "scopes": scopes} for login, token in tokens.items()},
        "github": github,
    }
