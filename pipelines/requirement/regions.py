"""Cut an issue into the stretches in which examples are read."""

import ast
import re
from collections.abc import Iterator

from pipelines.requirement.expressions import parse_module
from pipelines.requirement.markdown import Block, Document, Line
from pipelines.requirement.reading import Region

_READ_LANGUAGES = frozenset(
    {"", "python", "python3", "py", "py3", "pycon", "ipython", "doctest", "text", "txt", "plaintext"}
)
_QUOTES = re.compile(r"^\s*[rRbBuUfF]{0,2}(?:\"\"\"|'''|\"|')")
_CLOSING = re.compile(r"(?:\"\"\"|'''|\"|')\s*$")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def regions(document: Document) -> Iterator[Region]:
    """The prose of each section, then each code block and docstring, without what happens today."""
    for section in document.sections():
        lines = tuple(line for line in section if document.kind_at(line.number) != "actual")
        if lines:
            yield Region(lines)
    for block in document.blocks:
        if block.lines and block.language in _READ_LANGUAGES and document.kind_at(block.line) != "actual":
            yield from block_regions(block)


def block_regions(block: Block) -> Iterator[Region]:
    """A block's code outside functions, and the docstring of each function and class in it."""
    tree = parse_module(block.code)
    if tree is None:
        yield Region(block.lines, owner=_only_definition(block.code))
        return
    inside: set[int] = set()
    for node in tree.body:
        if isinstance(node, Definition):
            inside.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    outside = tuple(line for index, line in enumerate(block.lines, start=1) if index not in inside)
    yield Region(outside, tree=tree, first_line=block.lines[0].number)
    for node in tree.body:
        if isinstance(node, Definition):
            yield from _docstrings(node, block, owner=node.name)


def _docstrings(node: Definition, block: Block, *, owner: str) -> Iterator[Region]:
    for statement in node.body:
        if isinstance(statement, Definition) and isinstance(node, ast.ClassDef):
            yield from _docstrings(statement, block, owner=owner)
        elif docstring_of(statement) and statement.end_lineno is not None:
            lines = list(block.lines[statement.lineno - 1 : statement.end_lineno])
            lines[0] = Line(lines[0].number, _QUOTES.sub("", lines[0].text))
            lines[-1] = Line(lines[-1].number, _CLOSING.sub("", lines[-1].text))
            yield Region(tuple(lines), owner=owner)


def docstring_of(statement: ast.stmt) -> str:
    """The text of a statement that is only a string, or ''."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return statement.value.value if isinstance(statement.value.value, str) else ""
    return ""


def _only_definition(code: str) -> str:
    names = re.findall(r"^(?:async )?def ([A-Za-z_]\w*)", code, re.MULTILINE)
    return names[0] if len(names) == 1 else ""
