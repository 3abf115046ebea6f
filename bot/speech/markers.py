"""Hidden HTML comments by which the bot knows its own texts, and small numbers kept in them."""

import re

MARKER = "<!-- issuewright -->"
"""Starts every text of the bot."""

STATUS_MARKER = "<!-- issuewright:status -->"
"""In the one comment that tells how a Job stands."""

QUESTION_MARKER = "<!-- issuewright:question -->"
"""In a status comment that asks something."""

_DATA = re.compile(r"<!--\s{0,9}issuewright:([a-z0-9_= ]{1,200})-->")
_NUMBER = re.compile(r"\b([a-z][a-z0-9_]*)=([0-9]{1,18})(?![a-z0-9_=])")


def is_ours(text: str) -> bool:
    """Whether the bot wrote it; a person who quotes the bot does not start with the marker."""
    return text.lstrip().startswith(MARKER)


def data_marker(**numbers: int) -> str:
    """A hidden comment that carries numbers from 0: `data_marker(issue=7)`."""
    return f"<!-- issuewright:{' '.join(f'{name}={number}' for name, number in numbers.items())} -->"


def read_data(text: str) -> dict[str, int]:
    """All numbers that a text carries; of several with one name the last, which is the bot's own."""
    return {name: int(number) for data in _DATA.findall(text or "") for name, number in _NUMBER.findall(data)}


def issue_of(body: str) -> int | None:
    """The issue that a pull request of the bot is for."""
    return read_data(body).get("issue")
