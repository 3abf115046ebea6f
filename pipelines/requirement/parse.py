"""From an issue file to a Requirement, without a model."""

import hashlib
import re
from collections.abc import Iterable

from pipelines.errors import RefusalError
from pipelines.requirement.contradictions import contradictions
from pipelines.requirement.criteria import constraints, criteria
from pipelines.requirement.decode import decode
from pipelines.requirement.examples import read_examples
from pipelines.requirement.hidden_text import clean
from pipelines.requirement.language import language_of
from pipelines.requirement.markdown import Document, Line, parse_document
from pipelines.requirement.regions import regions
from pipelines.requirement.signatures import declared_signatures, example_signatures
from pipelines.requirement.target_paths import target_paths
from pipelines.requirement.title import blank_front_matter, find_title
from pipelines.requirement.types import CodeBlock, Example, Requirement, Source

_WORD = re.compile(r"[^\W\d_]{2,}")
_MIN_WORDS = 4
_MAX_LINES = 10_000
_INLINE_CODE = re.compile(r"`[^`\n]{1,500}`")


def parse_issue(raw: bytes, *, path: str) -> Requirement:
    """Read an issue; RefusalError when it is empty, too large, no text, or says nothing."""
    decoded = decode(raw, path=path)
    front_title, text = blank_front_matter(decoded.text)
    cleaned = clean(text)
    if not any(char.isalnum() for char in (front_title or "") + cleaned.text):
        raise RefusalError(f"{path}: the issue has no words. Write at least a title and what is wanted.")
    text, rest = _split_lines(cleaned.text)
    document = parse_document(text)
    title = find_title(document, front_title)
    declared = declared_signatures(document)
    areas = tuple(regions(document))
    reading = read_examples(document, areas, declared)
    examples = tuple(reading.examples)
    docstrings = [line for region in areas if region.owner for line in region.lines]
    taken = {title.line, *_mere_examples(document, reading.claimed, examples)}
    summary = _text(line for line in document.prose() if line.number not in taken)
    return Requirement(
        title=title.text,
        summary=re.sub(r"\n{3,}", "\n\n", summary).strip(),
        body=_body(document, title.line) + rest,
        criteria=criteria(document, taken=taken, docstrings=docstrings),
        examples=examples,
        signatures=(*declared, *example_signatures(examples, reading.known)),
        code_blocks=tuple(CodeBlock(language=b.language, code=b.code, line=b.line) for b in document.blocks),
        target_paths=target_paths(document),
        constraints=constraints(document, docstrings),
        language=language_of(_prose_words(document, title.text) or _text(docstrings)),
        notes=(*decoded.notes, *cleaned.notes, *_length_note(rest), *reading.all_notes()),
        contradictions=contradictions(examples),
        source=Source(path=path, sha256=hashlib.sha256(raw).hexdigest()),
    )


def _split_lines(text: str) -> tuple[str, str]:
    """The lines that are read for their meaning, and the rest, which only the body holds."""
    lines = text.split("\n")
    rest = lines[_MAX_LINES:]
    return "\n".join(lines[:_MAX_LINES]), "\n" + "\n".join(rest) if rest else ""


def _length_note(rest: str) -> tuple[str, ...]:
    return (f"only the first {_MAX_LINES} lines were read for examples and criteria",) if rest else ()


def _mere_examples(document: Document, claimed: set[int], examples: Iterable[Example]) -> set[int]:
    """The lines that say nothing beside their examples."""
    texts: dict[int, list[str]] = {}
    for example in examples:
        texts.setdefault(example.line, []).append(example.text)
    mere: set[int] = set()
    for number in claimed:
        rest = document.lines[number - 1].text
        for text in texts.get(number, []):
            rest = rest.replace(text, " ")
        if len(_WORD.findall(_INLINE_CODE.sub(" ", rest))) < _MIN_WORDS:
            mere.add(number)
    return mere


def _body(document: Document, title_line: int) -> str:
    """The whole text; a title that stands as a heading is left out, as GitHub keeps it apart."""
    is_heading = any(heading.line == title_line and heading.level < 7 for heading in document.headings)
    kept = [line for line in document.lines if not (is_heading and line.number == title_line)]
    return _text(kept).strip("\n")


def _prose_words(document: Document, title: str) -> str:
    text = _INLINE_CODE.sub(" ", f"{title}\n{_text(document.prose())}")
    return text if _WORD.search(text) else ""


def _text(lines: Iterable[Line]) -> str:
    return "\n".join(line.text for line in lines)
