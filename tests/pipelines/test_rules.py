"""What a repository's rules do to a Run: where code goes, where it may go, and how its own tests run."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.analysis import Completed
from pipelines.candidate import Candidate
from pipelines.checks.command import CommandJob
from pipelines.errors import RefusalError
from pipelines.evidence import Evidence, RepositoryTests, gather_evidence
from pipelines.model.scripted import ScriptedModel
from pipelines.pipeline import PipelineOptions, place, question_before, solve_requirement, weaknesses
from pipelines.repository import RepositorySnapshot
from pipelines.repository.rules import RepositoryRules, check_allowed, matches, pattern_fault
from pipelines.strategies.direct import Direct
from pipelines.task import Task
from sandbox import ExecResult, LimitKind, Limits, Output, SandboxBackend, Usage
from sandbox.fake import FakeBackend, FakeCall
from tests.pipelines.scenes import (
    ISSUE,
    NO_EXAMPLE,
    RIGHT,
    requirement,
    run_with,
    snapshot,
)

NO_PATH = ISSUE.replace(" in `src/pkg/numbers_.py`", "")


def placed(text: str = NO_PATH, *, repository: RepositorySnapshot | None = None, **rules: object) -> str:
    task = place(
        Completed(requirement=requirement(text)),
        repository or snapshot(**{"lib__tools__one.py": ""}),
        RepositoryRules.model_validate(rules),
    )
    return task.targets[0].path


def test_without_preferences_the_layout_decides() -> None:
    assert placed() == "src/pkg/double.py"


def test_the_first_preferred_place_that_exists_is_taken_and_else_the_first() -> None:
    assert placed(target_paths=("missing/", "lib/tools/")) == "lib/tools/double.py"
    assert placed(target_paths=("missing", "absent")) == "missing/double.py"


def test_a_path_that_the_issue_names_comes_before_any_preference() -> None:
    assert placed(ISSUE, target_paths=("lib/tools/",)) == "src/pkg/numbers_.py"


def test_a_preferred_file_is_extended_and_a_preferred_folder_gets_a_new_file() -> None:
    repository = snapshot(**{"src__pkg__double.py": "A = 1\n", "src__pkg__all_.py": "B = 1\n"})
    assert placed(repository=repository, target_paths=("src/pkg/all_.py",)) == "src/pkg/all_.py"
    assert placed(repository=repository, target_paths=("src/pkg",)) == "src/pkg/double_2.py"


def test_a_preferred_place_that_cannot_be_is_refused_before_anything_is_spent() -> None:
    for rules in (("src/pkg/__init__.py/more",), ("my-folder/",)):
        with pytest.raises(RefusalError):
            question_before(requirement(NO_PATH), snapshot(), RepositoryRules(target_paths=rules))


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("**", "a/b/c.py", True),
        ("src/**", "src/a/b.py", True),
        ("src/", "src/a/b.py", True),
        ("src/", "srcs/a.py", False),
        ("src/", "lib/src/a.py", False),
        ("src", "src/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "a/b.py", True),
        ("*.py", "a/b.py", False),
        ("src/*/a.py", "src/x/a.py", True),
        ("src/*/a.py", "src/x/y/a.py", False),
        ("src/**/tests/*.py", "src/tests/t.py", True),
        ("src/**/tests/*.py", "src/a/b/tests/t.py", True),
        ("src/**/tests/*.py", "src/a/tests/b/t.py", False),
        ("**/pkg/**/x.py", "pkg/x.py", True),
        ("a?.py", "ab.py", True),
        ("[ab].py", "c.py", False),
        ("SRC/**", "src/a.py", False),
    ],
)
def test_a_pattern_fits_the_whole_path(pattern: str, path: str, fits: bool) -> None:
    assert pattern_fault(pattern) is None
    assert matches(path, pattern) is fits


@pytest.mark.parametrize("pattern", ["", "/", "/src", "a\\b", "a//b", "./a", "a/../b", "a**", "**.py", "[a"])
def test_a_pattern_that_can_match_nothing_is_known_beforehand(pattern: str) -> None:
    assert pattern_fault(pattern)


@given(st.lists(st.sampled_from(["**", "*", "a", "a*", "*a"]), min_size=1, max_size=6), st.integers(0, 6))
def test_two_stars_stand_for_any_folders(parts: list[str], depth: int) -> None:
    path = "/".join(["a"] * (depth + 1))
    longest = [part for part in parts if part != "**"]
    expected = len(longest) == depth + 1 if "**" not in parts else len(longest) <= depth + 1
    assert matches(path, "/".join(parts)) is expected


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    assert not matches("a" * 250, "*a" * 60 + "b")
    assert not matches("/".join(["a"] * 60), "**/" * 60 + "b")


def test_a_path_outside_the_allowed_ones_is_refused_with_both_named() -> None:
    check_allowed(["src/a.py", "tests/test_a.py"], ["src/**", "tests/**"])
    with pytest.raises(RefusalError, match=r"'docs/a.py' may not be written.*`src/\*\*`, `tests/\*\*`"):
        check_allowed(["src/a.py", "docs/a.py"], ["src/**", "tests/**"])


@pytest.mark.parametrize("allowed", [("src/**",), ("tests/**",), ("src/pkg/*.py", "test/**")])
def test_module_and_tests_must_both_be_allowed_before_anything_is_spent(allowed: tuple[str, ...]) -> None:
    with pytest.raises(RefusalError, match="may not be written"):
        question_before(requirement(), snapshot(), RepositoryRules(allowed_paths=allowed))
    assert question_before(requirement(), snapshot(), RepositoryRules(allowed_paths=("**/*.py",))) is None


def test_new_package_files_must_be_allowed_too() -> None:
    issue = ISSUE.replace("src/pkg/numbers_.py", "src/pkg/new/numbers_.py")
    rules = RepositoryRules(allowed_paths=("**/numbers_.py", "tests/**"))
    with pytest.raises(RefusalError, match=r"new/__init__\.py"):
        question_before(requirement(issue), snapshot(), rules)


async def test_a_name_that_the_analysis_chooses_cannot_leave_the_allowed_paths(tmp_path: Path) -> None:
    rules = RepositoryRules(allowed_paths=("src/pkg/turn_*.py", "tests/**"))
    wanted = requirement("# Turn numbers round\n\nReverse the digits of a number, keep its sign.\n")
    assert question_before(wanted, snapshot(), rules) is None
    analysis = '{"criteria": [], "signatures": ["def back(n: int) -> int"], "module": "evil"}'
    model = ScriptedModel([analysis])
    with pytest.raises(RefusalError, match=r"'src/pkg/back\.py' may not be written"):
        await solve_requirement(
            run_with(tmp_path, model, FakeBackend()),
            wanted,
            snapshot(),
            Direct(),
            PipelineOptions(rules=rules),
        )
    assert len(model.requests) == 1


CHECK = """\
import pathlib, sys
print('looked')
sys.exit(3 if pathlib.Path('src/pkg/numbers_.py').exists() else 0)
"""


async def own_tests(folder: Path, *, before: int, after: int) -> tuple[Task, Evidence, list[set[str]]]:
    """The evidence where the repository's command ends with these codes, and the files that each run saw."""
    seen: list[set[str]] = []

    def script(call: FakeCall, files: dict[str, bytes]) -> ExecResult:
        if call.argv != ("make", "check all"):
            return ExecResult(exit_code=1, usage=Usage(wall_seconds=0))
        seen.append(set(files))
        code = after if "src/pkg/numbers_.py" in files else before
        return ExecResult(exit_code=code, usage=Usage(wall_seconds=0), stdout=Output(head=b"looked\n"))

    rules = RepositoryRules(test_command=("make", "check all"))
    task = place(Completed(requirement=requirement()), snapshot(), rules)
    candidate = Candidate(files={"src/pkg/numbers_.py": RIGHT}, origin="greedy")
    run = run_with(folder, None, FakeBackend(script))
    evidence, _ = await gather_evidence(run, task, candidate)
    return task, evidence, seen


