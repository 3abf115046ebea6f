"""Python expressions in issue text: parse them, never run them."""

import ast
import builtins
import re
import sys
import warnings
from collections.abc import Set as AbstractSet

_MAX_LENGTH = 4000
_MAX_MODULE = 100_000
_JSON_NAMES = {"true": "True", "false": "False", "null": "None"}
_SMART_QUOTES = str.maketrans("“”„‟‘’‚‛«»", '""""\'\'\'\'""')
BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
EXCEPTIONS = frozenset(
    name
    for name in BUILTINS
    if isinstance(item := getattr(builtins, name), type) and issubclass(item, BaseException)
)
IMPORTS = {
    "Decimal": "from decimal import Decimal",
    "Fraction": "from fractions import Fraction",
    "Path": "from pathlib import Path",
    "PurePath": "from pathlib import PurePath",
    "PurePosixPath": "from pathlib import PurePosixPath",
    "date": "from datetime import date",
    "datetime": "from datetime import datetime",
    "time": "from datetime import time",
    "timedelta": "from datetime import timedelta",
    "timezone": "from datetime import timezone",
    "UUID": "from uuid import UUID",
    "Counter": "from collections import Counter",
    "OrderedDict": "from collections import OrderedDict",
    "defaultdict": "from collections import defaultdict",
    "deque": "from collections import deque",
    "SimpleNamespace": "from types import SimpleNamespace",
}
_CONSTRUCTOR_NAMES = "set frozenset dict list tuple bytes bytearray complex float int str bool range len sum"
_CONSTRUCTORS = frozenset(_CONSTRUCTOR_NAMES.split()) | IMPORTS.keys()
_VALUE_NODES = (
    ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.Call, ast.Attribute,
    ast.Name, ast.Load, ast.Store, ast.operator, ast.unaryop, ast.keyword, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.GeneratorExp, ast.comprehension,
)  # fmt: skip


def parse_module(source: str) -> ast.Module | None:
    """The syntax tree of some source, or None when it is not Python or longer than 100,000 characters."""
    if len(source) > _MAX_MODULE:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def parse_expression(text: str) -> ast.expr | None:
    """The syntax tree of one expression, or None."""
    if not text or len(text) > _MAX_LENGTH:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def unparse(node: ast.AST) -> str:
    """Source of a tree, or '' when it is nested too deeply."""
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return ""


def pythonic(text: str) -> str | None:
    """The text as a Python expression: straight quotes, JSON's true, false and null in Python's words."""
    for candidate in (text, text.translate(_SMART_QUOTES)):
        tree = parse_expression(candidate)
        if tree is not None:
            return _without_json_names(candidate, tree)
    return None


def _without_json_names(text: str, tree: ast.expr) -> str:
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in _JSON_NAMES]
    if not names:
        return text
    for name in names:
        name.id = _JSON_NAMES[name.id]
    return unparse(tree)


def normal(text: str) -> str:
    """One spelling for equal source, to compare examples."""
    tree = parse_expression(text)
    return (unparse(tree) if tree is not None else "") or text


def bound_names(tree: ast.AST) -> set[str]:
    """Names that the source itself binds: assignments, imports, definitions, comprehension variables."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
    return names


def used_names(tree: ast.AST) -> set[str]:
    """Names that the source reads from outside itself."""
    loads = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    return loads - bound_names(tree)


def called_names(tree: ast.AST) -> set[str]:
    """Plain or dotted names that are called: `f`, `Stack`, `slugs.slugify`."""
    return {name for node in ast.walk(tree) if isinstance(node, ast.Call) and (name := dotted(node.func))}


def dotted(node: ast.expr) -> str:
    """`a.b.c` for such an attribute chain, '' for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def is_value(text: str, *, known: frozenset[str] = frozenset()) -> bool:
    """True for literals, arithmetic (not `|`, often an "or"), calls of constructors or known names."""
    tree = parse_expression(text)
    if tree is None or not all(_may_be_in_value(node) for node in ast.walk(tree)):
        return False
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    roots = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    defined = known | bound_names(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or node.id in defined:
            continue
        is_constructor = id(node) in functions and node.id in _CONSTRUCTORS
        is_module = id(node) in roots and (node.id in sys.stdlib_module_names or node.id in IMPORTS)
        if not (is_constructor or is_module):
            return False
    return True


def is_bracketed_constant(text: str) -> bool:
    """True for `("x")`: a string to Python, but a tuple of one to many who write it."""
    return text.startswith("(") and isinstance(parse_expression(text), ast.Constant)


def _may_be_in_value(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name | ast.Attribute)
    if isinstance(node, ast.Constant):
        return node.value is not Ellipsis
    if isinstance(node, ast.BitOr):
        return False
    return isinstance(node, _VALUE_NODES)


def self_contained(text: str) -> str:
    """The expression so that it can stand beside `==` on one logical line."""
    tree = parse_expression(text)
    if tree is None:
        return text
    source = text if _parses_alone(f"[{text}]") else unparse(tree)
    is_loose = isinstance(tree, ast.BoolOp | ast.Compare | ast.IfExp | ast.Lambda | ast.NamedExpr) or (
        isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not)
    )
    is_bare_tuple = isinstance(tree, ast.Tuple) and not source.startswith("(")
    return f"({source})" if is_loose or is_bare_tuple or not _parses_alone(source) else source


def _parses_alone(source: str) -> bool:
    tree = parse_module(source)
    return tree is not None and len(tree.body) == 1


def exception_name(text: str) -> str | None:
    """`ValueError` from `ValueError`, `errors.ParseError` or `ValueError("...")`; else None."""
    tree = parse_expression(text)
    if isinstance(tree, ast.Call):
        tree = tree.func
    name = dotted(tree) if tree is not None else ""
    last = name.rpartition(".")[2]
    if last in EXCEPTIONS or re.fullmatch(r"[A-Z]\w*(?:Error|Exception|Warning)", last):
        return name
    return None


def imports_for(*expressions: str, bound: AbstractSet[str]) -> tuple[str, ...]:
    """Standard-library imports that the expressions need and that nothing binds yet."""
    needed: dict[str, None] = {}
    for expression in expressions:
        tree = parse_module(expression)
        if tree is None:
            continue
        roots = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Name) or node.id in bound or node.id in BUILTINS:
                continue
            if id(node) in roots and node.id in sys.stdlib_module_names:
                needed[f"import {node.id}"] = None
            elif node.id in IMPORTS:
                needed[IMPORTS[node.id]] = None
    return tuple(needed)
