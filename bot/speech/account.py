"""What the bot understood of an issue, and what it decided and why, for people who ask."""

from collections.abc import Sequence

from bot.jobs.types import JobOutcome
from bot.speech.harmless import line, prose
from bot.speech.markdown import blocks, bullets, cell, code, table, titled
from bot.speech.markers import MARKER
from bot.speech.texts import say
from pipelines.ledger import Decision
from pipelines.requirement.types import Example, Requirement


def spec_text(requirement: Requirement, language: str) -> str:
    """Criteria, examples, paths, and what the reader of the issue left out or could not read."""
    nothing = say(language, "spec.nothing")
    notes = [*requirement.notes, *requirement.contradictions]
    parts = [
        f"## {say(language, 'spec.title')}",
        titled(say(language, "section.criteria"), _criteria(requirement, language) or nothing),
        titled(say(language, "spec.examples"), _examples(requirement, language) or nothing),
        titled(say(language, "spec.paths"), bullets(map(code, requirement.target_paths)) or nothing),
        titled(say(language, "spec.notes"), bullets(map(prose, notes))),
    ]
    return f"{MARKER}\n{blocks(parts)}\n"


def explain_text(decisions: Sequence[Decision], outcome: JobOutcome | None, language: str) -> str:
    """What came of the last Job, and each decision on the way with its reason."""
    listed = bullets(f"**{line(decision.what)}**: {line(decision.why)}" for decision in decisions)
    parts = [
        f"## {say(language, 'explain.title')}",
        f"**{say(language, f'status.{outcome.status}')}**" if outcome else "",
        bullets(map(prose, outcome.reasons)) if outcome else "",
        listed or say(language, "explain.nothing"),
    ]
    return f"{MARKER}\n{blocks(parts)}\n"


def _criteria(requirement: Requirement, language: str) -> str:
    if not requirement.criteria:
        return ""
    header = ["", say(language, "column.criterion"), say(language, "column.from")]
    rows = [[item.id, cell(line(item.text)), item.origin] for item in requirement.criteria]
    return table(header, rows)


def _examples(requirement: Requirement, language: str) -> str:
    if not requirement.examples:
        return ""
    header = [say(language, f"column.{name}") for name in ("line", "example", "expected")]
    return table(header, [_example(example) for example in requirement.examples])


def _example(example: Example) -> list[str]:
    """A row; a check is its own expectation, and only an error's name says that there is one."""
    if example.kind == "check":
        asked, expected = "; ".join(example.setup), ""
    elif example.kind == "stdio":
        asked, expected = _marked_lines(example.stdin), _marked_lines(example.expected)
    else:
        asked, expected = "; ".join((*example.setup, example.expression)), example.expected
    return [str(example.line), cell(code(asked)), cell(code(expected))]


def _marked_lines(text: str) -> str:
    return text.strip("\n").replace("\n", " ↵ ")
