"""New inputs from given ones: each literal argument varied by its type (after EvalPlus, Liu et al. 2023)."""

import ast
import copy
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pipelines.checks.given import normal_form
from pipelines.task import Task

Literal = Any
"""A value that `ast.literal_eval` gives."""


def vote_calls(task: Task, *, rng: random.Random, limit: int) -> tuple[str, ...]:
    """Calls on which candidates are compared: given ones varied, else those that the model wrote as tests."""
    given = [case.call for case in task.given if case.call]
    written = [case.call for case in task.written if case.call]
    calls = mutated_calls(given, rng=rng, limit=limit)
    return tuple(dict.fromkeys([*calls, *written]))[:limit]


def mutated_calls(calls: Iterable[str], *, rng: random.Random, limit: int = 16) -> tuple[str, ...]:
    """Up to `limit` calls that differ from the given ones in one argument; the given ones are not among them.

    Only calls whose arguments are literals are varied, so nothing of the issue is ever executed here.
    """
    known = [normal_form(call) for call in calls]
    pool = dict.fromkeys(variant for call in known for variant in _variants(call, rng))
    fresh = [call for call in pool if call not in known]
    return tuple(rng.sample(fresh, limit) if len(fresh) > limit else fresh)


def _variants(call: str, rng: random.Random) -> Iterator[str]:
    body = ast.parse(call, mode="eval").body
    if not isinstance(body, ast.Call):
        return
    for index, argument in enumerate(body.args):
        try:
            value = ast.literal_eval(argument)
        except (ValueError, TypeError, SyntaxError, RecursionError):
            continue
        for other in vary(value, rng):
            changed = copy.copy(body)
            changed.args = [*body.args]
            changed.args[index] = ast.parse(stable_repr(other), mode="eval").body
            yield ast.unparse(changed)


def stable_repr(value: Literal) -> str:
    """`repr`, but a literal, and the same in every process: sets in order, infinity as a number too large."""
    match value:
        case float() if math.isinf(value):
            return "1e999" if value > 0 else "-1e999"
        case set() | frozenset():
            return "{" + ", ".join(sorted(map(stable_repr, value))) + "}" if value else "set()"
        case list():
            return "[" + ", ".join(map(stable_repr, value)) + "]"
        case tuple():
            return "(" + "".join(f"{stable_repr(item)}, " for item in value) + ")"
        case dict():
            return "{" + ", ".join(f"{stable_repr(k)}: {stable_repr(v)}" for k, v in value.items()) + "}"
    return repr(value)


def vary(value: Literal, rng: random.Random) -> Sequence[Literal]:
    """Other values of the same type."""
    match value:
        case bool():
            return [not value]
        case int():
            return [0, 1, value + 1, value - 1, -value, value * 2 + 3]
        case float():
            return [0.0, -value, value + 0.5, value * 2]
        case str():
            return _vary_string(value, rng)
        case list() | tuple():
            return [type(value)(items) for items in _vary_items(list(value), rng)]
        case dict():
            return [{}, dict(list(value.items())[:1]), dict(reversed(value.items()))]
        case set():
            return [set(items) for items in _vary_items(sorted(value, key=repr), rng)[:3] if items]
    return []


def _vary_string(value: str, rng: random.Random) -> list[str]:
    shuffled = list(value)
    rng.shuffle(shuffled)
    return ["", value[::-1], value + value, value.upper(), value[: len(value) // 2], "".join(shuffled)]


def _vary_items(items: list[Literal], rng: random.Random) -> list[list[Literal]]:
    shuffled = rng.sample(items, len(items))
    inner = [
        [*items[:index], other, *items[index + 1 :]]
        for index in ([rng.randrange(len(items))] if items else [])
        for other in list(vary(items[index], rng))[:3]
    ]
    return [[], items[:1], items[::-1], items + items, shuffled, items[1:], *inner]
