"""The one comment that tells people how their Job stands."""

from collections.abc import Sequence
from typing import Literal

from bot.jobs.types import JobOutcome, JobState
from bot.record import Record
from bot.speech.harmless import line, prose
from bot.speech.markdown import blocks, bullets, cell, code, quote, table
from bot.speech.markers import MARKER, QUESTION_MARKER, STATUS_MARKER
from bot.speech.texts import knows, say
from pipelines.budget import Budget, Spent

Command = Literal["retry", "stop", "status", "explain", "spec"]
COMMANDS: tuple[Command, ...] = ("retry", "stop", "status", "explain", "spec")

_WHILE_LIVE: tuple[Command, ...] = ("stop", "spec")
_AFTERWARDS: tuple[Command, ...] = ("retry", "explain", "spec")


class StatusStep(Record):
    """One line of the checklist."""

    name: str
    """`checks`, `run`, `explain`, `push` or `pull_request`; others are shown as they are."""
    state: Literal["waiting", "running", "done", "skipped", "failed"] = "waiting"
    detail: str = ""
    """What it is doing or what came of it, in a few words."""


class StatusView(Record):
    """Everything that the status comment shows."""

    state: JobState
    requested_by: str
    position: int | None = None
    """Place in its repository's queue, from 1."""
    steps: tuple[StatusStep, ...] = ()
    outcome: JobOutcome | None = None
    error: str = ""
    spent: Spent = Spent()
    budget: Budget | None = None
    run_id: str | None = None
    branch: str | None = None
    pull_request_url: str | None = None
    unread: tuple[str, ...] = ()
    """Attachments that nobody read."""
    link: str | None = None
    """Where more can be seen."""


def render_status(view: StatusView, *, language: str) -> str:
    """The comment's whole text, markers included."""
    requester = say(language, "status.requested_by", login=line(view.requested_by))
    asks = view.outcome is not None and view.outcome.status == "question"
    parts = [
        f"**{_headline(view, language)}** {requester}",
        _reasons(view, language),
        bullets(_step(step, language) for step in view.steps),
        _activity(view.steps, language),
        say(language, "reply.unread", names=", ".join(map(code, view.unread))) if view.unread else "",
        _links(view, language),
        _used(view, language),
        commands_line(language, _WHILE_LIVE if view.state in ("queued", "running") else _AFTERWARDS),
    ]
    return f"{MARKER}{STATUS_MARKER}{QUESTION_MARKER if asks else ''}\n{blocks(parts)}\n"


def commands_line(language: str, commands: Sequence[Command] = COMMANDS) -> str:
    """What can be asked for, and by whom."""
    listed = "; ".join(f"`/issuewright {name}` ({say(language, f'command.{name}')})" for name in commands)
    return f"{say(language, 'status.commands')} {listed}"


def _headline(view: StatusView, language: str) -> str:
    if view.state == "queued" and view.position is not None:
        return say(language, "status.queued_at", position=view.position)
    if view.state == "finished" and view.outcome is not None:
        return say(language, f"status.{view.outcome.status}")
    return say(language, f"status.{'running' if view.state == 'finished' else view.state}")


def _reasons(view: StatusView, language: str) -> str:
    reasons = [
        prose(reason) for reason in (*(view.outcome.reasons if view.outcome else ()), view.error) if reason
    ]
    if view.outcome is None or view.outcome.status not in ("question", "explained"):
        return bullets(reasons)
    if view.outcome.status == "question":
        return blocks([*map(quote, reasons), say(language, "status.reply")])
    return blocks(map(quote, reasons))


def _step(step: StatusStep, language: str) -> str:
    key = f"step.{step.name}"
    name = say(language, key) if knows(language, key) else line(step.name)
    box = "[x]" if step.state in ("done", "skipped") else "[ ]"
    if step.state == "running":
        return f"{box} **{name}**"
    words = {"skipped": say(language, "status.skipped"), "failed": say(language, "status.step_failed")}
    told = ": ".join(part for part in (words.get(step.state, ""), line(step.detail)) if part)
    return f"{box} {name}" + (f" ({told})" if told else "")


def _activity(steps: Sequence[StatusStep], language: str) -> str:
    details = [line(step.detail) for step in steps if step.state == "running" and step.detail]
    return say(language, "status.now", activity="; ".join(details)) if details else ""


def _links(view: StatusView, language: str) -> str:
    outcome = view.outcome or JobOutcome(status="nothing")
    url = view.pull_request_url or outcome.pull_request_url
    run, branch = view.run_id or outcome.run_id, view.branch or outcome.branch
    parts = [
        f"{say(language, 'status.pull_request')}: {url}" if url else "",
        f"{say(language, 'status.branch')} {code(branch)}" if branch else "",
        f"{say(language, 'status.run')} {code(run)}" if run else "",
        f"[{say(language, 'status.details')}]({view.link})" if view.link else "",
    ]
    return " · ".join(part for part in parts if part)


def _used(view: StatusView, language: str) -> str:
    spent, budget = view.spent, view.budget
    if budget is None or not (spent.model_calls or spent.sandbox_seconds):
        return ""
    amounts = (
        ("tokens", spent.tokens, budget.tokens),
        ("model_calls", spent.model_calls, budget.model_calls),
        ("sandbox_seconds", spent.sandbox_seconds, budget.sandbox_seconds),
    )
    header = ["", say(language, "column.used"), say(language, "column.limit")]
    return table(
        header,
        [(cell(say(language, f"status.{key}")), _number(used), _number(cap)) for key, used, cap in amounts],
    )


def _number(amount: float) -> str:
    """Grouped by a space, which no language reads as a decimal sign."""
    return f"{amount:,.0f}".replace(",", "\u202f")
