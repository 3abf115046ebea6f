"""The structure of an issue: headings, code blocks, tables, list items and the prose between them."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipelines.requirement.headings import HeadingKind, heading_kind

_PSEUDO_LEVEL = 7
_MAX_LABEL = 60
_NO_RESPONSE = re.compile(r"_No response_", re.IGNORECASE)
_CHECKBOX = re.compile(r"\[[ xX]\]\s+")


class Line(NamedTuple):
    """One line of the issue and its 1-based number."""

    number: int
    text: str


class Heading(NamedTuple):
    """A heading, or a label line such as `Examples:` that acts as one (level 7)."""

    line: int
    level: int
    text: str
    kind: HeadingKind | None


class Block(NamedTuple):
    """A fenced or indented code block; `lines` are its code lines, numbered as in the issue."""

    language: str
    line: int
    last_line: int
    lines: tuple[Line, ...]

    @property
    def code(self) -> str:
        """The code as written, ending in a newline."""
        return "".join(f"{line.text}\n" for line in self.lines)


class Item(NamedTuple):
    """A bullet, numbered or checkbox item."""

    line: int
    text: str


class Table(NamedTuple):
    """A pipe table with its rows' line numbers."""

    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]


class Document(NamedTuple):
    """The parsed issue."""

    lines: tuple[Line, ...]
    headings: tuple[Heading, ...]
    blocks: tuple[Block, ...]
    tables: tuple[Table, ...]
    items: tuple[Item, ...]
    kinds: tuple[HeadingKind | None, ...]
    """The kind of section that each line is in."""
    heading_lines: frozenset[int]

    def prose(self) -> tuple[Line, ...]:
        """The lines outside code blocks and real headings."""
        hidden = {heading.line for heading in self.headings if heading.level < _PSEUDO_LEVEL}
        for block in self.blocks:
            hidden.update(range(block.line, block.last_line + 1))
        return tuple(line for line in self.lines if line.number not in hidden)

    def kind_at(self, line: int) -> HeadingKind | None:
        """The kind of the section that holds this line; an unknown sub-heading inherits its parent's."""
        return self.kinds[min(line, len(self.kinds)) - 1]

    def is_heading(self, line: int) -> bool:
        """True for headings and for labels that act as one."""
        return line in self.heading_lines

    def sections(self) -> tuple[tuple[Line, ...], ...]:
        """The prose, cut at every real heading."""
        starts = {heading.line for heading in self.headings if heading.level < _PSEUDO_LEVEL}
        prose = {line.number: line for line in self.prose()}
        groups: list[list[Line]] = [[]]
        for number in range(1, len(self.lines) + 1):
            if number in starts:
                groups.append([])
            if number in prose:
                groups[-1].append(prose[number])
        return tuple(tuple(group) for group in groups if any(line.text.strip() for line in group))


def parse_document(text: str) -> Document:
    """Parse Markdown by blocks; inline markup stays as written. An unanswered form field becomes empty."""
    text = "\n".join("" if _NO_RESPONSE.fullmatch(line.strip()) else line for line in text.split("\n"))
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("inline")
    tokens = parser.parse(text)
    lines = tuple(Line(number, line) for number, line in enumerate(text.split("\n"), start=1))
    blocks = tuple(_blocks(tokens, lines))
    headings = _headings(tokens, lines, blocks)
    return Document(
        lines=lines,
        headings=headings,
        blocks=blocks,
        tables=tuple(_tables(tokens)),
        items=tuple(_items(tokens)),
        kinds=tuple(_kinds(headings, len(lines))),
        heading_lines=frozenset(heading.line for heading in headings),
    )


def _kinds(headings: tuple[Heading, ...], count: int) -> Iterator[HeadingKind | None]:
    """The section kind of every line: the nearest known heading that is not closed by one of its level."""
    starts = {heading.line: heading for heading in headings}
    opened: list[Heading] = []
    for line in range(1, count + 1):
        if heading := starts.get(line):
            while opened and opened[-1].level >= heading.level:
                opened.pop()
            opened.append(heading)
        yield next((heading.kind for heading in reversed(opened) if heading.kind is not None), None)


def _blocks(tokens: list[Token], lines: tuple[Line, ...]) -> Iterator[Block]:
    for token in tokens:
        if token.type not in ("fence", "code_block") or token.map is None:
            continue
        first, end = token.map
        offset = 1 if token.type == "fence" else 0
        code = token.content.removesuffix("\n").split("\n") if token.content else []
        numbered = tuple(Line(first + offset + index + 1, text) for index, text in enumerate(code))
        language = token.info.strip().split(" ")[0].split("{")[0].lower() if token.info else ""
        yield Block(language, first + 1, min(end, len(lines)), numbered)


def _headings(tokens: list[Token], lines: tuple[Line, ...], blocks: tuple[Block, ...]) -> tuple[Heading, ...]:
    found: dict[int, Heading] = {}
    for token, content in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            line = token.map[0] + 1
            text = content.content.strip()
            found[line] = Heading(line, int(token.tag[1]), text, heading_kind(text))
    code = {number for block in blocks for number in range(block.line, block.last_line + 1)}
    for number, text in lines:
        if number not in found and number not in code and (label := _label(text)):
            found[number] = label._replace(line=number)
    return tuple(found[line] for line in sorted(found))


def _label(text: str) -> Heading | None:
    """A line that is nothing but a known heading word, in bold, before a colon or between dashes."""
    stripped = text.strip()
    words = stripped.rstrip("*_:：- ")
    if not words or len(stripped) > _MAX_LABEL or ":" in words or "：" in words:
        return None
    kind = heading_kind(stripped)
    if kind not in ("input", "output") and not stripped.endswith((":", "：", "*", "_", "--")):
        return None
    return Heading(0, _PSEUDO_LEVEL, stripped.strip("*_:：- "), kind) if kind else None


def _tables(tokens: list[Token]) -> Iterator[Table]:
    rows: list[tuple[int, tuple[str, ...]]] = []
    cells: list[str] = []
    line = 0
    for token in tokens:
        if token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            cells = []
            line = token.map[0] + 1 if token.map else line + 1
        elif token.type == "inline" and token.level > 0:
            cells.append(token.content)
        elif token.type == "tr_close":
            rows.append((line, tuple(cells)))
        elif token.type == "table_close" and rows:
            yield Table(rows[0][1], tuple(rows[1:]))


def _items(tokens: list[Token]) -> Iterator[Item]:
    opened: int | None = None
    for token in tokens:
        if token.type == "list_item_open" and token.map is not None:
            opened = token.map[0] + 1
        elif token.type == "inline" and opened is not None and token.level > 0:
            text = (
                _CHECKBOX.sub("", token.content, count=1) if token.content.startswith("[") else token.content
            )
            yield Item(opened, " ".join(text.split()))
            opened = None
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            opened = None
