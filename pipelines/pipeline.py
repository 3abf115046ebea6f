"""From a Requirement to a candidate with its evidence: the whole of a Run, whatever the strategy."""

import ast
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pipelines.analysis import Completed, complete_requirement
from pipelines.budget import Spent
from pipelines.candidate import Candidate, Record, TestCase
from pipelines.checks.given import given_cases
from pipelines.checks.special_cases import special_cases
from pipelines.checks.written import WritingParameters, write_tests
from pipelines.concurrency import settle
from pipelines.errors import BudgetExceeded, RefusalError
from pipelines.evidence import Evidence, RepositoryTests, gather_evidence, rendered_tests, unproven
from pipelines.repository import RepositorySnapshot, choose_target, read_layout, snake_slug
from pipelines.repository.rules import NO_RULES, RepositoryRules, check_allowed
from pipelines.requirement.clarity import question_for
from pipelines.requirement.types import Requirement
from pipelines.run import Run
from pipelines.strategies.base import Solution, Strategy
from pipelines.task import Task

_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"

ResultStatus = Literal["green", "draft", "question"]


class Result(Record):
    """What a Run came to."""

    status: ResultStatus
    reasons: tuple[str, ...]
    """Why it is not green; empty when it is."""
    requirement: Requirement
    candidate: Candidate | None = None
    files: dict[str, str] = Field(default_factory=dict)
    """Everything to commit, tests included."""
    test_path: str = ""
    evidence: Evidence | None = None
    assumptions: tuple[str, ...] = ()
    spent: Spent = Spent()
    spent_by_role: dict[str, Spent] = Field(default_factory=dict)
    models: tuple[str, ...] = ()
    """Names of the models that answered."""


