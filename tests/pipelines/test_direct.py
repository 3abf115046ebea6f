"""The strategy `direct`, with a scripted model and a real sandbox."""

from dataclasses import replace
from pathlib import Path

import pytest

from pipelines.analysis import Completed
from pipelines.errors import InfrastructureError
from pipelines.model.protocol import Completion, ModelRequest
from pipelines.model.scripted import ScriptedModel
from pipelines.pipeline import place
from pipelines.run import Run
from pipelines.strategies.base import Solution
from pipelines.strategies.direct import Direct, DirectParameters
from pipelines.task import Task
from sandbox import SandboxBackend
from tests.pipelines.scenes import (
    BROKEN,
    NO_EXAMPLE,
    RIGHT,
    WRONG,
    by_kind,
    cut_off,
    kind_of,
    requirement,
    run_with,
    snapshot,
)

pytestmark = pytest.mark.sandbox


def task(text: str | None = None) -> Task:
    wanted = requirement(text) if text else requirement()
    return place(Completed(requirement=wanted), snapshot())


def decisions(run: Run) -> list[str]:
    return [decision.what for decision in run.services.ledger.decisions()]


async def solve(
    folder: Path, model: ScriptedModel, backend: SandboxBackend, **parameters: object
) -> tuple[Solution, Run]:
    run = run_with(folder, model, backend)
    direct = Direct(DirectParameters.model_validate({"samples": 3} | parameters))
    return await direct.solve(run, task()), run


async def test_a_proven_first_answer_costs_one_call(tmp_path: Path, backend: SandboxBackend) -> None:
    model = ScriptedModel(by_kind(greedy=RIGHT))
    solution, run = await solve(tmp_path, model, backend)
    assert len(model.requests) == 1
    assert solution.best is not None
    assert solution.best.candidate.files == {"src/pkg/numbers_.py": RIGHT}
    assert solution.best.verdict.all_passed
    assert decisions(run) == ["accept"]


