"""A Job from order to pull request, on a GitHub in memory with real git, sandbox and pipelines."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.github.errors import Forbidden, Rejected, Unavailable
from bot.github.types import BranchRule
from bot.jobs.solving_step import Solved
from bot.jobs.types import JobOutcome, JobRequest
from bot.jobs.work import do_job
from bot.order import replay
from sandbox import SandboxBackend
from tests.bot.conftest import git
from tests.bot.jobs.scene import REPO, KnownSteps, Scene, scene
from tests.pipelines.scenes import WRONG

pytestmark = pytest.mark.sandbox
BRANCH = "issuewright/1-double-a-number"


@pytest.fixture
def stage(tmp_path: Path, backend: SandboxBackend) -> Iterator[Scene]:
    with scene(tmp_path, backend) as made:
        yield made


@pytest.fixture(scope="module")
def solutions() -> dict[str, Solved]:
    """What a Run came to, for tests of what comes after it; each needs the sandbox only once."""
    return {}


async def run_known(
    stage: Scene, solutions: dict[str, Solved], **facts: object
) -> tuple[JobOutcome, KnownSteps]:
    """Do a Job whose Run is the same in all these tests, moved onto this scene's base."""
    request = await stage.request(**facts)
    steps = KnownSteps({"run": on_base(stage, solutions["green"])} if "green" in solutions else {})
    outcome = await do_job(steps, request, stage.desk)
    if "run" in steps.results and "green" not in solutions:
        known = steps.results["run"]
        assert isinstance(known, Solved)
        solutions["green"] = known
    return outcome, steps


def on_base(stage: Scene, known: Solved) -> Solved:
    manifest = known.manifest.model_copy(update={"base": git(stage.remote, "rev-parse", "main")})
    return known.model_copy(update={"manifest": manifest})


def end(stage: Scene, request: JobRequest, outcome: JobOutcome) -> None:
    stage.jobs.finish(request.id, outcome)


async def test_an_order_becomes_a_draft_pull_request(stage: Scene) -> None:
    outcome = await do_job(KnownSteps(), await stage.request(), stage.desk)
    assert outcome.status == "green", outcome
    pull = await stage.github.pull_request(REPO, outcome.pull_request or 0)
    assert (pull.draft, pull.title, pull.base_ref, pull.head_ref) == (True, "Double a number", "main", BRANCH)
    assert "Closes #1" in pull.body
    assert git(stage.remote, "rev-parse", BRANCH) == outcome.commit
    changed = git(stage.remote, "diff", "--name-status", "main", BRANCH)
    assert changed.split() == ["A", "src/pkg/numbers_.py", "A", "tests/test_double.py"]
    assert pull.html_url in stage.status()
    assert outcome.run_id is not None
    recorded, repeated = await replay(stage.desk.runs, outcome.run_id)
    assert recorded == repeated


async def test_what_is_not_proven_is_published_as_such(tmp_path: Path, backend: SandboxBackend) -> None:
    with scene(tmp_path, backend, greedy=WRONG, sample=WRONG, repair=WRONG) as stage:
        outcome = await do_job(KnownSteps(), await stage.request(), stage.desk)
        assert outcome.status == "draft"
        assert outcome.pull_request_url is not None
        assert "not proven" in stage.status()


async def test_a_question_makes_no_branch_and_is_asked_in_the_status_comment(stage: Scene) -> None:
    request = await stage.request(title="Improve", body="Make it nicer.")
    outcome = await do_job(KnownSteps(), request, stage.desk)
    assert outcome.status == "question"
    assert "issuewright:question" in stage.status()
    assert git(stage.remote, "branch", "--list", "issuewright/*") == ""
    assert stage.model.requests == []


async def test_an_answer_is_part_of_what_is_read(stage: Scene, solutions: dict[str, Solved]) -> None:
    answer = {"author": "maria", "body": "Add `double(x)`.\n\n```python\n>>> double(2)\n4\n```"}
    request = await stage.request(title="Improve", body="Make it nicer.", answers=(answer,))
    assert (await do_job(KnownSteps(), request, stage.desk)).status == "green"


async def test_an_order_to_explain_is_answered_in_a_comment(tmp_path: Path, backend: SandboxBackend) -> None:
    with scene(tmp_path, backend, greedy="It doubles a number.") as stage:
        request = await stage.request(kind="explain")
        outcome = await do_job(KnownSteps(), request, stage.desk)
        assert outcome.status == "explained"
        again = await do_job(KnownSteps(), request, stage.desk)
        assert again.spent == outcome.spent
        said = [comment.body for comment in stage.repository.talk[1] if "It doubles" in comment.body]
        assert len(said) == 1
        assert stage.github.written("create_pull_request") == []


async def test_doing_it_all_again_changes_nothing(stage: Scene, solutions: dict[str, Solved]) -> None:
    outcome, steps = await run_known(stage, solutions)
    asked = len(stage.model.requests)
    for name in ("tell", "pull request", "push", "check"):
        del steps.results[name]
        request = (await stage.jobs.latest("octo/repo#1")).request  # type: ignore[union-attr]
        assert await do_job(steps, request, stage.desk) == outcome
    assert len(stage.github.written("create_pull_request")) == 1
    assert stage.github.written("edit_pull_request") == []
    assert git(stage.remote, "rev-list", "--count", f"main..{BRANCH}") == "1"
    assert len(stage.model.requests) == asked