class PipelineOptions(BaseModel):
    """What a Run may be told besides its strategy."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tester: WritingParameters = WritingParameters()
    rules: RepositoryRules = NO_RULES


def question_before(
    requirement: Requirement, snapshot: RepositorySnapshot, rules: RepositoryRules = NO_RULES
) -> Result | None:
    """A question where no code could be right, asked before anything is spent.

    Raises RefusalError for a target path that the repository cannot have or does not allow.
    """
    task = place(Completed(requirement=requirement), snapshot, rules)
    for target in task.targets:
        check_extendable(target.path, snapshot)
    question = question_for(requirement)
    return Result(status="question", reasons=(question,), requirement=requirement) if question else None


async def solve_requirement(
    run: Run,
    requirement: Requirement,
    snapshot: RepositorySnapshot,
    strategy: Strategy,
    options: PipelineOptions,
) -> Result:
    """A candidate with its evidence. Raises RefusalError, InfrastructureError."""
    completed = await complete_requirement(run.fork("analysis"), requirement)
    task = place(completed, snapshot, options.rules)
    task, solution = await _solve_and_write(run, task, strategy, options)
    if solution.best is None:
        reason = solution.stopped or "no answer of the model could be used as code"
        return _without_candidate(run, task, completed, reason)
    return await _prove(run, task, completed, solution)


async def _solve_and_write(
    run: Run, task: Task, strategy: Strategy, options: PipelineOptions
) -> tuple[Task, Solution]:
    """Code and tests, at once where given tests judge the code; else tests first, whose inputs it needs."""
    if not task.given:
        task = replace(task, written=await _write(run, task, options))
        return task, await strategy.solve(run.fork(strategy.name), task)
    solving = asyncio.ensure_future(strategy.solve(run.fork(strategy.name), task))
    writing = asyncio.ensure_future(_write(run, task, options))
    await settle(solving, writing)
    return replace(task, written=writing.result()), solving.result()


def place(completed: Completed, snapshot: RepositorySnapshot, rules: RepositoryRules = NO_RULES) -> Task:
    """The requirement in its place in the repository. Raises RefusalError for a target that may not be."""
    requirement = completed.requirement
    layout = read_layout(snapshot)
    names = [signature.name for signature in requirement.signatures]
    wanted = names[0] if len(names) == 1 else completed.module or requirement.title
    targets = choose_target(
        layout,
        snapshot,
        requested=requirement.target_paths,
        slug=snake_slug(wanted, fallback="generated"),
        preferred=rules.target_paths,
    )
    task = Task(
        requirement=requirement,
        snapshot=snapshot,
        layout=layout,
        targets=targets,
        given=given_cases(requirement, program=targets[0].path),
        rules=rules,
    )
    check_allowed(task.planned_paths, rules.allowed_paths)
    return task


def check_extendable(path: str, snapshot: RepositorySnapshot) -> None:
    """Raise RefusalError for an existing file that cannot be extended without harm."""
    content = snapshot.files.get(path)
    if content is None:
        return
    try:
        ast.parse(content.decode("utf-8"))
    except (SyntaxError, ValueError) as error:
        raise RefusalError(
            f"the existing file {path} cannot be extended: it is not UTF-8 text that Python {_PYTHON} reads "
            f"({error}); name another file in the issue, or convert this one first"
        ) from error


async def _write(run: Run, task: Task, options: PipelineOptions) -> tuple[TestCase, ...]:
    try:
        return await write_tests(run.fork("tests"), task, options.tester)
    except BudgetExceeded as limit:
        run.decide("write no more tests", str(limit))
        return ()


async def _prove(run: Run, task: Task, completed: Completed, solution: Solution) -> Result:
    assert solution.best is not None  # noqa: S101
    candidate = solution.best.candidate
    try:
        evidence, tests = await gather_evidence(run.fork("evidence"), task, candidate)
    except BudgetExceeded as limit:
        # The best so far is kept, with what is known of it.
        reason = f"{limit}, before the candidate could be proven"
        evidence = unproven(task, solution.best.verdict, reason)
        tests = rendered_tests(task, candidate, task.given)
        solution = solution._replace(stopped=reason)
    reasons = weaknesses(task, candidate, evidence)
    if solution.stopped:
        reasons = (*reasons, solution.stopped)
    files = task.complete_files(candidate) | ({task.test_path: tests} if tests else {})
    changed = {path: text for path, text in files.items() if task.snapshot.files.get(path) != text.encode()}
    check_allowed(changed, task.rules.allowed_paths)
    if not changed:
        reasons = (*reasons, "The repository already has exactly these files; there is nothing to commit.")
    return Result(
        status="draft" if reasons else "green",
        reasons=reasons,
        requirement=task.requirement,
        candidate=candidate,
        files=changed,
        test_path=task.test_path if tests else "",
        evidence=evidence,
        assumptions=(*completed.assumptions, *_placement(task), *task.layout.notes),
        spent=run.services.meter.spent,
        spent_by_role=run.services.meter.by_role,
        models=tuple(run.services.meter.models),
    )


def weaknesses(task: Task, candidate: Candidate, evidence: Evidence) -> tuple[str, ...]:
    """Everything that forbids to call the candidate green, in the words for the pull request."""
    reasons: list[str] = []
    if not evidence.given:
        reasons.append(
            "The issue gives no example that could be read, so nothing a person wrote proves the code. "
            "Confirm or correct the values below, or add examples to the issue."
        )
    failing = [row for row in evidence.given if row.head != "passed"]
    if failing:
        reasons.append(f"{len(failing)} of {len(evidence.given)} given tests do not pass.")
    idle = [row.case.name for row in evidence.given if not row.can_fail]
    if idle:
        reasons.append(f"Given tests pass without the new code, so they prove nothing: {', '.join(idle)}.")
    if evidence.problems:
        reasons.append(
            "The committed test file does more than its table says: " + "; ".join(evidence.problems)
        )
    if evidence.repository.state == "worse":
        reasons.append(_worse(evidence.repository))
    prose = f"{task.requirement.title}\n{task.requirement.summary}"
    looked_up = special_cases(candidate, task.given, prose)
    if looked_up:
        reasons.append(
            "The code seems to look examples up instead of computing them: " + "; ".join(looked_up)
        )
    return tuple(reasons)


def _worse(own: RepositoryTests) -> str:
    if own.command:
        return f"The repository's own test command `{own.command}` succeeded before and fails now."
    return f"{len(own.broken)} of the repository's own tests no longer pass."


def _placement(task: Task) -> Sequence[str]:
    if task.requirement.target_paths:
        return ()
    paths = ", ".join(f"`{target.path}`" for target in task.targets)
    source = "configuration" if task.rules.target_paths else "layout"
    return (f"The issue names no path; the repository's {source} suggests {paths}.",)


def _without_candidate(run: Run, task: Task, completed: Completed, reason: str) -> Result:
    run.decide("give up", reason)
    return Result(
        status="draft",
        reasons=(reason,),
        requirement=task.requirement,
        assumptions=completed.assumptions,
        spent=run.services.meter.spent,
        spent_by_role=run.services.meter.by_role,
        models=tuple(run.services.meter.models),
    )
