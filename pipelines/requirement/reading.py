"""What the readers of examples share: where they read, what is known, what they found."""

import ast
import itertools
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipelines.requirement.expressions import (
    bound_names,
    imports_for,
    is_bracketed_constant,
    is_value,
    normal,
    parse_module,
    self_contained,
)
from pipelines.requirement.markdown import Line
from pipelines.requirement.scanning import Effort
from pipelines.requirement.statements import relevant
from pipelines.requirement.subject import is_foreign, objection
from pipelines.requirement.types import Example, Signature

_MAX_EXAMPLES = 400
_MAX_NOTES = 20
_STEPS_PER_EXAMPLE = 100


class Region(NamedTuple):
    """Lines that are read together: a section's prose, a code block, or the docstring of `owner`."""

    lines: tuple[Line, ...]
    owner: str = ""
    tree: ast.Module | None = None
    """Set for code that parses as Python; `lines` then holds only what stands outside functions."""
    first_line: int = 1
    """The issue's line of the tree's line 1."""


class Passage(NamedTuple):
    """A region's text with the position and number of each of its lines."""

    text: str
    starts: tuple[int, ...]
    numbers: tuple[int, ...]

    @classmethod
    def of(cls, region: Region, claimed: set[int]) -> "Passage":
        """The text of a region, with lines that another reader took left blank."""
        texts = ["" if number in claimed else text for number, text in region.lines]
        starts = itertools.accumulate((len(text) + 1 for text in texts), initial=0)
        return cls("\n".join(texts), tuple(starts)[:-1], tuple(line.number for line in region.lines))

    def line_at(self, position: int) -> int:
        """The issue's line number at a position of the text."""
        return self.numbers[bisect(self.starts, position) - 1]


@dataclass
class Reading:
    """The examples found so far, with the lines they stand on and notes on what was not read."""

    signatures: Mapping[str, Signature]
    effort: Effort = field(default_factory=Effort)
    examples: list[Example] = field(default_factory=list)
    claimed: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    _seen: set[tuple[str, ...]] = field(default_factory=set)
    _unread: int = 0

    @property
    def known(self) -> frozenset[str]:
        """Names of the functions and classes that the issue declares."""
        return frozenset(self.signatures)

    def function_for(self, region: Region) -> Signature | None:
        """The function whose docstring this is, or the only function of the issue."""
        owner = self.signatures.get(region.owner)
        if owner is not None and owner.kind == "function":
            return owner
        functions = [signature for signature in self.signatures.values() if signature.kind == "function"]
        return functions[0] if len(functions) == 1 else None

    def value_of(self, text: str, statements: Sequence[str] = ()) -> bool:
        """True when the text is an expected value here."""
        if not self.effort.spend(10 + len(text) // 8):
            return False
        classes = {name for name, signature in self.signatures.items() if signature.kind == "class"}
        return is_value(text, known=frozenset(classes) | _bound(statements))

    def add(self, example: Example, region: Region, statements: Sequence[str] = ()) -> bool:
        """Keep an example of the code asked for, with the statements it needs; else note why not."""
        if not self.effort.spend(_STEPS_PER_EXAMPLE + 10 * len(statements)):
            return False
        if example.kind == "value" and not example.printed and is_bracketed_constant(example.expected):
            self.unread(example.line, example.text, "its result may be a value or a tuple of one")
            return False
        example = _self_contained(example)
        checks = [*example.setup] if example.kind == "check" else []
        tested = [text for text in (example.expression, *checks) if text]
        setup = relevant(statements, [*tested, example.expected if example.kind == "value" else ""])
        problem = objection(
            [parse_module(text) for text in tested], [parse_module(text) for text in setup], self.known
        )
        if problem:
            self.unread(example.line, example.text, problem)
            return False
        imports = imports_for(*tested, example.expected, bound=_bound(setup) | self.known)
        complete = example.model_copy(update={"setup": (*imports, *setup, *checks)})
        if region.owner and is_foreign([parse_module(text) for text in (*tested, *setup)], self.known):
            self.unread(
                example.line, example.text, f"it is in the docstring of {region.owner} but calls another name"
            )
            return False
        self.keep(complete)
        return True

    def keep(self, example: Example) -> None:
        """Store an accepted example unless an equal one is there."""
        key = (
            example.kind,
            *example.setup,
            normal(example.expression),
            normal(example.expected),
            example.stdin,
        )
        if key in self._seen:
            return
        if len(self.examples) >= _MAX_EXAMPLES:
            self.unread(example.line, example.text, f"only the first {_MAX_EXAMPLES} examples are read")
            return
        self._seen.add(key)
        self.examples.append(example)

    def unread(self, line: int, text: str, why: str) -> None:
        """Note something that looks like an example but could not be used."""
        self._unread += 1
        if self._unread <= _MAX_NOTES:
            self.notes.append(f"line {line}: not read as an example ({why}): {' '.join(text.split())[:120]}")

    def all_notes(self) -> tuple[str, ...]:
        """The notes, shortened when there are many."""
        more = self._unread - _MAX_NOTES
        extra = [f"{more} more lines were not read as examples"] if more > 0 else []
        if self.effort.exhausted:
            extra.append("the issue is too intricate to read all of its examples; put them in one code block")
        return (*self.notes, *extra)


def _self_contained(example: Example) -> Example:
    if example.kind == "check":
        return example
    changes = {"expression": self_contained(example.expression)}
    if example.kind == "value" and not example.printed:
        changes["expected"] = self_contained(example.expected)
    return example.model_copy(update=changes)


def _bound(statements: Sequence[str]) -> frozenset[str]:
    trees = (parse_module(statement) for statement in statements)
    return frozenset().union(*(bound_names(tree) for tree in trees if tree is not None))
