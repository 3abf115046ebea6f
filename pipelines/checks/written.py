"""Tests that the model writes from the requirement alone, labelled by how many generations agree.

A generation is one vote per call; only an expected value with two votes and more than half of them is
`agreed`, everything else is `guessed` (design section 4, rule 3).
"""

import ast
import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from pipelines.candidate import TestCase, Trust
from pipelines.checks.given import equality, free_names
from pipelines.coding import FENCE, bare_stub, stubs_text
from pipelines.concurrency import together
from pipelines.errors import ModelError
from pipelines.model.code_blocks import extract_code
from pipelines.model.protocol import ModelRequest
from pipelines.prompting import prompt
from pipelines.requirement.types import Signature
from pipelines.run import Run
from pipelines.task import Task


class WritingParameters(BaseModel):
    """How many tests are written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    generations: int = Field(default=3, ge=0)
    checks: int = Field(default=6, gt=0)
    temperature: float = Field(default=0.7, ge=0, le=2)
    max_tokens: int = Field(default=320, gt=0)


class Check(NamedTuple):
    """One check as a generation wrote it."""

    call: str
    """The call under test, or '' for a test of several statements."""
    expected: str
    body: tuple[str, ...]
    """For a test of several statements."""
    criteria: tuple[str, ...]

    @property
    def subject(self) -> str:
        """Checks with one subject compete by their expected values."""
        return self.call or "\n".join(self.body)


async def write_tests(run: Run, task: Task, parameters: WritingParameters) -> tuple[TestCase, ...]:
    """Labelled test cases for each function or class of the requirement; none when the model gives none."""
    subjects = [s for s in task.requirement.signatures if s.kind in ("function", "class")][:3]
    jobs = [
        _generation(run.fork(f"tests-{subject.name}-{number}"), task, subject, parameters)
        for subject in subjects
        for number in range(1, parameters.generations + 1)
    ]
    generations = await together(jobs)
    known = {case.call for case in task.given if case.call}
    return label_checks([[c for c in checks if c.call not in known] for checks in generations])


async def _generation(run: Run, task: Task, subject: Signature, parameters: WritingParameters) -> list[Check]:
    run.report("writing tests", subject.name)
    stub = bare_stub(task)
    # Started like this, a small model writes checks; otherwise it likes to write the function first.
    opening = f"assert {subject.name}(" if subject.kind == "function" else ""
    messages = prompt(
        "direct/tester",
        bare=bool(stub),
        stub=stub,
        title=task.requirement.title,
        body=task.requirement.body,
        stubs=stubs_text(task),
        conventions=task.conventions(task.targets[0].path),
        criteria=() if stub else task.requirement.criteria,
        name=subject.name,
        is_class=subject.kind == "class",
        count=parameters.checks,
    )
    request = ModelRequest(
        role="executor",
        messages=messages,
        prefill=FENCE + opening,
        stop=("\n```", "\ndef ", "\nclass ", "\ntry:") if opening else ("\n```",),
        max_tokens=parameters.max_tokens,
        temperature=parameters.temperature,
        seed=run.seed,
    )
    try:
        completion = await run.complete(request, label=f"tests of {subject.name}")
    except ModelError as error:
        run.decide("do without these tests", str(error))
        return []
    # A server that cannot continue a started answer begins its own.
    readings = [opening + completion.text, completion.text]
    return max([await asyncio.to_thread(_checks_of, text, subject.name) for text in readings], key=len)


def _checks_of(text: str, name: str) -> list[Check]:
    try:
        # A list of checks that was cut off is still a list of checks.
        return read_checks(extract_code(text, prefilled=True, salvage=True), name)
    except ModelError:
        return []


def read_checks(source: str, name: str) -> list[Check]:
    """The usable checks of a generation: they test `name`, compare with a literal, and stand alone."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    lines = source.split("\n")
    checks: list[Check] = []
    for node in tree.body:
        if isinstance(node, ast.Assert):
            checks += _from_assert(node, name, lines)
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test") and not node.args.args:
            checks += _from_function(node, name)
    return checks


def _from_assert(node: ast.Assert, name: str, lines: Sequence[str]) -> list[Check]:
    match node.test:
        case ast.Compare(left=ast.Call() as call, ops=[ast.Eq() | ast.Is()], comparators=[expected]):
            pass
        case ast.Call() as call:
            expected = ast.Constant(value=True)
        case ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call):
            expected = ast.Constant(value=False)
        case _:
            return []
    if not (isinstance(call.func, ast.Name) and call.func.id == name and _is_literal(expected)):
        return []
    criteria = tuple(dict.fromkeys(re.findall(r"\bC\d+\b", lines[(node.end_lineno or node.lineno) - 1])))
    return [Check(call=ast.unparse(call), expected=ast.unparse(expected), body=(), criteria=criteria)]


def _from_function(node: ast.FunctionDef, name: str) -> list[Check]:
    body = [item for item in node.body if not _is_docstring(item)]
    uses = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
    if name not in uses or not any(isinstance(item, ast.Assert) for item in body):
        return []
    return [Check(call="", expected="", body=tuple(ast.unparse(item) for item in body), criteria=())]


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def label_checks(generations: Iterable[Sequence[Check]]) -> tuple[TestCase, ...]:
    """One test case per subject with its most frequent expected value and the trust that it earned."""
    votes: dict[str, Counter[str]] = {}
    first: dict[tuple[str, str], Check] = {}
    for checks in generations:
        for subject, expected in dict.fromkeys((check.subject, check.expected) for check in checks):
            votes.setdefault(subject, Counter())[expected] += 1
        for check in checks:
            first.setdefault((check.subject, check.expected), check)
    cases: list[TestCase] = []
    for subject, counts in votes.items():
        expected, count = counts.most_common(1)[0]
        agreed = count >= 2 and 2 * count > counts.total()
        cases.append(
            _case(first[subject, expected], "agreed" if agreed else "guessed", count, len(cases) + 1)
        )
    return tuple(cases)


def _case(check: Check, trust: Trust, votes: int, number: int) -> TestCase:
    body = equality(check.call, check.expected) if check.call else check.body
    said = f"{votes} generation{'s' if votes > 1 else ''}"
    return TestCase(
        name=f"test_{trust}_{number}",
        trust=trust,
        body=body,
        names=free_names(body),
        title=f"{check.call or 'several steps'}, as {said} said",
        call=check.call,
        criteria=check.criteria,
    )
