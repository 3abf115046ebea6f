"""Commands in a comment: lines that begin with `/issuewright`, where a reader sees plain text."""

import re
from collections.abc import Iterator
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

COMMAND_WORD = "/issuewright"

_COMMAND_LINE = re.compile(rf"\s*{COMMAND_WORD}(?!\S)", re.IGNORECASE)
_MAX_NAME = 30


def read_commands(body: str) -> tuple[str, ...]:
    """The commands' names in lower case, known or not, each once; `` for a command without a name.

    Quotes, lists, headings, code and hidden text command nothing.
    """
    tokens = MarkdownIt("commonmark").parse(body)
    pairs = pairwise(tokens)
    paragraphs = (
        inline for opening, inline in pairs if opening.type == "paragraph_open" and opening.level == 0
    )
    names = (_name(line) for inline in paragraphs for line in _plain_lines(inline))
    return tuple(dict.fromkeys(name for name in names if name is not None))


def without_commands(body: str) -> str:
    """The rest of a comment, which may be an answer."""
    return "\n".join(line for line in body.splitlines() if not _COMMAND_LINE.match(line)).strip()


def _plain_lines(inline: Token) -> Iterator[str]:
    """The lines that begin with plain text, up to the first mark-up in them."""
    begins = True
    for child in inline.children or ():
        if begins and child.type == "text":
            yield child.content
        begins = child.type in ("softbreak", "hardbreak")


def _name(line: str) -> str | None:
    words = line.casefold().split()
    if not words or words[0] != COMMAND_WORD:
        return None
    return re.sub(r"[^a-z0-9-]", "", words[1])[:_MAX_NAME] if len(words) > 1 else ""
