"""`issuewright doctor`: everything the main job needs, tried for real, with what to do about each fault."""

import ast
import shutil
import subprocess
import time
from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from bot.git.process import check_version
from bot.services import open_model
from bot.settings import Settings
from pipelines.errors import ModelError, PipelineError
from pipelines.model.code_blocks import extract_code
from pipelines.model.protocol import Message, Model, ModelRequest
from pipelines.model.structured import ask_json
from pipelines.model.weights import list_weights
from sandbox import Limits, SandboxBackend, SandboxError, choose_backend

MIN_CONTEXT = 4096
SLOW_TOKENS_PER_SECOND = 2.0

State = Literal["ok", "warning", "fault"]


class Finding(NamedTuple):
    """What a check found."""

    name: str
    state: State
    detail: str


async def examine(settings: Settings, console: Console, *, fetch: bool = False) -> bool:
    """Print a table of findings and a verdict; whether the main job can run here."""
    findings = [check_git(), *await _sandbox_findings(settings)]
    findings += await _model_findings(settings, fetch=fetch)
    table = Table("check", "state", "finding")
    colours = {"ok": "green", "warning": "yellow", "fault": "red"}
    for finding in findings:
        table.add_row(finding.name, f"[{colours[finding.state]}]{finding.state}[/]", finding.detail)
    console.print(table)
    console.print(verdict(findings), markup=False, soft_wrap=True)
    return not any(finding.state == "fault" for finding in findings)


def verdict(findings: list[Finding]) -> str:
    """One sentence that a person can act on."""
    faults = [finding.name for finding in findings if finding.state == "fault"]
    warnings = [finding.name for finding in findings if finding.state == "warning"]
    if faults:
        return f"Not ready: mend {', '.join(faults)} first."
    if warnings:
        return f"Ready, but look at {', '.join(warnings)}."
    return "Ready: `issuewright sample` shows the whole job."


def check_git() -> Finding:
    """Whether a recent enough git is there."""
    path = shutil.which("git")
    if path is None:
        return Finding("git", "fault", "not found; install it, as in `apt-get install git`")
    text = subprocess.run([path, "version"], capture_output=True, text=True, check=False).stdout.strip()
    try:
        check_version(text)
    except PipelineError as error:
        return Finding("git", "fault", str(error))
    return Finding("git", "ok", text)


async def _sandbox_findings(settings: Settings) -> list[Finding]:
    try:
        backend = await choose_backend(settings.sandbox, docker=settings.docker.choice())
        try:
            return [await _command_finding(backend)]
        finally:
            await backend.close()
    except SandboxError as error:
        return [Finding("sandbox", "fault", str(error))]


async def _command_finding(backend: SandboxBackend) -> Finding:
    box = await backend.create(Limits(wall_seconds=20), job="doctor")
    try:
        started = time.monotonic()
        result = await box.run(["python", "-c", "import pytest, sys; print(sys.version.split()[0])"])
        seconds = time.monotonic() - started
    finally:
        await box.destroy()
    if not result.ok:
        return Finding("sandbox", "fault", f"{backend.name}: {result.stderr.text.strip()[-300:]}")
    python = result.stdout.text.strip()
    return Finding("sandbox", "ok", f"{backend.name}, Python {python}, a command in {seconds * 1000:.0f} ms")


async def _model_findings(settings: Settings, *, fetch: bool) -> list[Finding]:
    if settings.executor is None and settings.gguf is None and not fetch:
        ready = [weights for weights in list_weights(folder=settings.cache_dir) if weights.verified]
        if not ready:
            hint = "not fetched yet (1.1 GB); `issuewright doctor --fetch` fetches and tries it"
            return [Finding("model", "warning", hint)]
    try:
        async with open_model(settings) as model:
            return await probe_model(model)
    except PipelineError as error:
        return [Finding("model", "fault", str(error))]


async def probe_model(model: Model) -> list[Finding]:
    """Code in a fence, stop tokens, JSON by schema, context length and speed, each by a real call."""
    probes: list[tuple[str, Callable[[Model], Awaitable[Finding]]]] = [
        ("model: code", _probe_code),
        ("model: JSON", _probe_json),
        ("model: context", _probe_context),
    ]
    findings = []
    for name, probe in probes:
        try:
            findings.append(await probe(model))
        except PipelineError as error:
            findings.append(Finding(name, "fault", str(error)))
    return findings


async def _probe_code(model: Model) -> Finding:
    question = "Write a Python function `add(a, b)` that returns the sum of two numbers. Code only."
    request = ModelRequest(
        role="executor",
        messages=(Message(role="user", content=question),),
        prefill="```python\n",
        stop=("\n```",),
        max_tokens=200,
    )
    completion = await model.complete(request)
    speed = completion.completion_tokens / max(completion.seconds, 1e-6)
    name = "model: code"
    if completion.finish_reason == "length":
        return Finding(name, "fault", "the answer never ended: stop sequences do not work on this server")
    try:
        tree = ast.parse(extract_code(completion.text, prefilled=True))
    except (ModelError, SyntaxError) as error:
        return Finding(name, "fault", f"the answer is not Python ({error}); try a larger model")
    if not any(isinstance(node, ast.FunctionDef) and node.name == "add" for node in tree.body):
        return Finding(
            name, "warning", "the answer does not define the function asked for; try a larger model"
        )
    state: State = "ok" if speed >= SLOW_TOKENS_PER_SECOND else "warning"
    return Finding(name, state, f"{completion.model}: fence and stop work, {speed:.1f} tokens/s")


class _Answer(BaseModel):
    colour: Literal["red", "green", "blue"]
    number: int


async def _probe_json(model: Model) -> Finding:
    question = "Name the colour of grass and the number of days in a week, as JSON."
    request = ModelRequest(role="planner", messages=(Message(role="user", content=question),), max_tokens=100)
    answer = await ask_json(model, request, _Answer, attempts=2, fallback=None)
    right = answer == _Answer(colour="green", number=7)
    return Finding(
        "model: JSON", "ok" if right else "warning", f"schema kept; answered {answer.model_dump_json()}"
    )


async def _probe_context(model: Model) -> Finding:
    """A long prompt must be read, not cut: the word to repeat stands at its beginning."""
    filler = "The quick brown fox jumps over the lazy dog. " * (MIN_CONTEXT // 14)
    question = f"The password is `pelican`.\n\n{filler}\n\nWhat is the password? Answer with one word."
    request = ModelRequest(role="executor", messages=(Message(role="user", content=question),), max_tokens=16)
    completion = await model.complete(request)
    name = "model: context"
    detail = f"{completion.prompt_tokens} tokens read"
    if "pelican" in completion.text.lower():
        return Finding(name, "ok", detail)
    return Finding(name, "warning", f"{detail}, but the answer misses what stood at the beginning")
