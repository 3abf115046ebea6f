"""Text of people and models that can be read and does nothing: notifies, closes, hides or loads nothing."""

import re
from collections.abc import Callable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.speech.markdown import unix_lines

_GAP = "\u200b"
_AT = re.compile(r"(?<![A-Za-z0-9])(@|&commat;|&#0*64;|&#x0*40;)(?=[A-Za-z0-9])", re.IGNORECASE)
_CLOSING = re.compile(
    r"(?<![A-Za-z0-9])([cfr])(?=(?:lose[sd]?|ix(?:e[sd])?|esolve[sd]?)\b[\s:*_~(\[<>\"'\\]{1,12}"
    r"(?:(?:[\w.-]{1,100}/[\w.-]{1,100})?(?:#|&num;|&#0*35;|&#x0*23;)|GH-|https?://\S{1,200}/)[0-9])",
    re.IGNORECASE,
)
_KEYWORD = re.compile(
    r"(?<![A-Za-z0-9])([cfr])(?=(?:lose[sd]?|ix(?:e[sd])?|esolve[sd]?)(?![A-Za-z0-9]))", re.IGNORECASE
)
_SPAN = re.compile(r"(?<![\\`])(`+)(?!`)([^\n]*?[^\n`])\1(?!`)")
_IMAGE = re.compile(r"!\[")
_SPECIAL = re.compile(r"&(?=[#A-Za-z])|<(?=[A-Za-z/!?])")
_ENTITIES = {"&": "&amp;", "<": "&lt;"}


def inert(markdown: str) -> str:
    """The same Markdown, but its mentions notify nobody and its keywords close nothing; code stays."""
    text = unix_lines(markdown)
    if _may_act(text):
        text = _outside_code(text, _defuse)
    # A parser has the last word: where something acts still, nothing is left that could, code or not.
    acting = set(_acting_lines(text)) if _may_act(text) else ()
    return "\n".join(_defuse_all(x) if n in acting else x for n, x in enumerate(text.split("\n")))


def prose(text: str) -> str:
    """Markdown of people or models: formatting and code stay; HTML is shown, images become links."""
    return inert(_outside_code(unix_lines(text.strip()), lambda part: _IMAGE.sub("!\\\\[", _escape(part))))


def line(text: str) -> str:
    """The same on one line."""
    return prose(" ".join(text.split()))


def _may_act(text: str) -> bool:
    """Quickly told, and true for much that does nothing; a character reference may spell anything."""
    return "&" in text or bool(_AT.search(text) or _KEYWORD.search(text))


def _defuse(text: str) -> str:
    return _CLOSING.sub(rf"\1{_GAP}", _AT.sub(rf"\1{_GAP}", text))


def _defuse_all(text: str) -> str:
    return _KEYWORD.sub(rf"\1{_GAP}", _AT.sub(rf"\1{_GAP}", _escape(text)))


def _escape(text: str) -> str:
    return _SPECIAL.sub(lambda found: _ENTITIES[found.group()], text)


def _outside_code(markdown: str, change: Callable[[str], str]) -> str:
    code = _code_lines(markdown)
    changed = [
        text if number in code else _outside_spans(text, change)
        for number, text in enumerate(markdown.split("\n"))
    ]
    return "\n".join(changed)


def _outside_spans(text: str, change: Callable[[str], str]) -> str:
    parts: list[str] = []
    position = 0
    for span in _SPAN.finditer(text):
        parts += [change(text[position : span.start()]), span.group()]
        position = span.end()
    return "".join([*parts, change(text[position:])])


def _code_lines(markdown: str) -> set[int]:
    tokens = _parse(markdown, without=["inline"])
    return {n for t in tokens if t.type in ("fence", "code_block") and t.map for n in range(*t.map)}


def _acting_lines(markdown: str) -> Iterator[int]:
    for token in _parse(markdown):
        seen = _visible(token)
        if token.map and _defuse(seen) != seen:
            yield from range(*token.map)


def _visible(token: Token) -> str:
    """What a reader sees outside code; an ampersand in it starts no character reference any more."""
    if token.type == "html_block":
        return token.content
    children = token.children or () if token.type == "inline" else ()
    seen = ("`" if child.type == "code_inline" else child.content or "\n" for child in children)
    return "".join(seen).replace("&", "+")


def _parse(markdown: str, *, without: Sequence[str] = ("link", "image", "emphasis")) -> list[Token]:
    """Links and emphasis hide nothing, and are slow to find in hostile text."""
    return MarkdownIt("commonmark").enable("table").disable([*without]).parse(markdown)
