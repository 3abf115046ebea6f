"""Answers that look the given examples up instead of computing them."""

import ast
from collections.abc import Iterable, Iterator

from pipelines.candidate import Candidate, TestCase


def special_cases(candidate: Candidate, given: Iterable[TestCase], prose: str) -> tuple[str, ...]:
    """Places where the code compares with an example's own input, described; short inputs pass.

    A value that the issue's prose itself names is a rule, not a special case.
    """
    inputs = {ast.dump(value) for case in given for value in _arguments(case.call) if _telling(value, prose)}
    found = []
    for path, text in candidate.files.items():
        for node in _compared(text):
            if ast.dump(node) in inputs:
                found.append(
                    f"{path} line {node.lineno} compares with the example's input {ast.unparse(node)}"
                )
    return tuple(found)


def _arguments(call: str) -> Iterator[ast.expr]:
    if not call:
        return
    body = ast.parse(call, mode="eval").body
    if isinstance(body, ast.Call):
        yield from body.args
        yield from (keyword.value for keyword in body.keywords)


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
    return False


def _compared(source: str) -> Iterator[ast.expr]:
    """Operands of == and in, keys of dicts and case patterns."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others, ops=[ast.Eq() | ast.In(), *_]):
                yield from (left, *others)
            case ast.Dict(keys=keys):
                yield from (key for key in keys if key is not None)
            case ast.MatchValue(value=value):
                yield value
