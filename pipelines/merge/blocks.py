"""Cuts a module into top-level blocks of whole lines, so that parts can be moved without reprinting them."""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OWN_SCOPE = (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Neighbouring statements that belong together, as whole lines."""

    statements: tuple[ast.stmt, ...]
    names: frozenset[str]
    """Names that it defines: one for a def or class, any number for an assignment, none for the rest."""
    comment_start: int
    """0-based line of the comments directly above; equal to `start` where there are none."""
    start: int
    """0-based first line, decorators included."""
    end: int
    """0-based line after the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A parsed module: its lines with their line ends, and its blocks in order."""

    lines: tuple[str, ...]
    blocks: tuple[Block, ...]
    header_end: int
    """0-based line after the shebang, the comments at the top and the docstring."""

    @property
    def statements(self) -> tuple[ast.stmt, ...]:
        """Every top-level statement but the docstring."""
        return tuple(node for block in self.blocks for node in block.statements)

    def text(self, start: int, end: int) -> str:
        """These lines with `\\n` line ends and one at the end."""
        return re.sub(r"\r\n?", "\n", "".join(self.lines[start:end])).rstrip("\n") + "\n"


def parse_module(source: str) -> Module:
    """Cut the source into blocks; raises as `parse` does."""
    lines = tuple(split_lines(source))
    tree = parse(source)
    first_comments = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    statements = list(tree.body)
    header_end = first_comments
    if statements and is_text(statements[0]) and not _shares_line(statements[:2]):
        header_end = max(header_end, _end(statements.pop(0)))
    blocks = []
    free_from = header_end
    for group in _groups(statements):
        block = _block(group, lines, free_from)
        blocks.append(block)
        free_from = block.end
    return Module(lines=lines, blocks=tuple(blocks), header_end=header_end)


def split_lines(source: str) -> list[str]:
    """Lines with their ends, counted as Python's parser counts them."""
    return _LINE.findall(source)


def parse(source: str) -> ast.Module:
    """The tree of a module that compiles, without warnings about other people's code.

    Raises SyntaxError, ValueError, RecursionError or MemoryError, as `compile` does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source)
        compile(tree, "<module>", "exec", dont_inherit=True)
    return tree


def is_text(node: ast.stmt) -> bool:
    """Whether this statement is a bare string, such as a docstring."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def is_import(node: ast.stmt) -> bool:
    """Whether this is an import, or a `try` or `if` that holds one directly."""
    if isinstance(node, ast.Try):
        return any(map(is_import, node.body))
    if isinstance(node, ast.If):
        return not is_main_guard(node) and any(map(is_import, [*node.body, *node.orelse]))
    return isinstance(node, ast.Import | ast.ImportFrom)


def is_main_guard(node: ast.stmt) -> bool:
    """Whether this is `if __name__ == "__main__":`."""
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
    )


def defined_names(node: ast.stmt) -> frozenset[str]:
    """Names that a def, a class or an assignment gives at its own level; empty for other statements."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return frozenset([node.name])
        case ast.Assign(targets=targets):
            parts = [part for target in targets for part in ast.walk(target)]
        case ast.AnnAssign(target=target):
            parts = [target]
        case _:
            return frozenset()
    return frozenset(
        part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    )


def bound_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Every name that these statements bind in their own scope, however deeply nested."""
    names: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.alias(name=name, asname=asname):
                names.add(asname or name.partition(".")[0])
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
        if not isinstance(node, _OWN_SCOPE):
            waiting.extend(ast.iter_child_nodes(node))
    return frozenset(names - {"*"})


def used_names(nodes: Iterable[ast.AST], *, at_import: bool) -> frozenset[str]:
    """Names that these statements mention; at import, those in function bodies do not count."""
    names: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            names.add(node.id)
        if at_import and isinstance(node, _FUNCTIONS):
            waiting += [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
        elif at_import and isinstance(node, ast.Lambda):
            waiting.append(node.args)
        else:
            waiting.extend(ast.iter_child_nodes(node))
    return frozenset(names)


def _groups(statements: Sequence[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Statements that share a line, and neighbours that define the same name (overloads), stay together."""
    group: list[ast.stmt] = []
    for node in statements:
        same_name = group and defined_names(node) and defined_names(node) == defined_names(group[-1])
        if group and not same_name and not _shares_line([group[-1], node]):
            yield group
            group = []
        group.append(node)
    if group:
        yield group


def _block(group: Sequence[ast.stmt], lines: Sequence[str], free_from: int) -> Block:
    start = first = _start(group[0])
    while first > free_from and lines[first - 1].startswith("#"):
        first -= 1
    names = frozenset(name for node in group for name in defined_names(node))
    return Block(statements=tuple(group), names=names, comment_start=first, start=start, end=_end(group[-1]))


def _start(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _shares_line(pair: Sequence[ast.stmt]) -> bool:
    return len(pair) == 2 and _end(pair[0]) > _start(pair[1])
