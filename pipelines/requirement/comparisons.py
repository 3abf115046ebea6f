"""Turn `f(x) == y` and other conditions into an example."""

import ast

from pipelines.requirement.expressions import BUILTINS, called_names, parse_expression, unparse
from pipelines.requirement.reading import Reading
from pipelines.requirement.types import Example


def from_condition(condition: ast.expr, *, line: int, text: str, reading: Reading) -> Example:
    """`value` for an equation with a value on one side, else `check` with the condition as an assert."""
    sides = _equation(condition)
    if sides is not None:
        for tested, expected in (sides, sides[::-1]):
            expected_text = unparse(expected)
            if _calls_code(tested) and reading.value_of(expected_text):
                return Example(
                    kind="value", expression=unparse(tested), expected=expected_text, line=line, text=text
                )
    return Example(kind="check", setup=(f"assert {unparse(condition)}",), line=line, text=text)


def from_source(source: str, *, line: int, text: str, reading: Reading) -> Example | None:
    """The same for source text; None when it is not an equation."""
    tree = parse_expression(source)
    if tree is None or _equation(tree) is None:
        return None
    return from_condition(tree, line=line, text=text, reading=reading)


def _equation(condition: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    if not isinstance(condition, ast.Compare) or len(condition.ops) != 1:
        return None
    is_equation = isinstance(condition.ops[0], ast.Eq) or (
        isinstance(condition.ops[0], ast.Is) and isinstance(condition.comparators[0], ast.Constant)
    )
    return (condition.left, condition.comparators[0]) if is_equation else None


def _calls_code(tree: ast.expr) -> bool:
    """A call of something other than a builtin, or a plain name bound by an earlier statement."""
    names = {name.split(".")[0] for name in called_names(tree)}
    if names - BUILTINS:
        return True
    return any(isinstance(node, ast.Name) and node.id not in BUILTINS for node in ast.walk(tree))
