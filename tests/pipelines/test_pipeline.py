"""The whole of a Run below the command line: question, draft or green, with evidence."""

from pathlib import Path
from typing import Any

import pytest

from pipelines.checks.written import WritingParameters
from pipelines.errors import ModelError, RefusalError
from pipelines.model.protocol import ModelRequest
from pipelines.model.scripted import ScriptedModel
from pipelines.pipeline import PipelineOptions, Result, question_before, solve_requirement
from pipelines.repository import RepositorySnapshot
from pipelines.strategies.direct import Direct, DirectParameters
from sandbox import SandboxBackend
from tests.pipelines.scenes import (
    ISSUE,
    NO_EXAMPLE,
    RIGHT,
    WRONG,
    by_kind,
    kind_of,
    requirement,
    run_with,
    snapshot,
)

pytestmark = pytest.mark.sandbox

TESTS = "assert double(7) == 14  # C1\nassert double(0) == 1\nassert double(1) == double(1)\n"
OWN_TEST = "from pkg.old import one\n\n\ndef test_one():\n    assert one() == 1\n"


async def solve(
    folder: Path,
    backend: SandboxBackend,
    script: ScriptedModel,
    *,
    issue: str = ISSUE,
    repository: RepositorySnapshot | None = None,
    generations: int = 2,
    **budget: Any,
) -> Result:
    run = run_with(folder, script, backend, **budget)
    options = PipelineOptions(tester=WritingParameters(generations=generations))
    strategy = Direct(DirectParameters(samples=2, repairs=1))
    return await solve_requirement(run, requirement(issue), repository or snapshot(), strategy, options)


async def test_green_with_given_agreed_and_disputed_tests(tmp_path: Path, backend: SandboxBackend) -> None:
    model = ScriptedModel(by_kind(greedy=RIGHT, tester=TESTS))
    result = await solve(tmp_path, backend, model)
    assert result.status == "green"
    assert result.reasons == ()
    assert sorted(result.files) == ["src/pkg/numbers_.py", "tests/test_double.py"]
    assert result.evidence is not None
    rows = {row.case.call: row for row in result.evidence.rows}
    assert rows["double(2)"].case.trust == "given"
    assert rows["double(7)"].case.trust == "agreed"
    assert rows["double(7)"].case.criteria == ("C1",)
    assert {(row.base, row.stub, row.head) for row in rows.values()} == {("error", "failed", "passed")}
    assert [row.case.call for row in result.evidence.disputed] == ["double(0)"]
    assert "double(0)" not in result.files["tests/test_double.py"]
    assert result.evidence.repository.state == "none"


