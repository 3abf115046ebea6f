"""Second look at examples that make sense only beside the others of the same function."""

import ast
import re

from pipelines.requirement.expressions import called_names, parse_expression, unparse
from pipelines.requirement.reading import Reading
from pipelines.requirement.types import Example, Signature

_MIN_BARE_WORDS = 2


def adopt(reading: Reading) -> None:
    """Settle misnamed calls, unquoted words and one-element tuples written as `("x")`; note the rest."""
    own = {name for example in reading.examples for name in _called(example)}
    _adopt_bare_words(reading, own)
    _adopt_misnamed(reading, own)
    reading.examples[:] = [_as_tuple(example, reading) for example in reading.examples]


def _adopt_misnamed(reading: Reading, own: set[str]) -> None:
    """In the docstring of a function without examples, calls of an unknown name mean that function."""
    for owner, example in reading.foreign:
        signature = reading.signatures.get(owner)
        renamed = _renamed(example, signature) if signature is not None and owner not in own else None
        if renamed is None:
            reading.unread(
                example.line, example.text, f"it is in the docstring of {owner} but calls another name"
            )
            continue
        reading.notes.append(f"line {example.line}: read as an example of {owner}, which it seems to misname")
        reading.keep(renamed)


def _renamed(example: Example, signature: Signature) -> Example | None:
    tree = parse_expression(example.expression)
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        return None
    if len(tree.args) != len(signature.parameters) or tree.keywords:
        return None
    tree.func.id = signature.name
    return example.model_copy(update={"expression": unparse(tree)})


def _adopt_bare_words(reading: Reading, own: set[str]) -> None:
    """Several calls such as `is_happy(abc)` of a function without other examples mean strings."""
    quoted = [_quoted(example, reading) for example, _ in reading.refused]
    counts: dict[str, int] = {}
    for name in (name for guess in quoted if guess is not None for name in _called(guess)):
        counts[name] = counts.get(name, 0) + 1
    for (example, problem), candidate in zip(reading.refused, quoted, strict=True):
        names = _called(candidate) if candidate is not None else set()
        if candidate is None or names & own or any(counts[name] < _MIN_BARE_WORDS for name in names):
            reading.unread(example.line, example.text, problem)
            continue
        reading.notes.append(f"line {example.line}: its unquoted words were read as strings")
        reading.keep(candidate)


def _quoted(example: Example, reading: Reading) -> Example | None:
    tree = parse_expression(example.expression)
    if example.kind != "value" or not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        return None
    signature = reading.signatures.get(tree.func.id)
    words = [argument.id for argument in tree.args if isinstance(argument, ast.Name)]
    if (
        signature is None
        or not words
        or len(words) != len(tree.args)
        or set(words) & set(signature.parameters)
    ):
        return None
    tree.args = [ast.Constant(word) for word in words]
    return example.model_copy(update={"expression": unparse(tree)})


def _as_tuple(example: Example, reading: Reading) -> Example:
    """`("x")` is a tuple where the same function's other results are tuples."""
    if example.kind != "value" or not re.fullmatch(r"\(.*\)", example.expected, re.DOTALL):
        return example
    if isinstance(parse_expression(example.expected), ast.Tuple):
        return example
    names = _called(example)
    others = [
        parse_expression(other.expected)
        for other in reading.examples
        if other is not example and other.kind == "value" and _called(other) == names
    ]
    if not others or not all(isinstance(other, ast.Tuple) for other in others):
        return example
    reading.notes.append(f"line {example.line}: {example.expected} was read as a tuple of one")
    return example.model_copy(update={"expected": f"{example.expected[:-1]},)"})


def _called(example: Example) -> set[str]:
    tree = parse_expression(example.expression)
    return called_names(tree) if tree is not None else set()
