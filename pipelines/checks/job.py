"""Running tests of a candidate in a fresh box."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.candidate import Candidate, Outcome, Status, TestCase, Verdict
from pipelines.checks.render import name_homes, render_test_file
from pipelines.run import Run
from pipelines.task import Task, overlay
from sandbox import Limits, Sandbox, TestReport, run_pytest

CHECK_LIMITS = Limits(wall_seconds=60)
REPOSITORY_LIMITS = Limits(wall_seconds=300)

_CONFIG = ".issuewright/pytest.ini"
_ISOLATED = ("--noconftest", "--import-mode=importlib", "-c", _CONFIG)
"""The candidate is judged by its tests alone, whatever the repository configures for its own."""


@dataclass(frozen=True)
class PytestJob:
    """Run pytest over files in a box; the verdict is by test id."""

    label: str
    tree: str
    base: Mapping[str, bytes]
    files: Mapping[str, str]
    paths: tuple[str, ...]
    pythonpath: tuple[str, ...]
    options: tuple[str, ...] = ()
    limits: Limits = CHECK_LIMITS
    by_name: bool = True
    """Whether outcomes are keyed by function name, or by the full test id."""

    @property
    def result_type(self) -> type[Verdict]:
        """Verdicts are what is stored."""
        return Verdict

    def digest(self) -> str:
        """Hash of tree, files, paths, options and limits."""
        parts = [self.tree, *self.paths, *self.pythonpath, *self.options, repr(self.limits)]
        parts += [f"{path}\0{text}" for path, text in sorted(self.files.items())]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    async def run(self, box: Sandbox) -> Verdict:
        """Put the files, run pytest, read its report."""
        await box.put_files(overlay(self.base, self.files))
        report = await run_pytest(box, self.paths, pythonpath=self.pythonpath, options=self.options)
        return _verdict(report, by_name=self.by_name)


def _verdict(report: TestReport, *, by_name: bool) -> Verdict:
    outcomes: dict[str, Outcome] = {}
    for item in report.outcomes:
        name = item.node_id.rpartition("::")[2] if by_name else item.node_id
        outcomes[name] = Outcome(status=item.status, seconds=item.seconds, message=item.message)
    return Verdict(
        outcomes=outcomes,
        complete=report.complete,
        diagnosis=report.diagnosis,
        limit=report.exec.limit or "",
        seconds=report.exec.usage.wall_seconds,
        blocked_hosts=report.blocked_hosts,
    )


async def check(
    run: Run,
    task: Task,
    candidate: Candidate,
    cases: Sequence[TestCase],
    *,
    label: str,
    written_for: Candidate | None = None,
) -> Verdict:
    """The verdict on a candidate, with an outcome for each of the cases, also for those that never ran.

    `written_for` is the candidate whose modules the test file imports, where it is another one.
    """
    if not cases:
        return Verdict(outcomes={}, complete=True)
    homes = name_homes(written_for or candidate, task.modules)
    default = task.targets[0].module
    tests = render_test_file(cases, title=task.requirement.title, homes=homes, default_module=default)
    job = PytestJob(
        label=label,
        tree=task.snapshot.tree,
        base=task.snapshot.files,
        files=task.complete_files(candidate) | {task.test_path: tests, _CONFIG: "[pytest]\n"},
        paths=(task.test_path,),
        pythonpath=task.layout.pythonpath,
        options=_ISOLATED,
    )
    return with_missing(await run.execute(job), cases)


def with_missing(verdict: Verdict, cases: Sequence[TestCase]) -> Verdict:
    """The verdict over exactly these cases: a test that the session lost did not pass."""
    lost = Outcome(status=_lost_status(verdict), seconds=0.0, message=_reason(verdict))
    outcomes = {case.name: verdict.outcomes.get(case.name, lost) for case in cases}
    return verdict.model_copy(update={"outcomes": outcomes})


def _lost_status(verdict: Verdict) -> Status:
    if verdict.limit:
        return "timeout" if verdict.limit == "wall" else "limit"
    return "error"


def _reason(verdict: Verdict) -> str:
    if verdict.diagnosis:
        return verdict.diagnosis
    errors = [o.message for o in verdict.outcomes.values() if o.status == "error" and o.message]
    return errors[0] if errors else "the test did not run"


async def run_test_file(run: Run, task: Task, files: Mapping[str, str], *, label: str) -> Verdict:
    """The new test file alone, exactly as it is committed, by test id."""
    job = PytestJob(
        label=label,
        tree=task.snapshot.tree,
        base=task.snapshot.files,
        files={**files, _CONFIG: "[pytest]\n"},
        paths=(task.test_path,),
        pythonpath=task.layout.pythonpath,
        options=_ISOLATED,
        by_name=False,
    )
    return await run.execute(job)


async def run_repository_tests(run: Run, task: Task, files: Mapping[str, str], *, label: str) -> Verdict:
    """The repository's whole test suite with these files on top, in its own configuration, by test id."""
    job = PytestJob(
        label=label,
        tree=task.snapshot.tree,
        base=task.snapshot.files,
        files=files,
        paths=(task.layout.test_dir,) if task.layout.test_dir in task.snapshot.directories else (".",),
        pythonpath=task.layout.pythonpath,
        limits=REPOSITORY_LIMITS,
        by_name=False,
    )
    return await run.execute(job)
