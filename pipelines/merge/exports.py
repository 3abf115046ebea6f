"""Adds names to a module's literal `__all__`, in the style that it has."""

import ast

from pipelines.merge.blocks import parse, split_lines


def export_names(source: str, names: list[str]) -> str:
    """The source with these names in `__all__`; unchanged where that is absent, empty or not a literal."""
    literal = _literal(source)
    if literal is None:
        return source
    present = {node.value for node in literal.elts if isinstance(node, ast.Constant)}
    missing = [name for name in names if name not in present]
    last = literal.elts[-1]
    lines = split_lines(source)
    row, column = (last.end_lineno or last.lineno) - 1, last.end_col_offset or 0
    line = lines[row].encode()
    content = lines[row].rstrip("\r\n")
    indent = content[: len(content) - len(content.lstrip())]
    is_spread = last.lineno != literal.lineno
    separator = "," + lines[row][len(content) :] + indent if is_spread else ", "
    quote = "'" if line[last.col_offset : last.col_offset + 1] == b"'" else '"'
    addition = "".join(f"{separator}{quote}{name}{quote}" for name in missing)
    lines[row] = (line[:column] + addition.encode() + line[column:]).decode()
    return "".join(lines)


def _literal(source: str) -> ast.List | ast.Tuple | None:
    for node in parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List() | ast.Tuple() as value):
                return value if value.elts else None
    return None
