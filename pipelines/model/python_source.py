"""Questions about Python source that may not be valid."""

import ast
import warnings

_PARSER_GAVE_UP = (ValueError, RecursionError, MemoryError)
_CLOSERS = (" ", "\t", ")", "]", "}", "#")


def parse_module(code: str) -> ast.Module | None:
    """Parse a module; None when it is not valid Python."""
    try:
        return _parse(code)
    except (SyntaxError, *_PARSER_GAVE_UP):
        return None


def syntax_problem(code: str) -> str:
    """Why the code is not valid Python, in one line."""
    try:
        _parse(code)
    except SyntaxError as error:
        return f"{error.msg} (line {error.lineno})"
    except _PARSER_GAVE_UP as error:
        return str(error) or type(error).__name__
    return "it defines and runs nothing"


def does_something(module: ast.Module, *, calls_count: bool) -> bool:
    """Whether a module has a statement that a line of prose cannot be mistaken for.

    `calls_count` lets a bare call count: `print(f())` is a program, but so looks "Sure (maybe)".
    """
    return any(
        not isinstance(statement, ast.Expr)
        or (calls_count and isinstance(statement.value, ast.Call | ast.Await))
        for statement in module.body
    )


def definitions(module: ast.Module) -> frozenset[str] | None:
    """Names that a module defines, imports aside; None when it also runs something."""
    names: set[str] = set()
    for statement in module.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Assign(targets=targets):
                names.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                continue
            case _:
                return None
    return frozenset(names)


def cut_to_complete(code: str) -> str:
    """Cut code back to its last complete top-level statement before the first error; may leave nothing."""
    lines = code.split("\n")
    while lines and (error_line := _error_line("\n".join(lines))) is not None:
        last = min(error_line, len(lines)) - 1
        starts = (
            index for index in range(last, -1, -1) if lines[index] and not lines[index].startswith(_CLOSERS)
        )
        lines = lines[: next(starts, 0)]
    return "\n".join(lines)


def _error_line(code: str) -> int | None:
    try:
        _parse(code)
    except SyntaxError as error:
        return max(error.lineno or 1, 1)
    except _PARSER_GAVE_UP:
        return 1
    return None


def _parse(code: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)
