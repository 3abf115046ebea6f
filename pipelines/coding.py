"""Asking the model for whole files: the first answer, samples and repairs share this."""

import ast
import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.candidate import Candidate, Outcome, Verdict
from pipelines.errors import ModelError
from pipelines.merge import merge_module
from pipelines.model.code_blocks import extract_code
from pipelines.model.protocol import Message, ModelRequest
from pipelines.prompting import prompt
from pipelines.repository import Target
from pipelines.rule_repair import supply_names
from pipelines.run import Run
from pipelines.task import Task

FENCE = "```python\n"
CODE_TOKENS = 1536


@dataclass(frozen=True)
class Sampling:
    """How an answer is drawn."""

    temperature: float = 0.0
    seed: int | None = None


GREEDY = Sampling()


async def write_candidate(run: Run, task: Task, *, origin: str, sampling: Sampling = GREEDY) -> Candidate:
    """One file per target, each seeing the earlier ones. Raises ModelError when an answer is unusable."""
    files: dict[str, str] = {}
    for target in task.targets:
        run.report("writing", f"{target.path} ({origin})")
        messages = prompt("direct/coder", **_facts(task, target), earlier=dict(files))
        files[target.path] = await _ask_for_file(run, task, target, messages, origin, sampling)
    return Candidate(files=files, origin=origin)


async def repair_candidate(
    run: Run, task: Task, candidate: Candidate, verdict: Verdict, *, origin: str, sampling: Sampling = GREEDY
) -> Candidate:
    """The candidate with the failing file written again, failing code and output in view."""
    target = _suspect(task, candidate, verdict)
    run.report("repairing", f"{target.path} ({origin})")
    messages = prompt(
        "direct/repair",
        **_facts(task, target),
        code=candidate.files[target.path],
        failure=failure_text(verdict),
    )
    text = await _ask_for_file(run, task, target, messages, origin, sampling)
    return Candidate(files={**candidate.files, target.path: text}, origin=origin)


async def _ask_for_file(
    run: Run, task: Task, target: Target, messages: tuple[Message, ...], origin: str, sampling: Sampling
) -> str:
    request = ModelRequest(
        role="executor",
        messages=messages,
        prefill=FENCE,
        stop=("\n```",),
        max_tokens=CODE_TOKENS,
        temperature=sampling.temperature,
        seed=sampling.seed,
    )
    completion = await run.complete(request, label=f"{origin}: {target.path}")
    if completion.finish_reason == "length":
        raise ModelError(f"the answer for {target.path} ({origin}) was cut off after {CODE_TOKENS} tokens")
    # Answers are read off the loop: parsing a model's worst can take a moment.
    code = await asyncio.to_thread(extract_code, completion.text, prefilled=True)
    return finish_file(task, target, code)


def finish_file(task: Task, target: Target, code: str) -> str:
    """The file to write: missing names supplied, merged into what the base has. Raises ModelError."""
    if not task.requirement.is_program:
        # A program must call itself; anything else must not.
        code = without_self_tests(code)
    code = supply_names(code, [block.code for block in task.requirement.code_blocks])
    existing = task.existing(target.path)
    return merge_module(existing, code) if existing else code


def without_self_tests(source: str) -> str:
    """The source without top-level asserts and calls of its own functions, added against orders."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return source
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    dropped: set[int] = set()
    for node in tree.body:
        if isinstance(node, ast.Assert) or _prints_or_calls(node, own):
            dropped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    if not dropped:
        return source
    lines = source.split("\n")  # not splitlines, which knows more line ends than Python's parser
    kept = [line for number, line in enumerate(lines, start=1) if number not in dropped]
    return "\n".join(kept).rstrip() + "\n"


def _prints_or_calls(node: ast.stmt, own: set[str]) -> bool:
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        return False
    called = node.value.func
    used = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    return isinstance(called, ast.Name) and (called.id == "print" or called.id in own) and bool(used & own)


def _facts(task: Task, target: Target) -> dict[str, object]:
    requirement = task.requirement
    stub = bare_stub(task)
    return {
        "bare": bool(stub),
        "stub": stub,
        "title": requirement.title,
        "body": requirement.body,
        "path": target.path,
        "several": len(task.targets) > 1,
        "existing": task.existing(target.path),
        "stubs": stubs_text(task),
        "contract": contract_text(task, target),
        "conventions": task.conventions(target.path),
    }


def bare_stub(task: Task) -> str:
    """The code to complete, when the issue is nothing but one stub for one new file; '' otherwise.

    The shortest prompt is worth most to a small model, so such an issue is asked as plain completion.
    """
    requirement = task.requirement
    blocks = requirement.code_blocks
    alone = len(blocks) == 1 and len(task.targets) == 1 and not requirement.summary.strip()
    stubbed = any(signature.stub for signature in requirement.signatures)
    return blocks[0].code if alone and stubbed and not task.targets[0].exists else ""


def stubs_text(task: Task) -> str:
    """Signatures that are not in the issue's own text, one after the other."""
    return "\n\n".join(s.stub for s in task.requirement.signatures if s.stub and s.origin == "model")


def contract_text(task: Task, target: Target) -> str:
    """What the given examples demand of the file, where no stub shows it."""
    if task.requirement.is_program:
        return (
            f"It is a program: started as `python {target.path}`, it reads standard input to its end and "
            "prints the result to standard output."
        )
    names = [s.name for s in task.requirement.signatures if s.origin == "example"]
    return (
        f"It must define {', '.join(f'`{name}`' for name in names)} as the examples use it." if names else ""
    )


def _suspect(task: Task, candidate: Candidate, verdict: Verdict) -> Target:
    """The target that the failures mention, else the first."""
    text = failure_text(verdict)
    present = [target for target in task.targets if target.path in candidate.files]
    return next((target for target in present[1:] if target.path in text), present[0])


def failure_text(verdict: Verdict, *, tests: int = 3, characters: int = 1500) -> str:
    """The failures worth reading: names, syntax and types first (the easiest repairs), then values."""
    failing = {name: outcome for name, outcome in verdict.outcomes.items() if not outcome.passed}
    ordered = sorted(failing.items(), key=lambda item: _severity(item[1]))
    seen: dict[str, str] = {}
    for name, outcome in ordered:
        seen.setdefault(outcome.message.strip(), name)
    texts = [f"{name}: {message[:characters]}" for message, name in list(seen.items())[:tests]]
    return "\n\n".join(texts) or verdict.diagnosis[:characters]


_EARLY = ("SyntaxError", "IndentationError", "ImportError", "ModuleNotFound", "NameError", "TypeError")


def _severity(outcome: Outcome) -> int:
    return 0 if any(kind in outcome.message for kind in _EARLY) else 1


def files_digest(files: Mapping[str, str]) -> str:
    """Equal for candidates whose Python means the same: spacing and comments do not count."""
    parts = []
    for path, text in sorted(files.items()):
        try:
            parts.append(f"{path}\0{ast.dump(ast.parse(text))}")
        except (SyntaxError, ValueError):
            parts.append(f"{path}\0{text}")
    return "\0".join(parts)
