"""The checkable sentences of an issue."""

import re
from collections.abc import Iterable, Iterator

from pipelines.requirement.markdown import Document, Item, Line
from pipelines.requirement.types import Criterion

_MAX_CRITERIA = 60
_MAX_LENGTH = 600
_OBLIGATION = re.compile(
    r"\b(?:must|should|shall|returns?|raises?|has to|have to|needs? to|supports?|accepts?|handles?|ignores?|"
    r"muss|müssen|soll|sollen|sollte|darf|gibt|liefert|wirft|doit|doivent|devrait|retourne|renvoie|lève|"
    r"debe|deben|debería|devuelve|lanza|deve|devem|deveria|retorna|lança|devono|dovrebbe|restituisce|solleva|"
    r"долж(?:ен|на|но|ны)|возвращает|нужно|необходимо|вызывает)\b"
    r"|返す|返し|べき|必要|なければ|すること|してください|したい|送出|必须|应该|应当|应|需要|返回|抛出|해야|반환|발생|필요",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_]|[`*])|(?<=[。！？])|(?<=[다요]\.)\s+")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+")


def criteria(document: Document, *, taken: set[int], docstrings: Iterable[Line]) -> tuple[Criterion, ...]:
    """Items under a criteria heading, else items of the prose, else sentences that oblige."""
    under = [item for item in document.items if document.kind_at(item.line) == "criteria"]
    loose = [item for item in document.items if _is_loose(document, item, taken)]
    texts = [item.text for item in (under or loose)]
    if not texts:
        texts = _paragraphs_under_criteria(document) or list(
            _obligations(line for line in document.prose() if line.number not in taken)
        )
    if not texts:
        texts = list(_obligations(line for line in docstrings if line.number not in taken))
    unique = dict.fromkeys(text.strip()[:_MAX_LENGTH] for text in texts if text.strip())
    return tuple(
        Criterion(id=f"C{number}", text=text)
        for number, text in enumerate(list(unique)[:_MAX_CRITERIA], start=1)
    )


def constraints(document: Document, docstrings: Iterable[Line]) -> tuple[str, ...]:
    """Items, or else lines, under a constraints heading or label."""
    items = [item.text for item in document.items if document.kind_at(item.line) == "constraints"]
    if not items:
        items = [
            _BULLET.sub("", line.text).strip()
            for line in document.prose()
            if document.kind_at(line.number) == "constraints" and not document.is_heading(line.number)
        ]
    items += _docstring_constraints(docstrings)
    return tuple(dict.fromkeys(item for item in items if item))


def _docstring_constraints(lines: Iterable[Line]) -> Iterator[str]:
    inside = False
    for line in lines:
        text = line.text.strip()
        if re.fullmatch(r"constrain(?:t|ts)?\s*:", text, re.IGNORECASE):
            inside = True
        elif inside and _BULLET.match(text):
            yield _BULLET.sub("", text)
        elif text:
            inside = False


def _is_loose(document: Document, item: Item, taken: set[int]) -> bool:
    if item.line in taken or document.kind_at(item.line) not in (None, "description"):
        return False
    return not re.fullmatch(r"`[^`]*`|\S+\.py", item.text)


def _paragraphs_under_criteria(document: Document) -> list[str]:
    lines = [
        line
        for line in document.prose()
        if document.kind_at(line.number) == "criteria" and not document.is_heading(line.number)
    ]
    return list(_sentences(lines))


def _obligations(lines: Iterable[Line]) -> Iterator[str]:
    return (sentence for sentence in _sentences(lines) if _OBLIGATION.search(sentence))


def _sentences(lines: Iterable[Line]) -> Iterator[str]:
    paragraph: list[str] = []
    last = 0
    for line in lines:
        if (not line.text.strip() or line.number != last + 1) and paragraph:
            yield from _split(paragraph)
            paragraph = []
        if line.text.strip():
            paragraph.append(line.text.strip())
        last = line.number
    yield from _split(paragraph)


def _split(paragraph: list[str]) -> list[str]:
    return [part.strip() for part in _SENTENCE_END.split(" ".join(paragraph)) if part.strip()]
