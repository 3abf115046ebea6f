"""Which earlier statements an example needs to run."""

import ast
import sys
from collections.abc import Iterable, Sequence

from pipelines.requirement.expressions import bound_names, parse_module, used_names

_THIRD_PARTY = frozenset({"numpy", "pandas", "scipy", "cv2", "PIL", "pytest", "pydantic", "dateutil", "yaml"})


def relevant(statements: Sequence[str], expressions: Iterable[str]) -> tuple[str, ...]:
    """The statements, in order, that bind or change what the expressions use, directly or through others."""
    wanted: set[str] = set()
    for expression in expressions:
        tree = parse_module(expression)
        wanted |= used_names(tree) if tree is not None else set()
    parsed = [(statement, tree) for statement in statements if (tree := parse_module(statement)) is not None]
    usable = [(statement, tree) for statement, tree in parsed if not is_import_under_test(tree)]
    state = set().union(*(bound_names(tree) for _, tree in usable if not _is_import(tree)))
    chosen: list[str] = []
    for statement, tree in reversed(usable):
        if bound_names(tree) & wanted or (not _only_binds(tree) and used_names(tree) & wanted & state):
            chosen.append(statement)
            wanted |= used_names(tree)
    return tuple(reversed(chosen))


def _only_binds(tree: ast.Module) -> bool:
    return all(
        isinstance(
            node, ast.Assign | ast.AnnAssign | ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
        )
        and not any(
            isinstance(target, ast.Subscript | ast.Attribute) for target in getattr(node, "targets", [])
        )
        for node in tree.body
    )


def _is_import(tree: ast.Module) -> bool:
    return all(isinstance(node, ast.Import | ast.ImportFrom) for node in tree.body)


def is_import_under_test(tree: ast.Module) -> bool:
    """`from slugs import slugify`: the caller imports the code under test from where it was written."""
    return any(
        isinstance(node, ast.ImportFrom)
        and (
            node.level > 0 or (node.module or "").split(".")[0] not in sys.stdlib_module_names | _THIRD_PARTY
        )
        for node in tree.body
    )
