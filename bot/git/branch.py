"""Branches as references: naming, reading, creating and deleting them, never checking one out."""

import re
import unicodedata
from collections.abc import Mapping
from itertools import count

from bot.git.process import Git
from pipelines.errors import InfrastructureError, RefusalError

_MAX_SLUG = 50


def branch_slug(title: str, *, fallback: str) -> str:
    """ASCII letters, digits and single hyphens, at most 50; the fallback for a title that has none."""
    ascii_text = unicodedata.normalize("NFKD", title.casefold()).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")
    if len(slug) > _MAX_SLUG:
        cut = slug[: _MAX_SLUG + 1]
        slug = cut[: cut.rfind("-")] if "-" in cut else slug[:_MAX_SLUG]
    return slug or fallback


def free_branch(git: Git, wanted: str) -> str:
    """The wanted name, or it with -2, -3, ... where a branch of that name or inside it exists.

    A branch `a` leaves no room for `a/b`: then `a-b` is tried. Letter case does not tell names apart.
    """
    check_branch_name(git, wanted)
    taken = _branches(git)
    if any(parent in taken for parent in _parents(wanted.casefold())):
        wanted = wanted.replace("/", "-")
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in count(1))
    return next(name for name in names if not _clashes(name.casefold(), taken))


def read_branch(git: Git, branch: str) -> str | None:
    """The commit that a branch stands at, or None where there is no such branch."""
    result = git.run(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"refs/heads/{branch}^{{commit}}"
    )
    return result.line if result.exit_code == 0 else None


def update_branch(git: Git, branch: str, commit: str, *, base: str, env: Mapping[str, str]) -> None:
    """Create the branch at the commit, or move it there from `base`; any other state is refused."""
    check_branch_name(git, branch)
    _refuse_checked_out(git, branch)
    current = read_branch(git, branch)
    if current not in (None, base):
        raise _moved(branch, current)
    taken = _branches(git)
    if current is None and _clashes(branch.casefold(), taken):
        raise RefusalError(
            f"branch {branch!r} cannot be created: another branch has this name in other letters, "
            "or as the beginning of its own; choose another name"
        )
    expected = current or "0" * len(commit)
    reference = f"refs/heads/{branch}"
    result = git.run(
        "update-ref", "--no-deref", "-m", "issuewright: commit", reference, commit, expected, env=env
    )
    if result.exit_code != 0:
        raise _update_failure(git, branch, current, result.message)


def delete_branch(git: Git, branch: str, expected: str) -> None:
    """Delete the branch if it still stands at the expected commit; a missing one is fine."""
    check_branch_name(git, branch)
    _refuse_checked_out(git, branch)
    current = read_branch(git, branch)
    if current is None:
        return
    if current != expected:
        raise _moved(branch, current)
    result = git.run("update-ref", "--no-deref", "-d", f"refs/heads/{branch}", expected)
    if result.exit_code != 0:
        raise _update_failure(git, branch, expected, result.message)


def check_branch_name(git: Git, branch: str) -> None:
    """Raise RefusalError unless git takes this as a branch name."""
    is_text = branch.isprintable() and not branch.startswith("-") and branch != "HEAD"
    if not is_text or git.run("check-ref-format", f"refs/heads/{branch}").exit_code != 0:
        raise RefusalError(f"{branch!r} is not a branch name that git accepts; choose another")


def _update_failure(git: Git, branch: str, expected: str | None, message: str) -> Exception:
    current = read_branch(git, branch)
    if current != expected:
        return _moved(branch, current)
    return InfrastructureError(
        f"git update-ref failed for branch {branch!r} in {git.directory}: {message}. "
        "Check that the repository is writable and no other git holds a lock; then run again"
    )


def _moved(branch: str, current: str | None) -> RefusalError:
    state = f"it now stands at {current[:12]}" if current else "it is gone"
    return RefusalError(
        f"branch {branch!r} was changed by someone else ({state}) and is left as it is; choose another branch"
    )


def _refuse_checked_out(git: Git, branch: str) -> None:
    listing = git.output("worktree", "list", "--porcelain").stdout.splitlines()
    if f"branch refs/heads/{branch}".encode() in listing:
        raise RefusalError(
            f"branch {branch!r} is checked out in a work tree of {git.directory} and would change under it; "
            "check out another branch there, or choose another name"
        )


def _branches(git: Git) -> frozenset[str]:
    """Every branch's name without letter case."""
    listing = git.output("for-each-ref", "--format=%(refname)", "refs/heads/").stdout
    names = listing.decode(errors="surrogateescape").splitlines()
    return frozenset(name.removeprefix("refs/heads/").casefold() for name in names)


def _clashes(name: str, taken: frozenset[str]) -> bool:
    inside = any(other.startswith(f"{name}/") for other in taken)
    return name in taken or inside or any(parent in taken for parent in _parents(name))


def _parents(name: str) -> tuple[str, ...]:
    return tuple(name[: match.start()] for match in re.finditer("/", name))
