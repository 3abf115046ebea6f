"""Our own copy of a GitHub repository: bare, shallow, kept for later Jobs and made anew when damaged."""

import asyncio
import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from bot.git.process import Git, check_version
from bot.git.remote import Remote
from bot.git.repository import GitRepository
from bot.git.snapshot import list_tree
from bot.github.errors import NotFound, Unavailable
from bot.github.types import PushAccess
from pipelines.errors import InfrastructureError, RefusalError

_LOCK_SECONDS = 900
_LOCK_POLL_SECONDS = 0.05
_REFS = "refs/issuewright/"
_KEPT_COMMITS = 200

ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Clone:
    """A repository's copy that nobody else works on for now."""

    git: Git
    remote: Remote
    lock: int
    """Open file whose lock says so."""

    async def refs(self, *patterns: str) -> dict[str, str]:
        """References that the server has now."""
        return await self.remote.refs(self.git, *patterns, lock=self.lock)

    async def fetch(self, commit: str, *, depth: int = 1) -> None:
        """Have the commit here with all its files, and at least so much of its history."""
        ref = f"{_REFS}{depth}/{commit}"
        known = await asyncio.to_thread(self.git.run, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if known.exit_code != 0:
            await self.remote.fetch(self.git, commit, ref, depth=depth, lock=self.lock)
        await asyncio.to_thread(_check_complete, self.git, commit)

    async def head(self, branch: str) -> str:
        """The commit that the server's branch stands at; raises RefusalError where there is none."""
        name = f"refs/heads/{branch}"
        commit = (await self.refs(name)).get(name)
        if commit:
            return commit
        url = self.remote.access.url
        if not await self.refs("refs/heads/*"):
            raise RefusalError(
                f"{url} has no commits yet: make a first commit there (a README is enough) and start again"
            )
        raise NotFound(f"{url} has no branch {branch!r}: create it, or name another base branch")


@dataclass(frozen=True)
class Checkout:
    """A commit of a GitHub repository that is here with all its files."""

    repository: GitRepository
    commit: str


async def ensure_clone(
    folder: Path,
    access: PushAccess,
    *,
    branch: str,
    commit: str | None = None,
    ca_bundle: Path | None = None,
    seconds: float = 600,
) -> Checkout:
    """Have the branch's commit, or this very commit, in the repository's clone below the folder.

    Raises Forbidden, NotFound and RefusalError for what a person must change, among them a repository
    without commits; InfrastructureError where a later try may help.
    """

    async def fetch(clone: Clone) -> Checkout:
        wanted = commit or await clone.head(branch)
        await clone.fetch(wanted)
        return Checkout(GitRepository(clone.git), wanted)

    return await in_clone(folder, Remote(access, ca_bundle, seconds), fetch)


async def in_clone(folder: Path, remote: Remote, work: Callable[[Clone], Awaitable[ResultT]]) -> ResultT:
    """Do the work in the remote's clone, alone; should the clone prove damaged, once more in a new one."""
    place = _place(folder, remote.access.url)
    async with _locked(place) as lock:
        clone = Clone(Git(place), remote, lock)
        await asyncio.to_thread(_prepare, place)
        try:
            await asyncio.to_thread(_forget_oldest, clone.git)
            return await work(clone)
        except Unavailable:
            raise
        except InfrastructureError:
            await asyncio.to_thread(_remove, place)
            await asyncio.to_thread(_prepare, place)
            return await work(clone)


def clone_name(url: str) -> str:
    """One folder name for every spelling of a URL: GitHub does not tell letter case apart."""
    plain = url.lower().removesuffix("/").removesuffix(".git")
    readable = re.sub(r"[^a-z0-9.]+", "-", plain.partition("://")[2])[-100:].strip("-.")
    return f"{readable}-{hashlib.sha256(plain.encode()).hexdigest()[:12]}.git"


def _place(folder: Path, url: str) -> Path:
    return folder.absolute() / clone_name(url)


def _check_complete(git: Git, commit: str) -> None:
    missing = [e.path for e in list_tree(git, commit, sizes=True) if e.kind == "blob" and e.size is None]
    if missing:
        raise InfrastructureError(
            f"{git.directory} lacks {missing[0]!r} of {commit[:12]}: delete that folder and run again"
        )


def _forget_oldest(git: Git) -> None:
    """Let git's own housekeeping delete what no Job has asked for in a long time."""
    names = git.output("for-each-ref", "--sort=-creatordate", "--format=%(refname)", _REFS).stdout
    surplus = names.splitlines()[_KEPT_COMMITS:]
    if surplus:
        git.output("update-ref", "--stdin", stdin=b"".join(b"delete %b\n" % name for name in surplus))


def _prepare(place: Path) -> None:
    """An empty bare repository where there is none that git can open; no leftovers of killed commands."""
    if _is_usable(place):
        for leftover in (*place.rglob("*.lock"), *place.glob("objects/pack/tmp_*")):
            leftover.unlink(missing_ok=True)
        return
    _remove(place)
    new = place.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    git = Git(new)
    check_version(git.output("version").line)
    git.output("init", "--quiet", "--bare", "--template=", "--initial-branch=none")
    new.rename(place)


def _is_usable(place: Path) -> bool:
    if not place.is_dir():
        return False
    opened = Git(place).run("rev-parse", "--is-bare-repository", "--absolute-git-dir")
    return opened.exit_code == 0 and opened.line == f"true\n{place.resolve()}"


def _remove(place: Path) -> None:
    """Take the clone away in one step; what it held is deleted after."""
    aside = place.with_suffix(".damaged")
    shutil.rmtree(aside, ignore_errors=True)
    if place.exists():
        place.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)


@asynccontextmanager
async def _locked(place: Path) -> AsyncIterator[int]:
    """Hold the clone's lock; gives the open file. Git commands that outlive a killed process keep it."""
    lock = await asyncio.to_thread(_open_lock, place.with_suffix(".lock"))
    try:
        await _wait_for(lock, place)
        yield lock
    finally:
        os.close(lock)


def _open_lock(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InfrastructureError(
            f"{path} cannot be opened ({error.strerror}): make its folder writable and run again"
        ) from error


async def _wait_for(lock: int, place: Path) -> None:
    for _ in range(int(_LOCK_SECONDS / _LOCK_POLL_SECONDS)):
        if _take(lock):
            return
        await asyncio.sleep(_LOCK_POLL_SECONDS)
    raise InfrastructureError(
        f"another process has worked in {place} for more than {_LOCK_SECONDS} s; "
        "look for a git command that hangs, end it, and run again"
    )


def _take(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
