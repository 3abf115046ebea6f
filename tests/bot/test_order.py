"""The main job with a scripted model, a real sandbox and real git."""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.order import Order, replay, run_order
from bot.runs import RunStore
from bot.settings import Settings
from bot.solving import Equipment
from pipelines.checks.written import WritingParameters
from pipelines.errors import InfrastructureError, ModelError, RefusalError
from pipelines.model.protocol import Model
from pipelines.model.scripted import ScriptedModel
from pipelines.strategies.direct import DirectParameters
from sandbox import SandboxBackend
from tests.bot.conftest import git
from tests.pipelines.scenes import ISSUE, RIGHT, WRONG, by_kind

pytestmark = pytest.mark.sandbox


def settings(data_dir: Path, **facts: Any) -> Settings:
    return Settings(
        data_dir=data_dir,
        direct=DirectParameters(samples=2, repairs=1),
        tester=WritingParameters(generations=2),
        **facts,
    )


def equipment(model: Model, backend: SandboxBackend) -> Equipment:
    @asynccontextmanager
    async def opened(_files: Mapping[str, bytes]) -> AsyncIterator[tuple[Model, SandboxBackend]]:
        yield model, backend

    return opened


def order(repository: Path, text: str = ISSUE, **facts: Any) -> Order:
    return Order("issue.md", text.encode(), repository, **facts)


def scripted(**answers: Any) -> ScriptedModel:
    return ScriptedModel(by_kind(**({"tester": "assert double(7) == 14\n", "analyst": "{}"} | answers)))


async def test_an_issue_becomes_a_commit_on_a_new_branch(
    repository: Path, data_dir: Path, backend: SandboxBackend
) -> None:
    outcome = await run_order(
        order(repository), settings(data_dir), equipment(scripted(greedy=RIGHT), backend)
    )
    assert outcome.result.status == "green"
    assert outcome.branch == "issuewright/double-a-number"
    assert git(repository, "rev-parse", outcome.branch) == outcome.commit
    assert git(repository, "rev-parse", f"{outcome.branch}^") == git(repository, "rev-parse", "main")
    changed = git(repository, "diff", "--name-status", "main", outcome.branch)
    assert changed.split() == ["A", "src/pkg/numbers_.py", "A", "tests/test_double.py"]
    assert (
        git(repository, "log", "-1", "--format=%an <%ae>", outcome.branch)
        == "issuewright <issuewright@localhost>"
    )
    assert outcome.run_id in git(repository, "log", "-1", "--format=%B", outcome.branch)


async def test_the_committed_tests_pass_in_a_plain_checkout(
    repository: Path, data_dir: Path, backend: SandboxBackend, tmp_path: Path
) -> None:
    outcome = await run_order(
        order(repository), settings(data_dir), equipment(scripted(greedy=RIGHT), backend)
    )
    assert outcome.branch
    git(repository, "worktree", "add", "-q", str(tmp_path / "checkout"), outcome.branch)
    pytest_run = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pytest", "-q", cwd=tmp_path / "checkout", stdout=asyncio.subprocess.PIPE
    )
    out, _ = await pytest_run.communicate()
    assert pytest_run.returncode == 0, out.decode()


async def test_the_persons_tree_index_and_branch_are_untouched_also_when_dirty(
    repository: Path, data_dir: Path, backend: SandboxBackend
) -> None:
    (repository / "src/pkg/old.py").write_text("changed")
    (repository / "staged.txt").write_text("staged")
    git(repository, "add", "staged.txt")
    (repository / "untracked.txt").write_text("untracked")
    before = git(repository, "status", "--porcelain"), git(repository, "rev-parse", "HEAD")
    await run_order(order(repository), settings(data_dir), equipment(scripted(greedy=RIGHT), backend))
    assert (git(repository, "status", "--porcelain"), git(repository, "rev-parse", "HEAD")) == before
    assert git(repository, "branch", "--show-current") == "main"
    assert (repository / "src/pkg/old.py").read_text() == "changed"


async def test_a_taken_branch_name_gets_a_number(
    repository: Path, data_dir: Path, backend: SandboxBackend
) -> None:
    git(repository, "branch", "issuewright/double-a-number")
    outcome = await run_order(
        order(repository), settings(data_dir), equipment(scripted(greedy=RIGHT), backend)
    )
    assert outcome.branch == "issuewright/double-a-number-2"


