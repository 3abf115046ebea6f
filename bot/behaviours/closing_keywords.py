"""Whether a pull request's text says that it closes an issue, in the words that GitHub understands."""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

_KEYWORD = r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b\s*:?\s+"


def closes(text: str, *, full_name: str, number: int, html_url: str) -> bool:
    """Whether the text closes this issue: `fixes #7`, `owner/name#7`, or its address; code does not count."""
    if str(number) not in text:
        return False
    names = rf"(?:(?:{re.escape(full_name)})?\#|GH-){number}"
    return bool(
        re.search(rf"{_KEYWORD}(?:{names}|{re.escape(html_url)})(?!\w)", _visible(text), re.IGNORECASE)
    )


def _visible(markdown: str) -> str:
    """The words outside code and hidden text."""
    blocks = (token for token in MarkdownIt("commonmark").parse(markdown) if token.type == "inline")
    return "\n\n".join("".join(map(_text, block.children or ())) for block in blocks)


def _text(token: Token) -> str:
    if token.type == "text":
        return token.content
    return "\n" if token.type in ("softbreak", "hardbreak") else ""
