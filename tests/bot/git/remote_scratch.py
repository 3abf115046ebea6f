"""A git server with one repository, a person who works in it, and what the server saw."""

import base64
import contextlib
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.demo.git_server import GitServer, RefUpdate
from bot.git.commit import CommitDetails
from bot.git.publish import Publication
from bot.github.types import PushAccess
from tests.bot.git_scratch import WHEN, Scratch, new_scratch

TOKEN = "ghs_test-token.0123456789"
BOT = "issuewright@example.org"


def details(message: str = "Add a module\n\nCloses #1\n") -> CommitDetails:
    return CommitDetails(message=message, author_name="issuewright", author_email=BOT, when=WHEN)


def access_to(url: str, token: str = TOKEN) -> PushAccess:
    encoded = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    return PushAccess(url=url, authorization=f"Basic {encoded}")


@dataclass
class RemoteScratch:
    """The repository `owner/name`."""

    bare: Scratch
    """As the server keeps it."""
    person: Scratch
    """As a person has it."""
    url: str = ""
    pushes: list[tuple[RefUpdate, ...]] = field(default_factory=list)
    """What came in through the server."""

    def access(self, token: str = TOKEN) -> PushAccess:
        return access_to(self.url, token)

    def commit(self, files: Mapping[str, bytes], branch: str = "main", message: str = "Change") -> str:
        """A person commits on a branch of the server's, past the server."""
        if self.head(branch):
            self.person.git("fetch", "--quiet", str(self.bare.path), f"refs/heads/{branch}")
            self.person.git("checkout", "--quiet", "--detach", "FETCH_HEAD")
        commit = self.person.add_commit(files, message)
        self.push(commit, branch)
        return commit

    def push(self, commit: str, branch: str, *options: str) -> None:
        self.person.git("push", "--quiet", *options, str(self.bare.path), f"{commit}:refs/heads/{branch}")

    def head(self, branch: str) -> str:
        """The commit of a branch; empty where there is none."""
        return self.bare.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")

    def content(self, commit: str, path: str) -> bytes:
        command = ["git", "-C", str(self.bare.path), "cat-file", "blob", f"{commit}:{path}"]
        return subprocess.run(command, capture_output=True, check=True).stdout

    def changes(self, before: str, after: str) -> set[str]:
        """Paths that differ in content or mode, and nothing else."""
        listing = self.bare.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", before, after)
        return {path for path in listing.split("\0") if path}

    def publication(
        self, files: Mapping[str, bytes], *, base: str = "", branch: str = "issuewright/1-x"
    ) -> Publication:
        return Publication(base=base or self.head("main"), branch=branch, files=files, details=details())


def clone_in(folder: Path) -> Path:
    """The only clone below the folder."""
    (found,) = folder.glob("*.git")
    return found


@contextlib.contextmanager
def serve_remote(folder: Path, files: Mapping[str, bytes] | None = None) -> Iterator[RemoteScratch]:
    """A server whose repository has one commit on main."""
    server = GitServer(
        folder / "remotes",
        accepts=lambda token: token == TOKEN,
        on_push=lambda _name, updates: remote.pushes.append(updates),
    )
    bare = Scratch(server.create("owner/name"))
    remote = RemoteScratch(bare, new_scratch(folder / "person", files))
    remote.push("HEAD", "main")
    with server.serve() as url:
        remote.url = f"{url}/owner/name.git"
        yield remote
