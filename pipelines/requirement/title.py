"""The title of an issue: front matter, first heading, or first line."""

import re
from typing import NamedTuple

from pipelines.requirement.markdown import Document

_FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n(.{0,20000}?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE_FIELD = re.compile(r"^title[ \t]*:[ \t]*(.+?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_FIELD = re.compile(r"^[A-Za-z_][\w-]*[ \t]*:", re.MULTILINE)


class Title(NamedTuple):
    """The title as written and its 1-based line; line 0 when it comes from front matter."""

    text: str
    line: int


def blank_front_matter(text: str) -> tuple[str | None, str]:
    """Its `title:` and the text with the front matter blanked, so that line numbers stay."""
    match = _FRONT_MATTER.match(text)
    if match is None or not _FIELD.search(match.group(1)):
        return None, text
    field = _TITLE_FIELD.search(match.group(1))
    title = _unquoted(field.group(1)) if field else None
    return title, "\n" * match.group().count("\n") + text[match.end() :]


def find_title(document: Document, front_title: str | None) -> Title:
    """Front matter first, then a top heading, then the first line with words."""
    if front_title:
        return Title(front_title, 0)
    heading = next(
        (item for item in document.headings if item.text and item.level < 3 and item.kind is None), None
    )
    first = next(
        (
            line
            for line in document.prose()
            if any(map(str.isalnum, line.text)) and not document.is_heading(line.number)
        ),
        None,
    )
    if heading is not None and (heading.level == 1 or first is None or heading.line < first.number):
        return Title(heading.text, heading.line)
    if first is not None:
        return Title(first.text.strip().lstrip("#").strip(), first.number)
    any_heading = next((item for item in document.headings if item.text), None)
    if any_heading is not None:
        return Title(any_heading.text, any_heading.line)
    words = (line for line in document.lines if any(map(str.isalnum, line.text)))
    line = next(
        (line for line in words if not line.text.lstrip().startswith(("```", "~~~"))), document.lines[0]
    )
    return Title(line.text.strip(), line.number)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
