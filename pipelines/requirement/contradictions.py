"""Examples that give one input two different outputs."""

import ast

from pipelines.requirement.expressions import normal, parse_expression
from pipelines.requirement.types import Example


def contradictions(examples: tuple[Example, ...]) -> tuple[str, ...]:
    """One sentence for each pair of examples that cannot both hold."""
    first: dict[tuple[str, ...], Example] = {}
    found: list[str] = []
    for example in examples:
        if example.kind == "check":
            continue
        key = (*example.setup, normal(example.expression), example.stdin, str(example.printed))
        earlier = first.setdefault(key, example)
        if earlier is not example and _outcome(earlier) != _outcome(example):
            subject = earlier.expression or "the same program input"
            found.append(
                f"line {earlier.line} says that {subject} gives {_words(earlier)}, "
                f"but line {example.line} says {_words(example)}"
            )
    return tuple(found)


def _outcome(example: Example) -> tuple[str, object]:
    if example.kind == "stdio" or example.printed:
        return (example.kind, example.expected.strip())
    if example.kind == "raises":
        return (example.kind, example.expected.rpartition(".")[2])
    tree = parse_expression(example.expected)
    try:
        value = ast.literal_eval(tree) if tree is not None else example.expected
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return (example.kind, normal(example.expected))
    return (example.kind, value)


def _words(example: Example) -> str:
    return f"an error {example.expected}" if example.kind == "raises" else example.expected.strip()
