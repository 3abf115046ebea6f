"""Remove what a reader of the rendered issue cannot see, and say what was removed (line numbers stay)."""

import html
import re
from collections import Counter
from typing import NamedTuple

from pipelines.requirement.invisible import strip_invisible

_SPECIAL = re.compile(
    r"^[ \t>]*(?:```+|~~~+)|`+|<(?=[!?/A-Za-z])|&(?=[#A-Za-z])|!\[|\]\(|^[ ]{0,3}\[[^\]\n]{1,200}\]:",
    re.MULTILINE,
)
_BACKTICKS_OR_END = re.compile("`+|\n\n")
_MAX_CODE_SPAN = 4000
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9-]{0,30})((?:\s[^<>]{0,4000})?)/?>")
_DECLARATION = re.compile(r"<[!?][^<>]{0,4000}>")
_IMAGE = re.compile(r"!\[([^\[\]\n]{0,2000})\]")
_LINK_END = re.compile(
    r"\]\((<[^>\n]{0,2000}>|[^\s()]{0,2000})(\s+(?:\"[^\"]{0,2000}\"|'[^']{0,2000}'|\([^)]{0,2000}\)))\s*\)"
)
_DEFINITION = re.compile(r"^[ ]{0,3}\[[^\]\n]{1,200}\]:[ \t]*(\S{1,2000})([^\n]*)", re.MULTILINE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ELEMENT_NAMES = """
    a abbr address area article aside audio b bdi bdo big blockquote body br button canvas caption
    center cite code col colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset
    figcaption figure font footer form frame h1 h2 h3 h4 h5 h6 head header hr html i iframe img input
    ins kbd label legend li link main map mark meta meter nav noscript object ol optgroup option output
    p param picture pre progress q rp rt ruby s samp script section select small source span strike
    strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track
    tt u ul var video wbr"""
_ELEMENTS = frozenset(_ELEMENT_NAMES.split())
_UNSEEN_CONTENT = frozenset({"script", "style", "template", "title", "head", "iframe", "noscript"})


class Cleaned(NamedTuple):
    """Visible text with the same number of lines, and one note for each kind of thing dropped."""

    text: str
    notes: tuple[str, ...]


class _Cut(NamedTuple):
    end: int
    kept: str
    dropped: str = ""


def clean(text: str) -> Cleaned:
    """Drop comments, tags, attribute text, link titles and invisible characters; decode entities.

    Fenced and inline code only loses its invisible characters.
    """
    dropped: Counter[str] = Counter()
    kept: list[str] = []
    position = 0
    while match := _SPECIAL.search(text, position):
        kept.append(text[position : match.start()])
        cut = _cut_at(text, match)
        kept.append(cut.kept)
        if cut.dropped:
            dropped[cut.dropped] += 1
        position = cut.end
    kept.append(text[position:])
    visible, invisible = strip_invisible("".join(kept))
    dropped.update(invisible)
    return Cleaned(
        visible, tuple(f"hidden text removed: {count} x {what}" for what, count in dropped.items())
    )


def _cut_at(text: str, match: re.Match[str]) -> _Cut:
    start, mark = match.start(), match.group()
    if mark.lstrip(" \t>").startswith(("```", "~~~")):
        end = _fence_end(text, match)
        return _Cut(end, text[start:end])
    if mark.startswith("`"):
        end = _code_span_end(text, match)
        return _Cut(end, text[start:end])
    if mark == "<":
        return _cut_markup(text, start)
    if mark == "&":
        return _cut_entity(text, start)
    if mark.endswith("]:"):
        return _cut_definition(text, start)
    return _cut_link(text, start, mark)


def _fence_end(text: str, match: re.Match[str]) -> int:
    fence = match.group().lstrip(" \t>")
    line_end = text.find("\n", match.end())
    if fence[0] == "`" and "`" in text[match.end() : line_end if line_end >= 0 else len(text)]:
        return _code_span_end(text, match)
    closing = re.compile(rf"^[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
    found = closing.search(text, match.end())
    return found.end() if found else len(text)


def _code_span_end(text: str, match: re.Match[str]) -> int:
    ticks = match.group().lstrip(" \t>")
    for found in _BACKTICKS_OR_END.finditer(text, match.end(), match.end() + _MAX_CODE_SPAN):
        if found.group() == ticks:
            return found.end()
        if found.group() == "\n\n":
            break
    return match.end()


def _cut_markup(text: str, start: int) -> _Cut:
    if text.startswith("<!--", start):
        closing = text.find("-->", start + 4)
        end = closing + 3 if closing >= 0 else len(text)
        return _Cut(end, _newlines(text[start:end]), "HTML comment")
    if declaration := _DECLARATION.match(text, start):
        return _Cut(declaration.end(), _newlines(declaration.group()), "markup declaration")
    tag = _TAG.match(text, start)
    if tag is None or not _is_markup(tag):
        return _Cut(start + 1, "<")
    name, attributes = tag.group(1).lower(), tag.group(2)
    if name in _UNSEEN_CONTENT and not tag.group().startswith("</"):
        closing_tag = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(text, tag.end())
        end = closing_tag.end() if closing_tag else len(text)
        return _Cut(end, _newlines(text[start:end]), f"<{name}> element")
    label = "HTML tag with attribute text" if "=" in attributes else "HTML tag"
    return _Cut(tag.end(), _newlines(tag.group()) or (" " if name == "br" else ""), label)


def _is_markup(tag: re.Match[str]) -> bool:
    """Known elements, and unknown ones with attributes; `<numerator>` or `<class 'int'>` is just text."""
    return tag.group(1).lower() in _ELEMENTS or "=" in tag.group(2)


def _cut_entity(text: str, start: int) -> _Cut:
    entity = _ENTITY.match(text, start)
    if entity is None:
        return _Cut(start + 1, "&")
    decoded = html.unescape(entity.group()).replace("\n", " ").replace("\r", " ")
    return _Cut(entity.end(), decoded, "" if decoded == entity.group() else "character reference (decoded)")


def _cut_definition(text: str, start: int) -> _Cut:
    definition = _DEFINITION.match(text, start)
    if definition is None:
        return _Cut(start + 1, text[start])
    target, rest = definition.groups()
    if target in ("#", "<>"):
        return _Cut(definition.end(), "", "link definition used as a comment")
    if rest.strip():
        return _Cut(definition.end(), text[start : definition.start(2)], "link title")
    return _Cut(definition.end(), definition.group())


def _cut_link(text: str, start: int, mark: str) -> _Cut:
    if mark == "![" and (image := _IMAGE.match(text, start)):
        return _Cut(image.end() - 1, "![", "image alt text" if image.group(1) else "")
    if mark == "](" and (link := _LINK_END.match(text, start)):
        return _Cut(link.end(), f"]({link.group(1)})" + _newlines(link.group(2)), "link title")
    return _Cut(start + len(mark), mark)


def _newlines(text: str) -> str:
    return "\n" * text.count("\n")
