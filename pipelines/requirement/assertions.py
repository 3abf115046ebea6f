"""Examples written as tests: asserts, `pytest.raises`, unittest methods and parametrised tests."""

import ast
import re
from collections.abc import Iterator, Sequence

from pipelines.requirement.comparisons import from_condition
from pipelines.requirement.expressions import dotted, exception_name, parse_module, unparse
from pipelines.requirement.markdown import Line
from pipelines.requirement.reading import Reading, Region
from pipelines.requirement.types import Example

_ASSERT_LINE = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?`{0,2}(assert\b.*?)`{0,2}\s*$")
_MAX_LINES = 30
_STEPS_PER_STATEMENT = 20
_EQUAL_METHODS = frozenset({"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertIs"})
_CONDITIONS = {
    "assertTrue": "{0}",
    "assertFalse": "not {0}",
    "assertIsNone": "{0} is None",
    "assertIn": "{0} in {1}",
}


def read_assert_lines(region: Region, reading: Reading) -> None:
    """Add the asserts that stand on lines of their own outside parsed code."""
    index = 0
    while index < len(region.lines):
        match = _ASSERT_LINE.match(region.lines[index].text)
        if match is None or region.lines[index].number in reading.claimed:
            index += 1
            continue
        statement, count = _whole_statement(match.group(1), region.lines[index + 1 :], reading)
        if isinstance(statement, ast.Assert):
            taken = region.lines[index : index + count]
            reading.claimed.update(line.number for line in taken)
            text = "\n".join(line.text for line in taken).strip()
            example = from_condition(statement.test, line=taken[0].number, text=text, reading=reading)
            reading.add(example, region)
        index += count


def _whole_statement(first: str, following: Sequence[Line], reading: Reading) -> tuple[ast.stmt | None, int]:
    source = first
    for count in range(1, _MAX_LINES):
        tree = parse_module(source) if reading.effort.spend(10 + len(source) // 8) else None
        if tree is not None and len(tree.body) == 1:
            return tree.body[0], count
        if count > len(following) or not following[count - 1].text.strip():
            break
        source = f"{source}\n{following[count - 1].text.rstrip().removesuffix('`')}"
    return None, 1


def read_test_code(region: Region, reading: Reading) -> None:
    """Add the checks of a parsed code block: at its top level and in its test functions."""
    if region.tree is None:
        return
    source = "\n".join(line.text for line in region.lines)
    _TestCode(region, reading, source).read(region.tree.body, [])


class _TestCode:
    """Walks test code in order and keeps the statements that came before."""

    def __init__(self, region: Region, reading: Reading, source: str) -> None:
        self._region = region
        self._reading = reading
        self._source = source

    def read(self, body: Sequence[ast.stmt], earlier: list[str]) -> None:
        """Read statements; `earlier` grows with those that later ones may need."""
        for node in body:
            if not self._reading.effort.spend(_STEPS_PER_STATEMENT):
                return
            if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                self.read(node.body, list(earlier))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                self._read_test(node, earlier)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            elif not self._read_check(node, earlier):
                earlier.append(unparse(node))

    def _read_test(self, node: ast.FunctionDef | ast.AsyncFunctionDef, earlier: list[str]) -> None:
        for binding in _parameter_sets(node):
            self.read(node.body, [*earlier, *binding])

    def _read_check(self, node: ast.stmt, earlier: list[str]) -> bool:
        line, text = self._region.first_line + node.lineno - 1, unparse(node)
        examples = list(_checks(node, line=line, text=text, reading=self._reading))
        for example, before in examples:
            end = self._region.first_line + (node.end_lineno or node.lineno)
            self._reading.claimed.update(range(line, end))
            self._reading.add(example, self._region, [*earlier, *before])
        return bool(examples)


def _parameter_sets(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[str, ...]]:
    """One binding statement for each `parametrize` row; a single empty one without that decorator."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and dotted(decorator.func).endswith("mark.parametrize"):
            arguments = decorator.args
            if len(arguments) > 1 and isinstance(arguments[1], ast.List | ast.Tuple):
                names = _names(arguments[0])
                return [(f"{names} = {unparse(row)}",) for row in arguments[1].elts] if names else []
    return [()]


def _names(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return ", ".join(str(item.value) for item in node.elts if isinstance(item, ast.Constant))
    return ""


def _checks(
    node: ast.stmt, *, line: int, text: str, reading: Reading
) -> Iterator[tuple[Example, Sequence[str]]]:
    """The checks of one statement, each with further statements that come before it."""
    if isinstance(node, ast.Assert):
        yield from_condition(node.test, line=line, text=text, reading=reading), ()
    elif isinstance(node, ast.With):
        raised = _raised_by(node.items[0].context_expr)
        last = node.body[-1]
        if raised and isinstance(last, ast.Expr | ast.Assign):
            expression = unparse(last.value)
            before = [unparse(statement) for statement in node.body[:-1]]
            yield Example(kind="raises", expression=expression, expected=raised, line=line, text=text), before
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        example = _from_method(node.value, line=line, text=text, reading=reading)
        if example is not None:
            yield example, ()


def _raised_by(context: ast.expr) -> str:
    if (
        isinstance(context, ast.Call)
        and context.args
        and dotted(context.func).split(".")[-1] in ("raises", "assertRaises")
    ):
        return exception_name(unparse(context.args[0])) or ""
    return ""


def _from_method(call: ast.Call, *, line: int, text: str, reading: Reading) -> Example | None:
    method, arguments = dotted(call.func).rpartition(".")[2], call.args
    if method in _EQUAL_METHODS and len(arguments) >= 2:
        equation = ast.Compare(left=arguments[0], ops=[ast.Eq()], comparators=[arguments[1]])
        return from_condition(equation, line=line, text=text, reading=reading)
    if method == "assertRaises" and len(arguments) >= 2:
        called = ast.Call(func=arguments[1], args=arguments[2:], keywords=call.keywords)
        return Example(
            kind="raises", expression=unparse(called), expected=unparse(arguments[0]), line=line, text=text
        )
    template = _CONDITIONS.get(method)
    if template is None or len(arguments) < template.count("{"):
        return None
    condition = parse_module(template.format(*(unparse(argument) for argument in arguments)))
    statement = condition.body[0] if condition is not None else None
    return (
        from_condition(statement.value, line=line, text=text, reading=reading)
        if isinstance(statement, ast.Expr)
        else None
    )
