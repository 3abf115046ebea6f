"""Cut long Markdown where a reader of the rest loses nothing: between blocks, rows, items or code lines."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.speech.markdown import unix_lines

BODY_LIMIT = 60_000
"""Characters of a pull request's body: GitHub takes 65,536, and people may want to add something."""

COMMENT_LIMIT = 65_536
"""Characters of a comment that GitHub takes."""

NOTE = "The rest is cut here; the run's record has all of it."

_SLOW = ["link", "image", "emphasis"]
"""Rules of the parser that tell nothing of blocks and take long for hostile text."""

_DETAILS = re.compile(r"<(/?)details\b", re.IGNORECASE)


class _Cut(NamedTuple):
    """A place to cut: lines before it stay, and what they leave open is closed."""

    line: int
    closing: str


def cap(text: str, limit: int = BODY_LIMIT, *, keep: str = "", note: str = NOTE) -> str:
    """At most `limit` characters of text; `keep`, which has to fit, follows in any case.

    A cut leaves no fence, `<details>`, table or HTML comment open; a paragraph is never cut in two. The note
    tells of the cut.
    """
    whole = f"{text.rstrip()}\n\n{keep}\n" if keep else text
    if len(whole) <= limit:
        return whole
    end = f"\n\n_{note}_\n" + (f"\n{keep}\n" if keep else "")
    return _kept(unix_lines(text), limit - len(end)) + end


def _kept(text: str, room: int) -> str:
    """The longest start of the text that fits with what closes it; the text itself does not fit."""
    lines = text[: max(room, 0)].rstrip().split("\n")
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line) + 1)
    # What reaches the last of these lines may go on behind it.
    fitting = [
        cut
        for cut in _cuts("\n".join(lines))
        if cut.line < len(lines) and ends[cut.line] + len(cut.closing) <= room
    ]
    if not fitting:
        return ""
    last = fitting[-1]
    return text[: ends[last.line]].rstrip() + last.closing


def _cuts(text: str) -> Iterator[_Cut]:
    """All places in their order."""
    depth = 0
    for block in _top_blocks(MarkdownIt("commonmark").enable("table").disable(_SLOW).parse(text)):
        first, end = block[0].map or (0, 0)
        outside = "\n\n</details>" * depth
        if block[0].type == "fence":
            yield from (_Cut(n, f"\n{block[0].markup}{outside}") for n in range(first + 2, end - 1))
        elif not any(map(_details_opened, block)):
            yield from (_Cut(line, outside) for line in _inner_ends(block, first))
        depth = max(0, depth + sum(map(_details_opened, block)))
        yield _Cut(end, "\n\n</details>" * depth)


def _top_blocks(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    start = 0
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            yield tokens[start : index + 1]
            start = index + 1


def _inner_ends(block: Sequence[Token], first: int) -> Iterator[int]:
    """Where rows of a table and items of a list end; never right behind a table's head."""
    for token in block:
        row = token.type == "tr_open" and token.level == 2
        item = token.type == "list_item_open" and token.level == 1
        if token.map and (item or (row and token.map[0] > first)):
            yield token.map[1]


def _details_opened(token: Token) -> int:
    if token.type == "inline":
        return sum(_details_opened(child) for child in token.children or ())
    if token.type not in ("html_block", "html_inline"):
        return 0
    return sum(-1 if slash else 1 for slash in _DETAILS.findall(token.content))
