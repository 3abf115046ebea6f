"""Puts generated files on the bot's branch of a GitHub repository: one commit, one push, never by force."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.git.branch import check_branch_name
from bot.git.branch_state import BranchHistory, read_branch_state
from bot.git.clone import Clone, in_clone
from bot.git.commit import CommitDetails, build_commit
from bot.git.diff_gate import check_contents, check_paths
from bot.git.process import Git
from bot.git.publish_plan import plan_publication
from bot.git.remote import Rejection, Remote
from bot.git.snapshot import list_tree
from bot.github.errors import Rejected, Unavailable
from bot.github.types import PushAccess
from pipelines.errors import RefusalError
from pipelines.repository.rules import EVERYTHING

_HISTORY = 50
"""Commits of the branch that are looked at; what we wrote earlier counts as somebody else's."""
_TRIES = 3


class ChangedByOthers(RefusalError):
    """People changed files on the branch that we would overwrite; they are left as they are."""

    def __init__(self, message: str, *, paths: tuple[str, ...]) -> None:
        super().__init__(message)
        self.paths = paths


@dataclass(frozen=True, kw_only=True)
class Publication:
    """What is to stand on which branch."""

    base: str
    """The commit that the files were made for."""
    branch: str
    files: Mapping[str, bytes]
    details: CommitDetails
    """The same details give the same commit; commits of this author address count as ours."""
    allowed_paths: Collection[str] = EVERYTHING
    secrets: Collection[str] = field(default=(), repr=False)
    """This process's own, which no file may hold."""


@dataclass(frozen=True)
class Published:
    """What stands on the branch now."""

    branch: str
    commit: str
    """The branch's head."""
    pushed: bool
    """Whether this call changed the branch."""
    kept_commits: int
    """Commits since the base that somebody else made."""


async def publish(
    folder: Path,
    access: PushAccess,
    publication: Publication,
    *,
    ca_bundle: Path | None = None,
    seconds: float = 600,
) -> Published:
    """Let the branch hold the files, on top of whatever people have put there; again is harmless.

    Raises ChangedByOthers; NothingToCommit where the base has these very files and there is no branch;
    Rejected, Forbidden, NotFound or RefusalError for what a person must change; InfrastructureError where a
    later try may help.
    """
    check_paths(publication.files, allowed=publication.allowed_paths)
    return await in_clone(
        folder, Remote(access, ca_bundle, seconds), lambda clone: _publish(clone, publication)
    )


async def _publish(clone: Clone, publication: Publication) -> Published:
    branch = publication.branch
    await asyncio.to_thread(check_branch_name, clone.git, branch)
    for _ in range(_TRIES):
        head = await _branch_head(clone, branch)
        for commit in (publication.base, head) if head else (publication.base,):
            await clone.fetch(commit, depth=_HISTORY if head else 1)
        history = await asyncio.to_thread(_read, clone.git, publication, head)
        plan = plan_publication(history.state)
        if plan.conflicts:
            raise _changed_by_others(branch, plan.conflicts)
        if head and plan.action == "nothing":
            return Published(branch, head, False, history.foreign_commits)
        commit = await asyncio.to_thread(_build, clone.git, publication, head or publication.base)
        rejection = await clone.remote.push(clone.git, commit, branch, lock=clone.lock)
        if rejection is None:
            return Published(branch, commit, True, history.foreign_commits)
        _raise_final(branch, rejection)
    raise Unavailable(
        f"branch {branch!r} of {clone.remote.access.url} changed {_TRIES} times while it was pushed; "
        "try again later"
    )


async def _branch_head(clone: Clone, branch: str) -> str | None:
    """The commit of the remote's branch; refuses a name that another branch leaves no room for."""
    name = f"refs/heads/{branch}"
    parts = name.split("/")
    parents = ["/".join(parts[:length]) for length in range(3, len(parts))]
    refs = await clone.refs(name, f"{name}/*", *parents)
    blocking = [ref for ref in refs if ref in parents or ref.startswith(f"{name}/")]
    if blocking:
        other = blocking[0].removeprefix("refs/heads/")
        raise RefusalError(
            f"branch {branch!r} cannot exist beside branch {other!r}: delete or rename that one, "
            "or set another `branch` in .github/issuewright.yml"
        )
    return refs.get(name)


def _read(git: Git, publication: Publication, head: str | None) -> BranchHistory:
    email = publication.details.author_email
    return read_branch_state(git, base=publication.base, head=head, files=publication.files, email=email)


def _build(git: Git, publication: Publication, parent: str) -> str:
    """The commit on top of the parent, once no new secret is found in it."""
    entries = {entry.path: entry for entry in list_tree(git, parent)}
    before = {
        path: git.output("cat-file", "blob", entry.object_name).stdout
        for path in publication.files
        if (entry := entries.get(path)) and entry.kind == "blob"
    }
    check_contents(publication.files, before, secrets=publication.secrets)
    return build_commit(git, base=parent, files=publication.files, details=publication.details)


def _changed_by_others(branch: str, paths: tuple[str, ...]) -> ChangedByOthers:
    listed = ", ".join(f"`{path}`" for path in paths)
    return ChangedByOthers(
        f"branch {branch!r} is left as it is: somebody else changed {listed} there. "
        "Take those changes back, or delete the branch, and ask again",
        paths=paths,
    )


def _raise_final(branch: str, rejection: Rejection) -> None:
    """Raise Rejected unless the branch only moved under the push."""
    moved = rejection.reason.startswith("[rejected]") or "lock" in rejection.reason
    if not moved:
        said = " ".join(rejection.message.split())
        raise Rejected(
            f"the server does not take branch {branch!r}: {rejection.reason}. Change the rule it names, or "
            f"allow the App to bypass it, and start again. Git said: {said}"
        )
