"""Short forms for the tests: parse text, and compare examples as plain tuples."""

from pipelines.requirement.parse import parse_issue
from pipelines.requirement.types import Requirement


def parse(text: str) -> Requirement:
    return parse_issue(text.encode(), path="ISSUE.md")


def found(text: str) -> list[tuple[str, str, str]]:
    """(kind, expression, expected) of every example, in order."""
    return [(e.kind, e.expression, e.expected) for e in parse(text).examples]


def fenced(code: str, language: str = "python") -> str:
    return f"```{language}\n{code}\n```\n"