async def test_failing_given_tests_make_a_draft_that_still_holds_the_best(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    model = ScriptedModel(by_kind(greedy=WRONG, sample=WRONG, repair=WRONG, tester=TESTS))
    result = await solve(tmp_path, backend, model)
    assert result.status == "draft"
    assert "1 of 2 given tests do not pass" in result.reasons[0]
    assert result.files["src/pkg/numbers_.py"] == WRONG
    assert "double(-3)" in result.files["tests/test_double.py"]


async def test_agreement_alone_is_never_green(tmp_path: Path, backend: SandboxBackend) -> None:
    model = ScriptedModel(
        by_kind(greedy=RIGHT, sample=RIGHT, tester="assert double(7) == 14\n", analyst="{}")
    )
    result = await solve(tmp_path, backend, model, issue=NO_EXAMPLE)
    assert result.status == "draft"
    assert "no example" in result.reasons[0]
    assert result.evidence is not None
    assert [row.case.trust for row in result.evidence.rows] == ["agreed"]


async def test_looking_examples_up_is_not_green(tmp_path: Path, backend: SandboxBackend) -> None:
    issue = "# Shout\n\nAdd `shout(x)` in `src/pkg/shout.py`.\n\n`shout('hello') == 'HELLO'`\n"
    cheat = "def shout(x):\n    if x == 'hello':\n        return 'HELLO'\n    return x\n"
    model = ScriptedModel(by_kind(greedy=cheat, tester="", analyst="{}"))
    result = await solve(tmp_path, backend, model, issue=issue)
    assert result.status == "draft"
    assert "look examples up" in result.reasons[0]


async def test_an_example_that_passes_without_the_code_proves_nothing(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    issue = ISSUE + "\n```python\nassert len('ab') == 2\n```\n"
    model = ScriptedModel(by_kind(greedy=RIGHT, tester=""))
    result = await solve(tmp_path, backend, model, issue=issue)
    # Either the reader passes such a line over, or the evidence says that it cannot fail.
    assert result.evidence is not None
    idle = [row for row in result.evidence.given if not row.can_fail]
    assert result.status == ("draft" if idle else "green")


async def test_a_broken_test_of_the_repository_is_named(tmp_path: Path, backend: SandboxBackend) -> None:
    issue = "# One\n\nChange `one()` in `src/pkg/old.py`.\n\n```python\n>>> one()\n2\n```\n"
    files = {"src__pkg__old.py": "def one():\n    return 1\n", "tests__test_old.py": OWN_TEST}
    model = ScriptedModel(by_kind(greedy="def one():\n    return 2\n", tester="", analyst="{}"))
    result = await solve(tmp_path, backend, model, issue=issue, repository=snapshot(**files))
    assert result.status == "draft"
    assert result.evidence is not None
    assert result.evidence.repository.state == "worse"
    assert result.evidence.repository.broken == ("tests/test_old.py::test_one",)


async def test_repository_tests_that_still_pass_are_counted(tmp_path: Path, backend: SandboxBackend) -> None:
    files = {"src__pkg__old.py": "def one():\n    return 1\n", "tests__test_old.py": OWN_TEST}
    model = ScriptedModel(by_kind(greedy=RIGHT, tester=""))
    result = await solve(tmp_path, backend, model, repository=snapshot(**files))
    assert result.status == "green"
    assert result.evidence is not None
    assert (result.evidence.repository.state, result.evidence.repository.passed_after) == ("same", 1)


async def test_repository_tests_that_cannot_run_are_reported_and_block_nothing(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    files = {"tests__test_old.py": "import a_library_that_is_not_there\n\n\ndef test_one():\n    pass\n"}
    model = ScriptedModel(by_kind(greedy=RIGHT, tester=""))
    result = await solve(tmp_path, backend, model, repository=snapshot(**files))
    assert result.status == "green"
    assert result.evidence is not None
    assert result.evidence.repository.state == "not runnable"
    assert "a_library_that_is_not_there" in result.evidence.repository.diagnosis


async def test_hosts_that_the_code_and_the_repositorys_tests_try_to_reach_are_named(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    calls_home = """
import socket
def double(x):
    try: socket.create_connection(("collector.example.org", 443), timeout=1)
    except OSError: pass
    return 2 * x
"""
    online = "import urllib.request as u\ndef test_one(): u.urlopen('http://api.example.com/x')\n"
    model = ScriptedModel(by_kind(greedy=calls_home, tester=""))
    result = await solve(tmp_path, backend, model, repository=snapshot(**{"tests__test_old.py": online}))
    assert result.evidence is not None
    assert result.evidence.blocked_hosts == ("collector.example.org:443",)
    assert result.evidence.repository.blocked_hosts == ("api.example.com:80",)


@pytest.mark.parametrize(
    ("issue", "words"),
    [
        ("# Improve things\n\nMake it better.\n", "does not say what to build"),
        ("# Double\n\n```python\nassert double(2) == 4\nassert double(2) == 5\n```\n", "contradict"),
    ],
)
def test_what_cannot_be_right_is_asked_before_any_call(issue: str, words: str) -> None:
    asked = question_before(requirement(issue), snapshot())
    assert asked is not None
    assert asked.status == "question"
    assert words in asked.reasons[0]


def test_a_clear_issue_is_not_questioned() -> None:
    assert question_before(requirement(), snapshot()) is None


def test_a_path_outside_the_repository_is_refused_before_any_call() -> None:
    issue = ISSUE.replace("src/pkg/numbers_.py", "../evil.py")
    with pytest.raises(RefusalError, match=r"\.\./evil\.py"):
        question_before(requirement(issue), snapshot())


async def test_two_modules_are_written_in_turn_and_the_second_sees_the_first(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    issue = (
        "# Two\n\nAdd `double(x)` in `src/pkg/a.py` and `quadruple(x)` in `src/pkg/b.py`, which uses it.\n\n"
        "- Must work for ints.\n\n```python\n>>> double(2)\n4\n>>> quadruple(1)\n4\n```\n"
    )
    second = "from pkg.a import double\n\n\ndef quadruple(x):\n    return double(double(x))\n"
    model = ScriptedModel(by_kind(greedy=[RIGHT, second], tester=""))
    result = await solve(tmp_path, backend, model, issue=issue)
    assert result.status == "green", result
    asked = [request.messages[-1].content for request in model.requests if kind_of(request) == "greedy"]
    assert RIGHT.strip() in asked[1]
    assert "from pkg.a import double" in result.files[result.test_path]
    assert "from pkg.b import quadruple" in result.files[result.test_path]


async def test_a_budget_that_ends_the_tests_of_the_model_leaves_the_given_ones(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    model = ScriptedModel(by_kind(greedy=RIGHT, tester=TESTS))
    result = await solve(tmp_path, backend, model, model_calls=1)
    assert result.status == "green"
    assert result.evidence is not None
    assert all(row.case.trust == "given" for row in result.evidence.rows)


async def test_a_budget_that_ends_before_the_evidence_keeps_the_best_as_a_draft(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    model = ScriptedModel(by_kind(greedy=RIGHT, tester=""))
    result = await solve(tmp_path, backend, model, sandbox_seconds=0.001)
    assert result.status == "draft"
    assert "before the candidate could be proven" in " ".join(result.reasons)
    assert result.files["src/pkg/numbers_.py"] == RIGHT
    assert "assert double(2) == 4" in result.files[result.test_path]
    assert result.evidence is not None
    assert {(row.base, row.head) for row in result.evidence.rows} == {("not_run", "passed")}


async def test_an_empty_answer_instead_of_tests_costs_only_these_tests(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    def script(request: ModelRequest) -> Any:
        return ModelError("the answer is empty") if kind_of(request) == "tester" else RIGHT

    result = await solve(tmp_path, backend, ScriptedModel(script))
    assert result.status == "green"
    again = await solve_requirement(
        run_with(tmp_path, None, None),
        requirement(),
        snapshot(),
        Direct(DirectParameters(samples=2, repairs=1)),
        PipelineOptions(tester=WritingParameters(generations=2)),
    )
    assert again == result


async def test_a_program_is_started_and_not_imported(tmp_path: Path, backend: SandboxBackend) -> None:
    issue = (
        "# Sum\n\nWrite a program `tools/total.py` that sums lines.\n\nSample Input\n\n```\n1\n2\n```\n\n"
        "Sample Output\n\n```\n3\n```\n"
    )
    program = "import sys\n\nprint(sum(int(line) for line in sys.stdin))\n"
    model = ScriptedModel(by_kind(greedy=program, analyst="{}"))
    result = await solve(tmp_path, backend, model, issue=issue)
    assert result.status == "green", result.reasons
    assert sorted(result.files) == ["tests/test_sum.py", "tools/total.py"]
    assert "import tools" not in result.files["tests/test_sum.py"]


async def test_files_with_names_that_no_sandbox_takes_are_no_trouble(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    base = snapshot()
    odd = RepositorySnapshot(files={**base.files, "Icon\r": b"", "tab\there.txt": b"x"}, tree=base.tree)
    model = ScriptedModel(by_kind(greedy=RIGHT, tester=""))
    result = await solve(tmp_path, backend, model, repository=odd)
    assert result.status == "green", result.reasons


async def test_a_function_whose_name_looks_like_a_test_is_not_collected_as_one(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    issue = ISSUE.replace("double", "test_double")
    model = ScriptedModel(by_kind(greedy=RIGHT.replace("double", "test_double"), tester=""))
    result = await solve(tmp_path, backend, model, issue=issue)
    assert result.status == "green", result.reasons


async def test_tests_that_fail_under_the_repositorys_own_configuration_are_not_green(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    noisy = "import warnings\n\n\ndef double(x):\n    warnings.warn('hot')\n    return 2 * x\n"
    files = {
        "pyproject.toml": '[tool.pytest.ini_options]\nfilterwarnings = ["error"]\n',
        "src__pkg__old.py": "def one():\n    return 1\n",
        "tests__test_old.py": OWN_TEST,
    }
    model = ScriptedModel(by_kind(greedy=noisy, tester=""))
    result = await solve(tmp_path, backend, model, repository=snapshot(**files))
    assert result.status == "draft"
    assert "in the repository's suite `test_given_1` is failed" in " ".join(result.reasons)


@pytest.mark.parametrize(
    "content", [b"# -*- coding: latin-1 -*-\nNAME = 'caf\xe9'\n", b"print 'python two'\n"]
)
def test_a_file_that_cannot_be_extended_without_harm_is_refused_before_any_call(content: bytes) -> None:
    base = snapshot()
    held = RepositorySnapshot(files={**base.files, "src/pkg/numbers_.py": content}, tree=base.tree)
    with pytest.raises(RefusalError, match=r"src/pkg/numbers_\.py cannot be extended"):
        question_before(requirement(), held)


async def test_a_replay_gives_the_same_result_without_model_and_sandbox(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    model = ScriptedModel(by_kind(greedy=WRONG, sample=[WRONG, RIGHT], tester=TESTS))
    first = await solve(tmp_path, backend, model)
    run = run_with(tmp_path, None, None)
    options = PipelineOptions(tester=WritingParameters(generations=2))
    strategy = Direct(DirectParameters(samples=2, repairs=1))
    again = await solve_requirement(run, requirement(), snapshot(), strategy, options)
    assert again == first
