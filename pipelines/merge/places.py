"""Decides which generated blocks are taken and where each goes."""

import ast
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from pipelines.merge.blocks import Block, Module, bound_names, is_import, is_main_guard, used_names


@dataclass(slots=True)
class Places:
    """Where the generated blocks go in the existing module."""

    replaced: dict[Block, list[Block]] = field(default_factory=dict)
    """Existing blocks with those that take their place."""
    added: dict[int, list[Block]] = field(default_factory=dict)
    """New blocks by the 0-based line that they go before, in the generated order."""


def find_places(existing: Module, generated: Module, allowed: Collection[str] | None) -> Places:
    """Same names are replaced in place; new ones go to the end, or above the first that needs them."""
    places = Places()
    new: list[Block] = []
    imported = bound_names(existing.statements)
    dumps = {ast.dump(node) for node in existing.statements}
    for block in generated.blocks:
        matches = [other for other in existing.blocks if other.names & block.names]
        may_replace = allowed is None or block.names <= set(allowed)
        if not _is_definition(block) or (block.names & imported and not may_replace):
            continue
        if "__all__" in block.names and matches:
            continue
        if not matches:
            if block.names or ast.dump(block.statements[0]) not in dumps:
                new.append(block)
        else:
            places.replaced.setdefault(matches[-1], []).append(block)
    places.replaced = {
        old: blocks for old, blocks in places.replaced.items() if not _is_same(old, blocks, existing)
    }
    _place_new(places, new, end_of_definitions(existing))
    return places


def end_of_definitions(module: Module) -> int:
    """0-based line of the main block with its comments, or the end of the file."""
    guards = (block.comment_start for block in module.blocks if is_main_guard(block.statements[0]))
    return next(guards, len(module.lines))


def _is_definition(block: Block) -> bool:
    """Whether the block is worth taking: not an import, a main block, or a bare expression or assert."""
    first = block.statements[0]
    if block.names:
        return True
    return not (
        is_import(first) or is_main_guard(first) or isinstance(first, ast.Expr | ast.Assert | ast.Pass)
    )


def _is_same(old: Block, blocks: list[Block], existing: Module) -> bool:
    """Whether the file has this code already, as one block or as all its definitions of these names."""
    code = _code(blocks)
    return code in (_code([old]), _code(other for other in existing.blocks if other.names & old.names))


def _code(blocks: Iterable[Block]) -> list[str]:
    """The program without its layout and comments."""
    return [ast.dump(node) for block in blocks for node in block.statements]


def _place_new(places: Places, new: list[Block], end: int) -> None:
    """A new block that a replaced one needs while the module is imported goes above that one."""
    waiting = list(new)
    for old, changes in sorted(places.replaced.items(), key=lambda item: item[0].start):
        needed = used_names([node for block in changes for node in block.statements], at_import=True)
        chosen: list[Block] = []
        while found := [block for block in waiting if block.names & needed]:
            waiting = [block for block in waiting if block not in found]
            chosen += found
            needed = used_names([node for block in found for node in block.statements], at_import=False)
        if chosen:
            places.added[old.comment_start] = [block for block in new if block in chosen]
    if waiting:
        places.added[end] = waiting
