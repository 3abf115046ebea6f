"""The decision what to push, without git."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.git.publish_plan import BranchState, PathState, Plan, plan_publication

_BLOB = st.sampled_from(["1", "2", "3"])
_MAYBE = st.none() | _BLOB
_PATH = st.builds(PathState, base=_MAYBE, fork=_MAYBE, ours=_MAYBE, head=_MAYBE, new=_BLOB)
_STATES = st.builds(
    BranchState, head=st.none() | st.just("h"), paths=st.dictionaries(st.text(), _PATH, min_size=1)
)


def _state(*paths: tuple[str | None, str | None, str | None, str]) -> BranchState:
    """Paths as base, ours, head, new; the branch left the base branch at the base."""
    named = {
        f"f{number}": PathState(base, base, ours, head, new)
        for number, (base, ours, head, new) in enumerate(paths)
    }
    return BranchState("h", named)


@pytest.mark.parametrize(
    ("path", "action"),
    [
        ((None, None, None, "new"), "append"),  # a branch of this name without our file
        (("old", None, "old", "new"), "append"),  # an edit of a file as it was
        ((None, "ours", "ours", "new"), "append"),  # better than our last try
        ((None, "new", "new", "new"), "nothing"),
        (("old", None, "new", "new"), "nothing"),  # somebody wrote the very same
        ((None, "new", "theirs", "new"), "nothing"),  # edited since; what we say is known
        ((None, "new", None, "new"), "nothing"),  # thrown out since
        ((None, "ours", "theirs", "new"), "step aside"),
        ((None, "ours", None, "new"), "step aside"),
        (("old", None, "theirs", "new"), "step aside"),
        ((None, None, "theirs", "new"), "step aside"),
    ],
)
def test_one_file(path: tuple[str | None, str | None, str | None, str], action: str) -> None:
    assert plan_publication(_state(path)).action == action


def test_one_file_of_another_keeps_all_from_the_branch() -> None:
    plan = plan_publication(_state((None, None, None, "new"), ("old", None, "theirs", "new")))
    assert plan == Plan("step aside", ("f1",))


def test_a_file_that_only_the_base_branch_changed_is_nobodys() -> None:
    """The branch still has the content that it started from."""
    state = BranchState("h", {"f": PathState("newer", "older", None, "older", "new")})
    assert plan_publication(state).action == "append"


def test_a_missing_branch_is_created_whatever_else_is_known() -> None:
    for blobs in product((None, "1"), (None, "1"), (None, "1")):
        state = BranchState(None, {"f": PathState(blobs[0], blobs[0], *blobs[1:], "1")})
        assert plan_publication(state) == Plan("create")


@given(_STATES)
def test_nothing_that_somebody_else_wrote_is_ever_overwritten(state: BranchState) -> None:
    plan = plan_publication(state)
    assert (plan.action == "create") == (state.head is None)
    assert bool(plan.conflicts) == (plan.action == "step aside")
    if plan.action == "append":
        for path in state.paths.values():
            assert path.head in (path.new, path.ours, path.base, path.fork)
        assert any(path.head != path.new for path in state.paths.values())
