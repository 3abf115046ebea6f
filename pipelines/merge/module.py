"""Merges a generated module into an existing one; every byte that need not change stays."""

from collections.abc import Collection, Sequence

from pipelines.errors import ModelError, RefusalError
from pipelines.merge.blocks import Block, Module, bound_names, defined_names, parse, parse_module
from pipelines.merge.edits import Edit, apply_edits
from pipelines.merge.exports import export_names
from pipelines.merge.imports import future_end, imports_end, missing_imports
from pipelines.merge.places import find_places

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
_BOM = "\ufeff"


def merge_module(existing: str, generated: str, *, allowed: Collection[str] | None = None) -> str:
    """The existing module with the generated definitions in it.

    A top-level def, class or assignment of the same name is replaced in place, unless `allowed` is given and
    lacks the name; new ones go before the `if __name__ == "__main__":` block, or to the end. Missing imports
    join the others. Bare expressions, asserts, docstring and main block of the generated module are left out.
    Raises RefusalError when the existing module does not parse, ModelError when the generated one does not or
    when the two cannot become one without losing a name.
    """
    mark = _BOM if existing.startswith(_BOM) else ""
    source, addition = existing.removeprefix(_BOM), generated.removeprefix(_BOM)
    try:
        old = parse_module(source)
    except _UNREADABLE as error:
        raise RefusalError(f"the existing file is not valid Python ({error}): repair it first") from error
    try:
        new = parse_module(addition)
    except _UNREADABLE as error:
        raise ModelError(f"the generated module is not valid Python: {error}") from error
    try:
        merged = _merged(old, new, allowed) if source.strip() else addition
    except RecursionError as error:
        raise ModelError("the code is nested too deeply to be merged; write smaller expressions") from error
    _check(merged, old)
    return mark + merged


def public_names(source: str) -> tuple[str, ...]:
    """Names of top-level defs, classes and assignments without a leading underscore, in order.

    Raises ModelError when the source does not parse.
    """
    try:
        nodes = parse(source.removeprefix(_BOM)).body
    except _UNREADABLE as error:
        raise ModelError(f"the module is not valid Python: {error}") from error
    names = [name for node in nodes for name in sorted(defined_names(node))]
    return tuple(dict.fromkeys(name for name in names if not name.startswith("_")))


def _merged(old: Module, new: Module, allowed: Collection[str] | None) -> str:
    places = find_places(old, new, allowed)
    edits = _import_edits(old, new)
    edits += [_replacement(old_block, blocks, new) for old_block, blocks in places.replaced.items()]
    for line, blocks in places.added.items():
        edits.append(Edit(start=line, end=line, text=_joined(blocks, new), blank_before=2, blank_after=2))
    merged = apply_edits(old.lines, edits)
    added = [name for blocks in places.added.values() for block in blocks for name in sorted(block.names)]
    return export_names(merged, [name for name in added if not name.startswith("_")])


def _import_edits(old: Module, new: Module) -> list[Edit]:
    """Imports after those that are there, or below the docstring with blank lines around them."""
    missing = missing_imports(old, new)
    texts: dict[int, list[str]] = {}
    if missing.future:
        texts.setdefault(future_end(old), []).append("".join(missing.future))
    if missing.usual:
        texts.setdefault(imports_end(old), []).append("".join(missing.usual))
    edits = []
    for line, parts in texts.items():
        is_first = line == old.header_end
        follower = next((block for block in old.blocks if block.start >= line), None)
        after = 2 if follower and _is_large(follower) else 1
        edits.append(
            Edit(
                start=line,
                end=line,
                text="\n".join(parts),
                blank_before=1 if is_first else 0,
                blank_after=after if is_first else 0,
            )
        )
    return edits


def _replacement(old: Block, blocks: Sequence[Block], new: Module) -> Edit:
    """The old block's comments go only where the new one brings its own."""
    start = old.comment_start if blocks[0].comment_start < blocks[0].start else old.start
    return Edit(start=start, end=old.end, text=_joined(blocks, new))


def _joined(blocks: Sequence[Block], module: Module) -> str:
    """The blocks' text with two blank lines around defs and classes, none between plain statements."""
    text = ""
    for before, block in zip([None, *blocks], blocks, strict=False):
        if before and (_is_large(before) or _is_large(block)):
            text += "\n\n"
        text += module.text(block.comment_start, block.end)
    return text


def _is_large(block: Block) -> bool:
    return hasattr(block.statements[0], "body")


def _check(merged: str, old: Module) -> None:
    """Raise ModelError unless the merged module parses and has every name of the old one."""
    try:
        names = bound_names(parse(merged).body)
    except _UNREADABLE as error:
        raise ModelError(f"the generated definitions do not fit into the existing file: {error}") from error
    lost = sorted(bound_names(old.statements) - names)
    if lost:
        raise ModelError(
            f"the new code would remove {', '.join(lost)} from the file; keep every name that it defines"
        )