async def test_a_pull_request_whose_answer_was_lost_is_found_again(
    stage: Scene, solutions: dict[str, Solved]
) -> None:
    stage.github.fail("create_pull_request", Unavailable("502"), done=True)
    outcome, steps = await run_known(stage, solutions)
    assert outcome.status == "failed"
    request = (await stage.jobs.latest("octo/repo#1")).request  # type: ignore[union-attr]
    del steps.results["tell"]
    assert (await do_job(steps, request, stage.desk)).status == "green"
    assert len(stage.github.written("create_pull_request")) == 1


async def test_a_repository_without_drafts_gets_a_plain_pull_request(
    stage: Scene, solutions: dict[str, Solved]
) -> None:
    stage.github.fail("create_pull_request", Rejected("Draft pull requests are not supported here"))
    outcome, _ = await run_known(stage, solutions)
    assert outcome.status == "green"
    assert not (await stage.github.pull_request(REPO, outcome.pull_request or 0)).draft


async def test_a_retry_uses_the_open_pull_request_and_keeps_peoples_commits(
    stage: Scene, solutions: dict[str, Solved], tmp_path: Path
) -> None:
    first, _ = await run_known(stage, solutions)
    end(stage, (await stage.jobs.latest("octo/repo#1")).request, first)  # type: ignore[union-attr]
    work = tmp_path / "work"
    git(work, "fetch", "-q", str(stage.remote), BRANCH)
    git(work, "checkout", "-q", "FETCH_HEAD")
    (work / "NOTES.md").write_text("by a person\n")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "Notes")
    git(work, "push", "-q", str(stage.remote), f"HEAD:{BRANCH}")
    second, _ = await run_known(stage, solutions, explicit=True)
    assert second.pull_request == first.pull_request
    assert git(stage.remote, "show", f"{BRANCH}:NOTES.md") == "by a person"
    assert any("kept" in reason for reason in second.reasons)


async def test_a_closed_pull_request_means_no_until_somebody_asks_again(
    stage: Scene, solutions: dict[str, Solved]
) -> None:
    first, _ = await run_known(stage, solutions)
    end(stage, (await stage.jobs.latest("octo/repo#1")).request, first)  # type: ignore[union-attr]
    stage.repository.change_pull(first.pull_request or 0, state="closed")
    declined, steps = await run_known(stage, solutions)
    assert (declined.status, "push" in steps.results) == ("declined", False)
    end(stage, (await stage.jobs.latest("octo/repo#1")).request, declined)  # type: ignore[union-attr]
    retried, _ = await run_known(stage, solutions, explicit=True)
    assert (retried.status, retried.pull_request) == ("green", first.pull_request)
    assert (await stage.github.pull_request(REPO, first.pull_request or 0)).state == "open"


async def test_an_issue_that_is_closed_meanwhile_is_left_alone(
    stage: Scene, solutions: dict[str, Solved]
) -> None:
    _, steps = await run_known(stage, solutions)
    stage.repository.change_issue(1, state="closed")
    steps.results = {name: steps.results[name] for name in ("check", "run")}
    request = (await stage.jobs.latest("octo/repo#1")).request  # type: ignore[union-attr]
    outcome = await do_job(steps, request, stage.desk)
    assert outcome.status == "refused"
    assert "closed" in outcome.reasons[0]


async def test_a_faulty_configuration_is_refused_with_its_line(stage: Scene, tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / ".github").mkdir()
    (work / ".github/issuewright.yml").write_text("label: issuewright\nlimit:\n  tokens: 5\n")
    git(work, "add", ".")
    git(work, "commit", "-q", "-m", "Configure")
    git(work, "push", "-q", str(stage.remote), "main")
    outcome = await do_job(KnownSteps(), await stage.request(), stage.desk)
    assert outcome.status == "refused"
    assert "line 2" in outcome.reasons[0]
    assert "line 2" in stage.status()


async def test_missing_permissions_and_forbidding_rules_are_found_before_anything_is_spent(
    stage: Scene,
) -> None:
    stage.repository.missing = ("contents: write",)
    first = await do_job(KnownSteps(), await stage.request(), stage.desk)
    assert "contents: write" in first.reasons[0]
    stage.repository.missing = ()
    pattern = {"operator": "starts_with", "pattern": "bots/"}
    stage.repository.rules = (BranchRule(type="branch_name_pattern", parameters=pattern, source="names"),)
    end(stage, (await stage.jobs.latest("octo/repo#1")).request, first)  # type: ignore[union-attr]
    second = await do_job(KnownSteps(), await stage.request(), stage.desk)
    assert "branch_name_pattern" in second.reasons[0]
    assert "names" in second.reasons[0]
    assert stage.model.requests == []


async def test_a_fault_of_our_own_is_shown_without_its_details(stage: Scene) -> None:
    stage.github.fail("branch_rules", KeyError("a secret detail"))
    outcome = await do_job(KnownSteps(), await stage.request(), stage.desk)
    assert outcome.status == "failed"
    assert "secret detail" not in stage.status()


async def test_what_github_forbids_is_told(stage: Scene) -> None:
    stage.github.fail("push_access", Forbidden("the App may not write contents: grant contents: write"))
    outcome = await do_job(KnownSteps(), await stage.request(), stage.desk)
    assert outcome.status == "refused"
    assert "grant contents: write" in stage.status()
