"""What a push must do, decided from what the branch holds; no git here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple


class PathState(NamedTuple):
    """One file's content by object name, None where there is none: at five places."""

    base: str | None
    fork: str | None
    """Where the branch left the base branch; the base itself where that cannot be told."""
    ours: str | None
    """As a commit of ours on the branch last wrote it; None where none of them did."""
    head: str | None
    new: str


@dataclass(frozen=True, slots=True)
class BranchState:
    """The remote's branch as it is now."""

    head: str | None
    """None where there is no such branch."""
    paths: Mapping[str, PathState]
    """Every file that we want to write; nothing is known of them where there is no branch."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do."""

    action: Literal["create", "nothing", "append", "step aside"]
    conflicts: tuple[str, ...] = ()
    """Files that somebody else changed and that we would overwrite."""


def plan_publication(state: BranchState) -> Plan:
    """Never undoes other people's work: neither their changes to our files, nor their taking them out.

    What we have pushed before is not pushed again, whatever became of it since.
    """
    if state.head is None:
        return Plan("create")
    paths = state.paths.values()
    if all(path.head == path.new for path in paths) or all(path.ours == path.new for path in paths):
        return Plan("nothing")
    conflicts = tuple(sorted(name for name, path in state.paths.items() if _is_changed_by_others(path)))
    return Plan("step aside", conflicts) if conflicts else Plan("append")


def _is_changed_by_others(path: PathState) -> bool:
    expected = (path.base, path.fork) if path.ours is None else (path.ours,)
    return path.head not in (path.new, *expected)
