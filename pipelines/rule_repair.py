"""Repairs that need no model: names that are used but never imported or defined."""

import ast
import typing
from collections.abc import Sequence

from pipelines.checks.given import free_names
from pipelines.checks.render import standard_import

_TYPING = frozenset(typing.__all__)


def supply_names(source: str, hints: Sequence[str]) -> str:
    """The source with missing imports and definitions put in front, taken from the issue's own code first.

    A small model often leaves out the imports and helpers that the request already shows. Source that does
    not parse is returned as it is.
    """
    try:
        missing = [name for name in free_names([source]) if not name.startswith("__")]
    except (SyntaxError, ValueError):
        return source
    offers = _offers(hints)
    lines = dict.fromkeys(line for name in missing if (line := offers.get(name) or _usual_import(name)))
    if not lines:
        return source
    futures, rest = _split_future(source)
    return futures + "\n".join(sorted(lines, key=_imports_first)) + "\n\n" + rest


def _usual_import(name: str) -> str | None:
    return f"from typing import {name}" if name in _TYPING else standard_import(name)


def _offers(hints: Sequence[str]) -> dict[str, str]:
    """Source by name of what the hints import or define; stubs offer nothing."""
    offers: dict[str, str] = {}
    for hint in hints:
        try:
            tree = ast.parse(hint)
        except (SyntaxError, ValueError):
            continue
        for node in tree.body:
            for name, text in _offered(node, hint):
                offers.setdefault(name, text)
    return offers


def _offered(node: ast.stmt, source: str) -> list[tuple[str, str]]:
    text = ast.get_source_segment(source, node) or ""
    match node:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [(alias.asname or alias.name.split(".")[0], text) for alias in names]
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if not is_stub(node):
            return [(name, text)]
    return []


def is_stub(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether a definition has nothing but a docstring, `pass`, `...` or `raise NotImplementedError`."""
    return all(
        isinstance(item, ast.Pass)
        or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
        or (isinstance(item, ast.Raise) and "NotImplemented" in ast.unparse(item))
        for item in node.body
    )


def _split_future(source: str) -> tuple[str, str]:
    """Everything up to the last `from __future__` import, which must stay first, and the rest."""
    tree = ast.parse(source)
    last = max(
        (
            node.end_lineno or 0
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        ),
        default=0,
    )
    lines = source.split("\n")
    return "".join(f"{line}\n" for line in lines[:last]), "\n".join(lines[last:])


def _imports_first(line: str) -> bool:
    return not line.startswith(("import ", "from "))
