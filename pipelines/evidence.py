"""The evidence for a candidate: tests shown failing without it and passing with it (design section 4)."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Literal

from pipelines.candidate import Candidate, Outcome, Record, Status, TestCase, Verdict
from pipelines.checks.command import CommandVerdict, run_test_command
from pipelines.checks.job import check, run_repository_tests, run_test_file
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

    state: Literal["none", "same", "worse", "cut off", "not runnable"]
    """`cut off`: the suite ended early once; only tests that finished both times are compared."""
    passed_before: int = 0
    passed_after: int = 0
    command: str = ""
    """The repository's own test command, where its configuration names one: then no single test is known."""
    broken: tuple[str, ...] = ()
    """Ids of tests that passed on the base and no longer do."""
    diagnosis: str = ""
    blocked_hosts: tuple[str, ...] = ()
    """Hosts that these tests tried to reach on the base, in a sandbox that has no network."""


class Evidence(Record):
    """What is known about the candidate."""

    rows: tuple[Row, ...]
    """Tests that go into the pull request."""
    disputed: tuple[Row, ...] = ()
    """Tests that the model wrote and the candidate fails; they decide nothing and are not committed."""
    vacuous: tuple[Row, ...] = ()
    """Tests that pass without the code; thrown out."""
    problems: tuple[str, ...] = ()
    """What the committed test file does, run as it is committed, that its rows do not say."""
    repository: RepositoryTests
    blocked_hosts: tuple[str, ...] = ()
    """Hosts that the new code tried to reach while its tests ran."""

    @property
    def given(self) -> tuple[Row, ...]:
        """The rows of `given` tests."""
        return tuple(row for row in self.rows if row.case.trust == "given")


async def gather_evidence(run: Run, task: Task, candidate: Candidate) -> tuple[Evidence, str]:
    """The evidence, and the test file that belongs into the pull request."""
    cases = [*task.given, *task.written]
    run.report("proving", f"{len(cases)} tests on base, stub and candidate")
    rows = await _rows(run, task, candidate, cases)
    kept, disputed, vacuous = sort_rows(rows)
    tests = rendered_tests(task, candidate, [row.case for row in kept])
    files = task.complete_files(candidate) | ({task.test_path: tests} if tests else {})
    problems, hosts = await _as_committed(run.fork("committed"), task, files, kept) if tests else ((), ())
    repository, more = await _repository_tests(run, task, files, kept)
    evidence = Evidence(
        rows=kept,
        disputed=disputed,
        vacuous=vacuous,
        problems=(*problems, *more),
        repository=repository,
        blocked_hosts=hosts,
    )
    return evidence, tests


def unproven(task: Task, verdict: Verdict, reason: str) -> Evidence:
    """What is left to show when the Budget ended before there was evidence: the given tests."""
    rows = tuple(
        Row(
            case=case,
            base="not_run",
            stub="not_run",
            head=verdict.outcomes[case.name].status,
            message=verdict.outcomes[case.name].message,
        )
        for case in task.given
    )
    return Evidence(rows=rows, repository=RepositoryTests(state="not runnable", diagnosis=reason))


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


async def _as_committed(
    run: Run, task: Task, files: Mapping[str, str], rows: Sequence[Row]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is wrong with the test file, and the hosts that it tried to reach."""
    verdict = await run_test_file(run, task, files, label="the test file as it is committed")
    problems = committed_problems(verdict, task.test_path, rows)
    if not verdict.complete:
        problems = (*problems, f"it does not come to its end: {verdict.diagnosis}")
    return problems, verdict.blocked_hosts


def committed_problems(verdict: Verdict, test_path: str, rows: Sequence[Row]) -> tuple[str, ...]:
    """Tests of the file that did not pass although their row says so, and those that have no row."""
    failing = {row.case.name for row in rows if row.head != "passed"}
    expected = {row.case.name for row in rows}
    seen = {name.rpartition("::")[2]: o for name, o in verdict.outcomes.items() if name.startswith(test_path)}
    return tuple(
        f"`{name}` is {outcome.status}: {outcome.message[-300:]}".strip()
        for name, outcome in seen.items()
        if (not outcome.passed and name not in failing) or name not in expected
    )


async def _repository_tests(
    run: Run, task: Task, files: Mapping[str, str], rows: Sequence[Row]
) -> tuple[RepositoryTests, tuple[str, ...]]:
    """The repository's own tests before and after, and what the new tests do in its configuration."""
    if task.rules.test_command:
        return await _test_command(run, task, files), ()
    if task.layout.test_command is None:
        return RepositoryTests(state="none"), ()
    run.report("proving", "the repository's own tests before and after")
    before = await run_repository_tests(run.fork("own-base"), task, {}, label="repository tests, base")
    if not any(outcome.passed for outcome in before.outcomes.values()):
        why = _why_not_runnable(before)
        return RepositoryTests(state="not runnable", diagnosis=why, blocked_hosts=before.blocked_hosts), ()
    after = await run_repository_tests(run.fork("own-head"), task, files, label="repository tests, head")
    problems = committed_problems(after, task.test_path, rows) if after.complete else ()
    return compare_repository(before, after), tuple(f"in the repository's suite {p}" for p in problems)


async def _test_command(run: Run, task: Task, files: Mapping[str, str]) -> RepositoryTests:
    """The repository's own test command before and after; what fails before says nothing about after."""
    command = shlex.join(task.rules.test_command)
    run.report("proving", f"the repository's own `{command}` before and after")
    before = await run_test_command(run.fork("own-base"), task, {}, label="repository's command, base")
    if not before.ok:
        return RepositoryTests(
            state="not runnable",
            command=command,
            diagnosis=_how_it_ended(before),
            blocked_hosts=before.blocked_hosts,
        )
    after = await run_test_command(run.fork("own-head"), task, files, label="repository's command, head")
    return RepositoryTests(
        state="same" if after.ok else "worse",
        command=command,
        diagnosis="" if after.ok else _how_it_ended(after),
        blocked_hosts=before.blocked_hosts,
    )


def _how_it_ended(verdict: CommandVerdict) -> str:
    end = f"by the {verdict.limit} limit" if verdict.limit else f"with exit code {verdict.exit_code}"
    return f"ended {end}\n{verdict.tail}"


def compare_repository(before: Verdict, after: Verdict) -> RepositoryTests:
    """Worse as soon as one test that passed before does not pass after; a suite cut off proves less."""
    passing = [name for name, outcome in before.outcomes.items() if outcome.passed]
    lost = Outcome(status="not_run", seconds=0.0)
    now = {name: after.outcomes.get(name, lost) for name in passing}
    cut = not (before.complete and after.complete)
    unknown = "not_run" if cut else None
    broken = tuple(name for name, o in now.items() if not o.passed and o.status != unknown)
    return RepositoryTests(
        state="worse" if broken else "cut off" if cut else "same",
        passed_before=len(passing),
        passed_after=sum(outcome.passed for outcome in now.values()),
        broken=broken,
        diagnosis=(before.diagnosis or after.diagnosis) if broken or cut else "",
        blocked_hosts=before.blocked_hosts,
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