async def test_a_detached_head_and_a_named_base_serve_as_well(
    repository: Path, data_dir: Path, backend: SandboxBackend
) -> None:
    git(repository, "tag", "v1")
    git(repository, "checkout", "-q", "--detach")
    outcome = await run_order(
        order(repository, base="v1"), settings(data_dir), equipment(scripted(greedy=RIGHT), backend)
    )
    assert outcome.base == git(repository, "rev-parse", "v1")
    assert outcome.commit is not None


async def test_the_author_is_a_setting(repository: Path, data_dir: Path, backend: SandboxBackend) -> None:
    chosen = settings(data_dir, author_name="Robot", author_email="robot@example.org")
    outcome = await run_order(order(repository), chosen, equipment(scripted(greedy=RIGHT), backend))
    assert outcome.branch
    assert git(repository, "log", "-1", "--format=%an %ce", outcome.branch) == "Robot robot@example.org"


async def test_a_draft_is_committed_too_and_says_what_fails(
    repository: Path, data_dir: Path, backend: SandboxBackend
) -> None:
    model = scripted(greedy=WRONG, sample=WRONG, repair=WRONG)
    outcome = await run_order(order(repository), settings(data_dir), equipment(model, backend))
    assert outcome.result.status == "draft"
    assert outcome.branch
    assert "Draft: this is not proven" in git(repository, "log", "-1", "--format=%B", outcome.branch)


async def test_a_question_leaves_no_branch(repository: Path, data_dir: Path, backend: SandboxBackend) -> None:
    outcome = await run_order(
        order(repository, "# Improve\n\nMake it nicer.\n"), settings(data_dir), equipment(scripted(), backend)
    )
    assert (outcome.result.status, outcome.branch, outcome.commit) == ("question", None, None)
    assert git(repository, "branch", "--list", "issuewright/*") == ""


async def test_code_that_the_repository_already_has_makes_no_empty_commit(
    repository: Path, data_dir: Path, backend: SandboxBackend
) -> None:
    issue = (
        "# One\n\nMake sure of `one()` in `src/pkg/old.py`.\n\n- It must return 1.\n\n"
        "```python\n>>> one()\n1\n```\n"
    )
    model = scripted(greedy="def one():\n    return 1\n", tester="")
    outcome = await run_order(order(repository, issue), settings(data_dir), equipment(model, backend))
    assert outcome.result.status == "draft"
    assert "prove nothing" in " ".join(outcome.result.reasons)


async def test_a_replay_ends_the_same_even_after_the_branch_is_gone_and_touches_nothing(
    repository: Path, data_dir: Path, backend: SandboxBackend
) -> None:
    model = scripted(greedy=WRONG, sample=[WRONG, RIGHT])
    first = await run_order(order(repository), settings(data_dir), equipment(model, backend))
    assert first.branch
    git(repository, "branch", "-D", first.branch)
    before = git(repository, "for-each-ref")
    recorded, repeated = await replay(RunStore(data_dir), first.run_id)
    assert repeated == recorded
    assert (repeated.commit, repeated.body, repeated.status) == (first.commit, first.body, "green")
    assert git(repository, "for-each-ref") == before


async def test_a_replay_works_beside_a_branch_on_which_somebody_worked(
    repository: Path, data_dir: Path, backend: SandboxBackend
) -> None:
    first = await run_order(order(repository), settings(data_dir), equipment(scripted(greedy=RIGHT), backend))
    assert first.branch
    git(repository, "switch", "-q", first.branch)
    git(repository, "commit", "-q", "--allow-empty", "-m", "Mine")
    mine = git(repository, "rev-parse", "HEAD")
    recorded, repeated = await replay(RunStore(data_dir), first.run_id)
    assert repeated == recorded
    assert git(repository, "rev-parse", first.branch) == mine


async def test_a_question_is_replayed_too(repository: Path, data_dir: Path, backend: SandboxBackend) -> None:
    text = "# Improve\n\nMake it nicer.\n"
    first = await run_order(order(repository, text), settings(data_dir), equipment(scripted(), backend))
    recorded, repeated = await replay(RunStore(data_dir), first.run_id)
    assert repeated == recorded
    assert (repeated.status, repeated.commit) == ("question", None)