async def test_the_first_answer_is_asked_without_chance_and_with_an_open_fence(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    model = ScriptedModel(by_kind(greedy=RIGHT))
    await solve(tmp_path, model, backend)
    (request,) = model.requests
    assert request.temperature == 0
    assert request.prefill == "```python\n"
    assert request.stop == ("\n```",)


async def test_a_wrong_first_answer_is_beaten_by_a_sample_that_passes(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    model = ScriptedModel(by_kind(greedy=WRONG, sample=[BROKEN, RIGHT, WRONG]))
    solution, _ = await solve(tmp_path, model, backend)
    assert solution.best is not None
    assert solution.best.candidate.origin == "sample 2"
    assert [kind_of(request) for request in model.requests] == ["greedy", "sample", "sample", "sample"]
    assert len({request.seed for request in model.requests[1:]}) == 3


async def test_among_those_that_pass_the_majority_of_outputs_wins(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    lucky = "def double(x):\n    return {2: 4, -3: -6}.get(x, 0)\n"
    other = "def double(x: int) -> int:\n    return x + x\n"
    model = ScriptedModel(by_kind(greedy=WRONG, sample=[lucky, RIGHT, other]))
    solution, run = await solve(tmp_path, model, backend)
    assert solution.best is not None
    assert solution.best.candidate.origin == "sample 2"
    assert "choose sample 2" in decisions(run)


async def test_a_repair_that_passes_is_kept(tmp_path: Path, backend: SandboxBackend) -> None:
    model = ScriptedModel(by_kind(greedy=BROKEN, sample=BROKEN, repair=RIGHT))
    solution, run = await solve(tmp_path, model, backend)
    assert solution.best is not None
    assert solution.best.candidate.origin == "repair 1 of greedy"
    assert solution.best.verdict.all_passed
    assert decisions(run)[-1] == "keep"


async def test_a_repair_sees_the_failing_code_and_its_output(tmp_path: Path, backend: SandboxBackend) -> None:
    model = ScriptedModel(by_kind(greedy=BROKEN, sample=BROKEN, repair=RIGHT))
    await solve(tmp_path, model, backend)
    text = next(r for r in model.requests if kind_of(r) == "repair").messages[-1].content
    assert "return twice(x)" in text
    assert "NameError" in text


async def test_a_repair_that_makes_it_worse_is_not_kept(tmp_path: Path, backend: SandboxBackend) -> None:
    model = ScriptedModel(by_kind(greedy=WRONG, sample=WRONG, repair=[BROKEN, "def double(x): return 0\n"]))
    solution, run = await solve(tmp_path, model, backend)
    assert solution.best is not None
    assert solution.best.candidate.origin == "greedy"
    assert solution.best.verdict.passed == 1
    assert decisions(run)[-2:] == ["reject", "reject"]


async def test_never_more_repairs_than_allowed(tmp_path: Path, backend: SandboxBackend) -> None:
    model = ScriptedModel(by_kind(greedy=WRONG, sample=WRONG, repair=BROKEN))
    await solve(tmp_path, model, backend, samples=0, repairs=2)
    assert [kind_of(request) for request in model.requests] == ["greedy", "repair", "repair"]


async def test_a_repair_that_changes_nothing_is_not_tested_again(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    same = f"# a comment\n{WRONG}"
    model = ScriptedModel(by_kind(greedy=WRONG, repair=same))
    _, run = await solve(tmp_path, model, backend, samples=0)
    assert decisions(run)[-2:] == ["discard", "discard"]


async def test_answers_that_are_cut_off_or_no_code_are_discarded(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    replies: dict[str, list[str | Completion]] = {
        "greedy": [cut_off("def double(")],
        "sample": ["I am sorry.", cut_off("def "), RIGHT],
    }

    def script(request: ModelRequest) -> str | Completion:
        return replies[kind_of(request)].pop(0)

    solution, run = await solve(tmp_path, ScriptedModel(script), backend)
    assert solution.best is not None
    assert solution.best.candidate.origin == "sample 3"
    assert decisions(run).count("discard") == 3


async def test_no_usable_answer_at_all_is_no_candidate(tmp_path: Path, backend: SandboxBackend) -> None:
    model = ScriptedModel(by_kind(greedy="", sample="sorry", repair="sorry"))
    solution, _ = await solve(tmp_path, model, backend)
    assert solution.best is None


async def test_a_used_up_budget_keeps_the_best_so_far_and_says_so(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    model = ScriptedModel(by_kind(greedy=WRONG, sample=RIGHT))
    run = run_with(tmp_path, model, backend, model_calls=1)
    solution = await Direct(DirectParameters(samples=2)).solve(run, task())
    assert solution.best is not None
    assert solution.best.candidate.origin == "greedy"
    assert "model_calls" in solution.stopped


async def test_a_budget_that_ends_in_the_second_repair_keeps_the_first(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    model = ScriptedModel(by_kind(greedy=BROKEN, repair=WRONG))
    run = run_with(tmp_path, model, backend, model_calls=2)
    solution = await Direct(DirectParameters(samples=0, repairs=2)).solve(run, task())
    assert solution.best is not None
    assert solution.best.candidate.origin == "repair 1 of greedy"
    assert "model_calls" in solution.stopped


async def test_a_server_that_goes_down_is_told_and_not_hidden(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    model = ScriptedModel([WRONG, InfrastructureError("the server is down")])
    run = run_with(tmp_path, model, backend)
    with pytest.raises(InfrastructureError, match="the server is down"):
        await Direct(DirectParameters(samples=1)).solve(run, task())


async def test_without_examples_the_outputs_on_written_inputs_decide(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    from pipelines.checks.written import Check, label_checks

    written = label_checks([[Check("double(5)", "10", (), ())], [Check("double(-1)", "7", (), ())]])
    model = ScriptedModel(by_kind(greedy=WRONG, sample=[RIGHT, "def double(x):\n    return x + x\n", WRONG]))
    run = run_with(tmp_path, model, backend)
    wanted = replace(task(NO_EXAMPLE), written=written)
    solution = await Direct(DirectParameters(samples=2)).solve(run, wanted)
    assert solution.best is not None
    assert solution.best.candidate.origin == "sample 1"
    assert len(solution.others) == 2
