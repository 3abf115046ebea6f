"""Completing a requirement: the model adds only what the issue leaves out."""

import ast
import re

from pydantic import BaseModel, ConfigDict, Field

from pipelines.errors import BudgetExceeded, ModelError
from pipelines.model.protocol import Completion, Model, ModelRequest
from pipelines.model.structured import ask_json
from pipelines.prompting import prompt
from pipelines.requirement.types import Criterion, Requirement, Signature
from pipelines.run import Run


class Analysis(BaseModel):
    """What the analyst says."""

    model_config = ConfigDict(extra="ignore")

    criteria: list[str] = Field(max_length=6)
    signatures: list[str] = Field(max_length=4)
    module: str = Field(max_length=60)


class Completed(BaseModel):
    """A requirement with nothing missing, and what had to be assumed for it."""

    requirement: Requirement
    module: str = ""
    """Name that the model proposes for the module, or ''."""
    assumptions: tuple[str, ...] = ()


class _RunModel:
    """A Run seen as a plain Model, so that asking for JSON is recorded and metered too."""

    def __init__(self, run: Run, label: str) -> None:
        self._run = run
        self._label = label

    async def complete(self, request: ModelRequest) -> Completion:
        """Ask through the Run."""
        return await self._run.complete(request, label=self._label)


async def complete_requirement(run: Run, requirement: Requirement) -> Completed:
    """Criteria and signatures from the model where the issue has none; its own are never changed."""
    named = bool(requirement.signatures)
    if named and requirement.criteria:
        return Completed(requirement=requirement)
    if named and not requirement.summary.strip():
        # Nothing but a stub: its docstring is the criterion, a model would only repeat it.
        return Completed(requirement=requirement)
    analysis = await _analyse(run, requirement)
    if analysis is None:
        note = "The model's analysis could not be used; the issue's text alone was followed."
        return Completed(requirement=requirement, assumptions=(note,))
    return apply_analysis(requirement, analysis)


async def _analyse(run: Run, requirement: Requirement) -> Analysis | None:
    run.report("reading", "criteria and names that the issue leaves open")
    messages = prompt(
        "direct/analyst",
        title=requirement.title,
        body=requirement.body,
        names=", ".join(f"`{signature.name}`" for signature in requirement.signatures),
    )
    request = ModelRequest(role="planner", messages=messages, max_tokens=512)
    model: Model = _RunModel(run, "analysis of the issue")
    try:
        return await ask_json(model, request, Analysis, fallback=read_plain)
    except (ModelError, BudgetExceeded) as error:
        run.decide("go on without analysis", str(error))
        return None


def read_plain(text: str) -> Analysis | None:
    """An analysis from prose: `def` and `class` lines are signatures, bullets are criteria."""
    signatures = re.findall(r"^\W*((?:async\s+)?def\s+\w+\(.*|class\s+\w+.*)$", text, re.MULTILINE)
    criteria = [line for line in re.findall(r"^\s*(?:[-*•]|\d+[.)])\s+(.+)$", text, re.MULTILINE)]
    criteria = [line for line in criteria if not re.match(r"`?(?:def|class)\s", line)]
    if not signatures and not criteria:
        return None
    return Analysis(criteria=criteria[:6], signatures=[s.strip("` ") for s in signatures[:4]], module="")


def apply_analysis(requirement: Requirement, analysis: Analysis) -> Completed:
    """The requirement with what was missing filled in, each addition named as an assumption."""
    updates: dict[str, object] = {}
    assumptions: list[str] = []
    if not requirement.criteria:
        texts = list(dict.fromkeys(text.strip() for text in analysis.criteria if text.strip()))
        updates["criteria"] = tuple(
            Criterion(id=f"C{number}", text=text, origin="model")
            for number, text in enumerate(texts, start=1)
        )
    wanted = [] if requirement.is_program else analysis.signatures
    signatures = [s for line in wanted if (s := read_signature(line))]
    known = {signature.name for signature in requirement.signatures}
    if not known and signatures:
        updates["signatures"] = tuple(signatures)
        listed = ", ".join(f"`{signature.stub.splitlines()[0]}`" for signature in signatures)
        assumptions.append(f"The issue names no function or class; assumed {listed}.")
    module = analysis.module.strip().removesuffix(".py")
    return Completed(
        requirement=requirement.model_copy(update=updates), module=module, assumptions=tuple(assumptions)
    )


def read_signature(line: str) -> Signature | None:
    """A `def` or `class` line as the model wrote it, or None when it is not Python."""
    head = line.strip().strip("`").rstrip(":").rstrip(".").strip()
    if re.match(r"^\w+\(.*\)", head):
        head = f"def {head}"
    stub = f"{head}:\n    ..."
    try:
        (node,) = ast.parse(stub).body
    except (SyntaxError, ValueError):
        return None
    match node:
        case ast.FunctionDef(name=name, args=args):
            parameters = tuple(item.arg for item in [*args.posonlyargs, *args.args])
            return Signature(name=name, kind="function", stub=stub, parameters=parameters, origin="model")
        case ast.ClassDef(name=name):
            return Signature(name=name, kind="class", stub=stub, origin="model")
    return None
