"""The evidence for a candidate: tests shown failing without it and passing with it (design section 4)."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pipelines.candidate import Candidate, Outcome, Record, Status, TestCase, Verdict
from pipelines.checks.job import check, run_repository_tests
from pipelines.checks.render import name_homes, render_test_file
from pipelines.checks.stub import raising_stub
from pipelines.run import Run
from pipelines.task import Task


class Row(Record):
    """One test with what became of it on the base, on a raising stub and on the candidate."""

    case: TestCase
    base: Status
    stub: Status
    head: Status
    message: str = ""
    """Why it fails on the head, or ''."""

    @property
    def can_fail(self) -> bool:
        """Whether it failed where there was nothing to pass it."""
        return self.base != "passed" and self.stub != "passed"


class RepositoryTests(Record):
    """The repository's own tests before and after."""

    state: Literal["none", "same", "worse", "not runnable"]
    passed_before: int = 0
    passed_after: int = 0
    broken: tuple[str, ...] = ()
    """Ids of tests that passed on the base and no longer do."""
    diagnosis: str = ""


class Evidence(Record):
    """What is known about the candidate."""

    rows: tuple[Row, ...]
    """Tests that go into the pull request."""
    disputed: tuple[Row, ...] = ()
    """Tests that the model wrote and the candidate fails; they decide nothing and are not committed."""
    vacuous: tuple[Row, ...] = ()
    """Tests that pass without the code; thrown out."""
    repository: RepositoryTests

    @property
    def given(self) -> tuple[Row, ...]:
        """The rows of `given` tests."""
        return tuple(row for row in self.rows if row.case.trust == "given")

    @property
    def given_hold(self) -> bool:
        """Whether there are given tests and all pass."""
        return bool(self.given) and all(row.head == "passed" for row in self.given)


async def gather_evidence(run: Run, task: Task, candidate: Candidate) -> tuple[Evidence, str]:
    """The evidence, and the test file that belongs into the pull request."""
    cases = [*task.given, *task.written]
    run.report("proving", f"{len(cases)} tests on base, stub and candidate")
    rows = await _rows(run, task, candidate, cases)
    kept, disputed, vacuous = sort_rows(rows)
    tests = rendered_tests(task, candidate, [row.case for row in kept])
    repository = await _repository_tests(run, task, candidate, tests)
    evidence = Evidence(rows=kept, disputed=disputed, vacuous=vacuous, repository=repository)
    return evidence, tests


async def _rows(run: Run, task: Task, candidate: Candidate, cases: Sequence[TestCase]) -> tuple[Row, ...]:
    on_base = _base_candidate(task, candidate)
    on_stub = raising_stub(candidate)
    base = await check(
        run.fork("base"), task, on_base, cases, label="tests on the base", written_for=candidate
    )
    stub = await check(
        run.fork("stub"), task, on_stub, cases, label="tests on a raising stub", written_for=candidate
    )
    head = await check(run.fork("head"), task, candidate, cases, label="tests on the candidate")
    return tuple(
        Row(
            case=case,
            base=base.outcomes[case.name].status,
            stub=stub.outcomes[case.name].status,
            head=head.outcomes[case.name].status,
            message="" if head.outcomes[case.name].passed else head.outcomes[case.name].message,
        )
        for case in cases
    )


def _base_candidate(task: Task, candidate: Candidate) -> Candidate:
    existing = {path: task.existing(path) for path in candidate.files if path in task.snapshot.files}
    return Candidate(files=existing, origin="base")


def sort_rows(rows: Sequence[Row]) -> tuple[tuple[Row, ...], tuple[Row, ...], tuple[Row, ...]]:
    """Kept, disputed and vacuous rows. Given tests are always kept; written ones must fail and pass."""
    given = [row for row in rows if row.case.trust == "given"]
    written = [row for row in rows if row.case.trust != "given"]
    vacuous = tuple(row for row in written if not row.can_fail)
    disputed = tuple(row for row in written if row.can_fail and row.head != "passed")
    kept = tuple([*given, *(row for row in written if row.can_fail and row.head == "passed")])
    return kept, disputed, vacuous


def rendered_tests(task: Task, candidate: Candidate, cases: Sequence[TestCase]) -> str:
    """The test file for the pull request, or '' when there is no test."""
    if not cases:
        return ""
    homes = name_homes(candidate, task.modules)
    return render_test_file(
        cases, title=task.requirement.title, homes=homes, default_module=task.targets[0].module
    )


async def _repository_tests(run: Run, task: Task, candidate: Candidate, tests: str) -> RepositoryTests:
    if task.layout.test_command is None:
        return RepositoryTests(state="none")
    run.report("proving", "the repository's own tests before and after")
    before = await run_repository_tests(run.fork("own-base"), task, {}, label="repository tests, base")
    if not any(outcome.passed for outcome in before.outcomes.values()):
        return RepositoryTests(state="not runnable", diagnosis=_why_not_runnable(before))
    files = task.complete_files(candidate) | ({task.test_path: tests} if tests else {})
    after = await run_repository_tests(run.fork("own-head"), task, files, label="repository tests, head")
    return compare_repository(before, after)


def compare_repository(before: Verdict, after: Verdict) -> RepositoryTests:
    """Worse as soon as one test that passed before does not pass after."""
    passing = [name for name, outcome in before.outcomes.items() if outcome.passed]
    lost = Outcome(status="not_run", seconds=0.0)
    broken = tuple(name for name in passing if not after.outcomes.get(name, lost).passed)
    return RepositoryTests(
        state="worse" if broken else "same",
        passed_before=len(passing),
        passed_after=len(passing) - len(broken),
        broken=broken,
        diagnosis=after.diagnosis if broken else "",
    )


def _why_not_runnable(verdict: Verdict) -> str:
    messages = [outcome.message for outcome in verdict.outcomes.values() if outcome.message]
    return verdict.diagnosis or (messages[0] if messages else "it has no test that passes on the base")


def coverage_of(criteria_ids: Sequence[str], rows: Sequence[Row]) -> Mapping[str, tuple[str, ...]]:
    """Names of the tests that name each criterion."""
    return {
        identifier: tuple(row.case.name for row in rows if identifier in row.case.criteria)
        for identifier in criteria_ids
    }