async def test_a_replay_that_ends_otherwise_is_seen(
    repository: Path, data_dir: Path, backend: SandboxBackend
) -> None:
    first = await run_order(order(repository), settings(data_dir), equipment(scripted(greedy=RIGHT), backend))
    ledger = RunStore(data_dir).ledger(first.run_id)
    ledger.set_meta("commit", "0" * 40)
    ledger.close()
    recorded, repeated = await replay(RunStore(data_dir), first.run_id)
    assert repeated.commit == first.commit != recorded.commit


async def test_an_interrupted_run_is_not_replayed(
    repository: Path, data_dir: Path, backend: SandboxBackend
) -> None:
    down = ScriptedModel(lambda _: InfrastructureError("down"))
    with pytest.raises(InfrastructureError):
        await run_order(order(repository), settings(data_dir), equipment(down, backend))
    (run,) = RunStore(data_dir).summaries()
    with pytest.raises(RefusalError, match="interrupted"):
        await replay(RunStore(data_dir), run.run_id)


async def test_a_run_without_a_usable_answer_is_replayed_too(
    repository: Path, data_dir: Path, backend: SandboxBackend
) -> None:
    refusing = ScriptedModel(lambda _: ModelError("the prompt is too long"))
    first = await run_order(order(repository), settings(data_dir), equipment(refusing, backend))
    assert (first.result.status, first.commit) == ("draft", None)
    recorded, repeated = await replay(RunStore(data_dir), first.run_id)
    assert repeated == recorded


async def test_an_interrupted_run_goes_on_and_a_finished_one_does_not(
    repository: Path, data_dir: Path, backend: SandboxBackend
) -> None:
    answers = by_kind(greedy=WRONG, sample=RIGHT, tester="", analyst="{}")
    broken = {"left": 2}

    def failing(request: Any) -> Any:
        broken["left"] -= 1
        return InfrastructureError("the server went away") if broken["left"] < 0 else answers(request)

    with pytest.raises(InfrastructureError, match="went away"):
        await run_order(order(repository), settings(data_dir), equipment(ScriptedModel(failing), backend))
    assert git(repository, "branch", "--list", "issuewright/*") == ""
    model = scripted(greedy=WRONG, sample=RIGHT, tester="")
    second = await run_order(order(repository), settings(data_dir), equipment(model, backend))
    assert second.resumed
    assert second.result.status == "green"
    third = await run_order(order(repository), settings(data_dir), equipment(scripted(greedy=RIGHT), backend))
    assert not third.resumed
    assert third.run_id != second.run_id


async def test_fresh_starts_anew(repository: Path, data_dir: Path, backend: SandboxBackend) -> None:
    down = ScriptedModel(lambda _: InfrastructureError("down"))
    with pytest.raises(InfrastructureError):
        await run_order(order(repository), settings(data_dir), equipment(down, backend))
    outcome = await run_order(
        order(repository, fresh=True), settings(data_dir), equipment(scripted(greedy=RIGHT), backend)
    )
    assert not outcome.resumed
    assert len(RunStore(data_dir).summaries()) == 2


async def test_bad_input_never_opens_a_model(tmp_path: Path, repository: Path, data_dir: Path) -> None:
    @asynccontextmanager
    async def never(_files: Mapping[str, bytes]) -> AsyncIterator[tuple[None, None]]:
        raise AssertionError("the model was opened")
        yield None, None

    for bad in (order(tmp_path), order(repository, ""), order(repository, base="nowhere")):
        with pytest.raises(RefusalError):
            await run_order(bad, settings(data_dir), never)
    with pytest.raises(RefusalError, match="strategy"):
        await run_order(order(repository, strategy="magic"), settings(data_dir), never)
    assert RunStore(data_dir).summaries() == []


async def test_two_processes_never_share_a_run(
    repository: Path, data_dir: Path, backend: SandboxBackend
) -> None:
    outcome = await run_order(
        order(repository), settings(data_dir), equipment(scripted(greedy=RIGHT), backend)
    )
    store = RunStore(data_dir)
    with store.lock(outcome.run_id), pytest.raises(RefusalError, match="another process"):
        await replay(store, outcome.run_id)
