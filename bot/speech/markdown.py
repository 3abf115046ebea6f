"""Building blocks of the bot's Markdown; what they enclose cannot get out of them."""

import re
from collections.abc import Iterable, Sequence

_BACKTICKS = re.compile("`+")


def titled(title: str, text: str) -> str:
    """A section; nothing without text."""
    return f"## {title}\n\n{text}" if text else ""


def bullets(items: Iterable[str]) -> str:
    """A list; further lines of an item stay in it."""
    return "\n".join("- " + "\n  ".join(item.split("\n")) for item in items)


def quote(text: str) -> str:
    """A block quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown without line ends and bare pipes; see `cell`."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(text: str) -> str:
    """Text that fits into a table."""
    return " ".join(text.split()).replace("|", "\\|")


def fenced(text: str, language: str = "") -> str:
    """A code block around any text."""
    fence = "`" * max(3, _longest_backticks(text) + 1)
    return f"{fence}{language}\n{text.strip()}\n{fence}"


def code(text: str) -> str:
    """A code span around any text, on one line; nothing around nothing."""
    line = " ".join(text.split())
    if not line:
        return ""
    ticks = "`" * (_longest_backticks(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def blocks(parts: Iterable[str]) -> str:
    """Parts with a blank line between them, the empty ones left out."""
    return "\n\n".join(part for part in parts if part)


def unix_lines(text: str) -> str:
    """The text with the line ends that a Markdown parser counts."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _longest_backticks(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