async def test_the_repositorys_own_command_is_run_before_and_after(tmp_path: Path) -> None:
    _, evidence, (base, head) = await own_tests(tmp_path, before=0, after=0)
    assert evidence.repository == RepositoryTests(state="same", command="make 'check all'")
    assert base == {"src/pkg/__init__.py"}
    assert head == {*base, "src/pkg/numbers_.py", "tests/test_double.py"}


async def test_a_command_that_fails_with_the_change_only_makes_a_draft(tmp_path: Path) -> None:
    task, evidence, _ = await own_tests(tmp_path, before=0, after=3)
    assert evidence.repository.state == "worse"
    assert evidence.repository.diagnosis == "ended with exit code 3\nlooked"
    candidate = Candidate(files={}, origin="greedy")
    told = [reason for reason in weaknesses(task, candidate, evidence) if "own test" in reason]
    assert told == ["The repository's own test command `make 'check all'` succeeded before and fails now."]


async def test_a_command_that_fails_before_says_nothing_about_the_change(tmp_path: Path) -> None:
    task, evidence, seen = await own_tests(tmp_path, before=127, after=0)
    assert evidence.repository.state == "not runnable"
    assert evidence.repository.diagnosis.startswith("ended with exit code 127")
    assert len(seen) == 1
    candidate = Candidate(files={}, origin="greedy")
    assert not any("own test" in reason for reason in weaknesses(task, candidate, evidence))


