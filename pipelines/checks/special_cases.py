"""Answers that look the given examples up instead of computing them."""

import ast
from collections.abc import Collection, Iterable, Iterator

from pipelines.candidate import Candidate, TestCase


def special_cases(candidate: Candidate, given: Iterable[TestCase], prose: str) -> tuple[str, ...]:
    """Places where the code compares with an example's own input, described; short inputs pass.

    A value that the issue's prose itself names is a rule, not a special case.
    """
    values = [value for case in given for value in _arguments(case) if _telling(value, prose)]
    inputs = {ast.dump(value) for value in values}
    found: dict[str, None] = {}
    for path, text in candidate.files.items():
        for node in _compared(text, inputs):
            place = f"{path} line {node.lineno}"
            found[f"{place} compares with the example's input {ast.unparse(node)}"] = None
    return tuple(found)


def _arguments(case: TestCase) -> Iterator[ast.expr]:
    """What the test passes to the code under test."""
    for node in ast.walk(ast.parse("\n".join(case.body))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in case.names:
            yield from node.args
            yield from (keyword.value for keyword in node.keywords)


def _telling(value: ast.expr, prose: str) -> bool:
    """Whether meeting this value in code by chance is unlikely."""
    match value:
        case ast.Constant(value=str(text)):
            return len(text) >= 4 and text not in prose
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return abs(number) > 100 and str(number) not in prose
        case ast.Constant(value=float(number)):
            return number not in (0.0, 0.5, 1.0, 2.0) and str(number) not in prose
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return len(items) > 0
        case ast.Dict(keys=keys):
            return len(keys) > 0
    return False


def _compared(source: str, inputs: Collection[str]) -> Iterator[ast.expr]:
    """Inputs among operands of comparisons and case patterns, and keys of a dict that has nothing else."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and node.keys:
            keys = [key for key in node.keys if key is not None and ast.dump(key) in inputs]
            yield from keys if len(keys) == len(node.keys) else []
        elif isinstance(node, ast.Compare | ast.MatchValue):
            yield from (part for part in _parts(node) if ast.dump(part) in inputs)


def _parts(node: ast.Compare | ast.MatchValue) -> Iterator[ast.expr]:
    """The operands and, where they are collections, their elements."""
    operands = [node.value] if isinstance(node, ast.MatchValue) else [node.left, *node.comparators]
    for operand in operands:
        yield operand
        if isinstance(operand, ast.List | ast.Tuple | ast.Set):
            yield from operand.elts
