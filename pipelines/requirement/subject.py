"""Whether an example is about the code that the issue asks for."""

import ast
import re
import sys
from collections.abc import Sequence

from pipelines.requirement.expressions import BUILTINS, IMPORTS, bound_names, called_names, used_names

_TEST_TOOLS = frozenset({"pytest", "math", "numpy", "np", "isclose", "approx"})


def objection(
    tested: Sequence[ast.AST | None], setup: Sequence[ast.AST | None], known: frozenset[str]
) -> str:
    """Why this is no example of new code, or ''."""
    trees = [tree for tree in (*tested, *setup) if tree is not None]
    bound = set(known).union(*(bound_names(tree) for tree in trees))
    calls = set().union(*(called_names(tree) for tree in trees))
    subjects = {name for name in calls if _is_subject(name, known)}
    if not subjects:
        return "it calls nothing but Python itself"
    undefined = set().union(*(used_names(tree) for tree in trees)) - bound - _provided(subjects)
    undefined -= sys.stdlib_module_names & set().union(*(_roots(tree) for tree in trees))
    if undefined:
        return f"it uses {', '.join(sorted(undefined)[:3])} without saying what that is"
    return ""


def is_foreign(trees: Sequence[ast.AST | None], known: frozenset[str]) -> bool:
    """True when no name that the issue declares is called."""
    calls = set().union(*(called_names(tree) for tree in trees if tree is not None))
    return not any(part in known for name in calls for part in name.split("."))


def _is_subject(name: str, known: frozenset[str]) -> bool:
    root = name.split(".")[0]
    if root in known:
        return True
    return (
        root not in BUILTINS
        and root not in IMPORTS
        and root not in _TEST_TOOLS
        and (name == root or root not in sys.stdlib_module_names)
    )


def _provided(subjects: set[str]) -> set[str]:
    """Names that need no definition: plain called names, classes as roots, builtins and test tools."""
    roots = {name.split(".")[0] for name in subjects if "." not in name or re.match("[A-Z]", name)}
    return roots | BUILTINS | IMPORTS.keys() | _TEST_TOOLS


def _roots(tree: ast.AST) -> set[str]:
    """Names whose attributes are used, as modules are."""
    values = (node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {value.id for value in values if isinstance(value, ast.Name)}
