"""Adds the imports that a generated module needs to an existing one, each once."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipelines.errors import ModelError
from pipelines.merge.blocks import Block, Module, bound_names, is_import


class Import(NamedTuple):
    """One imported thing: `import module as bound` has no name, `from module import name` has one."""

    module: str
    level: int
    name: str | None
    bound: str

    @property
    def source(self) -> tuple[str, int, str | None]:
        """What the bound name stands for."""
        is_plain = self.name is None and self.bound == self.module.partition(".")[0]
        return (self.bound if is_plain else self.module, self.level, self.name)


@dataclass(slots=True)
class MissingImports:
    """Import text to add, with `\\n` line ends."""

    future: list[str] = field(default_factory=list)
    """`from __future__` lines, which come before all others."""
    usual: list[str] = field(default_factory=list)


def missing_imports(existing: Module, generated: Module) -> MissingImports:
    """The generated imports that the existing module lacks, as written where a whole statement is missing.

    A name that the existing module defines itself is not imported over. Raises ModelError when a generated
    import gives a name of the existing module another meaning.
    """
    known = {item for node in existing.statements for item in _items(node)}
    present = {item.bound: item for item in known}
    own_names = bound_names(existing.statements) - present.keys()
    missing = MissingImports()
    for block in generated.blocks:
        for node in filter(is_import, block.statements):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                if not bound_names([node]) <= own_names | present.keys():
                    missing.usual.append(generated.text(block.start, block.end))
                continue
            wanted = [item for item in _items(node) if item not in known and item.bound not in own_names]
            for item in wanted:
                _refuse_other_meaning(item, present.get(item.bound))
                known.add(item)
                present[item.bound] = item
            if wanted:
                text = _text(node, wanted, block, generated)
                (missing.future if _is_future(node) else missing.usual).append(text)
    return missing


def future_end(module: Module) -> int:
    """0-based line where a `from __future__` import can be added."""
    ends = [block.end for block in module.blocks if _is_future(block.statements[0])]
    return max([module.header_end, *ends])


def imports_end(module: Module) -> int:
    """0-based line after the last import above the first def or class."""
    end = module.header_end
    for block in module.blocks:
        if isinstance(block.statements[0], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            break
        if any(map(is_import, block.statements)):
            end = block.end
    return end


def _items(node: ast.stmt) -> Iterator[Import]:
    match node:
        case ast.Import(names=names):
            for alias in names:
                yield Import(alias.name, 0, None, alias.asname or alias.name.partition(".")[0])
        case ast.ImportFrom(module=module, names=names, level=level):
            for alias in names:
                yield Import(module or "", level, alias.name, alias.asname or alias.name)


def _refuse_other_meaning(wanted: Import, present: Import | None) -> None:
    if present and present.source != wanted.source and wanted.name != "*":
        raise ModelError(
            f"the new code imports {wanted.bound!r} from {_place(wanted)}, but the file imports that name "
            f"from {_place(present)}; use the file's own import, or import it under another name"
        )


def _place(item: Import) -> str:
    return repr("." * item.level + item.module)


def _text(node: ast.Import | ast.ImportFrom, wanted: Sequence[Import], block: Block, module: Module) -> str:
    """The import of the wanted things only; the statement as written where that is all of it."""
    if len(wanted) == len(node.names) and len(block.statements) == 1:
        return module.text(block.start, block.end)
    kept = [alias for alias, item in zip(node.names, _items(node), strict=True) if item in wanted]
    if isinstance(node, ast.Import):
        return ast.unparse(ast.Import(names=kept)) + "\n"
    return ast.unparse(ast.ImportFrom(module=node.module, names=kept, level=node.level)) + "\n"


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