@pytest.mark.sandbox
async def test_a_real_box_runs_the_command_on_the_files(backend: SandboxBackend) -> None:
    box = await backend.create(Limits())
    try:
        base = {"check.py": CHECK.encode(), "src/pkg/__init__.py": b""}
        import_and_check = ("python", "-c", "import pkg, runpy; runpy.run_path('check.py')")
        missing = await job(base=base, files={}, command=("no-such-program",)).run(box)
        before = await job(base=base, files={}, command=import_and_check).run(box)
        after = await job(base=base, files={"src/pkg/numbers_.py": RIGHT}, command=import_and_check).run(box)
    finally:
        await box.destroy()
    assert missing.exit_code == 127
    assert (before.ok, before.tail) == (True, "looked")
    assert (after.ok, after.exit_code) == (False, 3)


def job(**changes: object) -> CommandJob:
    facts: dict[str, object] = {
        "label": "own",
        "tree": "t",
        "base": {"a.py": b"1"},
        "files": {"b.py": "2"},
        "command": ("make", "check"),
        "pythonpath": ("src", "."),
    }
    return CommandJob(**(facts | changes))  # type: ignore[arg-type]


async def test_the_command_sees_the_change_and_its_last_words_are_kept() -> None:
    calls: list[tuple[FakeCall, set[str]]] = []

    def script(call: FakeCall, files: dict[str, bytes]) -> ExecResult:
        calls.append((call, set(files)))
        return ExecResult(
            exit_code=2,
            limit=LimitKind.WALL,
            usage=Usage(wall_seconds=1),
            stdout=Output(head=b"o" * 5000),
            stderr=Output(head=b"the end\n"),
            blocked_hosts=("example.com",),
        )

    box = await FakeBackend(script).create(Limits())
    verdict = await job().run(box)
    ((call, files),) = calls
    assert (call.argv, files) == (("make", "check"), {"a.py", "b.py"})
    assert call.env == {"PYTHONPATH": "/work/src:/work"}
    assert not verdict.ok
    assert verdict.limit == "wall"
    assert verdict.tail.endswith("the end")
    assert len(verdict.tail) == 1500
    assert verdict.blocked_hosts == ("example.com",)


def test_everything_that_decides_a_commands_result_is_in_its_key() -> None:
    changes: list[dict[str, object]] = [
        {"tree": "u"},
        {"files": {"b.py": "3"}},
        {"command": ("make",)},
        {"pythonpath": (".",)},
        {"limits": Limits(wall_seconds=1)},
    ]
    digests = {job().digest(), *(job(**change).digest() for change in changes)}
    assert len(digests) == len(changes) + 1
    assert job(label="other").digest() == job().digest()


def test_rules_survive_the_record_of_a_run() -> None:
    rules = RepositoryRules(target_paths=("a",), allowed_paths=("b/**",), test_command=("c", "d e"))
    assert RepositoryRules.model_validate_json(rules.model_dump_json()) == rules
    assert place(Completed(requirement=requirement(NO_EXAMPLE)), snapshot()).rules == RepositoryRules()
