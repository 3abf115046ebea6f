"""A whole GitHub on this machine: the emulated API, a git server, and the bridge between them."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.demo.bridge import Bridge
from bot.demo.emulator import Emulator, World, run_emulator
from bot.demo.git_server import GitServer
from bot.git.process import Git


@dataclass(frozen=True)
class LocalGitHub:
    """A GitHub that is running."""

    emulator: Emulator
    git_url: str
    """What `/owner/name.git` is appended to."""
    remote: Path
    """The repository as the git server keeps it."""

    def push(self, work_tree: Path, refspec: str = "main", *, token: str | None = None) -> None:
        """Push as the owner, or as whoever has the token. Raises InfrastructureError with git's message."""
        world = self.emulator.world
        login = f"x-access-token:{token or self.emulator.tokens[world.owner]}"
        env = {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{self.git_url}/.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {base64.b64encode(login.encode()).decode()}",
        }
        Git(work_tree).output("push", "--quiet", f"{self.git_url}/{world.full_name}.git", refspec, env=env)


@contextmanager
def run_local_github(world: World, folder: Path, *, cache: Path | None = None) -> Iterator[LocalGitHub]:
    """Run a GitHub whose repository is empty, for as long as the block lasts; git's data lies in the folder.

    Raises what `run_emulator` does.
    """
    with run_emulator(world, cache=cache) as emulator:
        bridge = Bridge(folder, emulator.url, emulator.as_person(world.owner))
        server = GitServer(
            folder, accepts=lambda token: bridge.accepts(world.full_name, token), on_push=bridge.on_push
        )
        remote = server.create(world.full_name)
        with server.serve() as git_url:
            yield LocalGitHub(emulator, git_url, remote)
