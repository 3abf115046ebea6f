"""From the examples of a person to `given` test cases, by code alone (design section 4, rule 1)."""

import ast
import builtins
import re
from collections.abc import Collection, Iterable

from pipelines.candidate import TestCase
from pipelines.requirement.types import Criterion, Example, Requirement

_STRINGS = re.compile(r"""(?<=['"])[^'"\n]+(?=['"])""")
_BUILTINS = frozenset(dir(builtins))


def given_cases(requirement: Requirement, *, program: str) -> tuple[TestCase, ...]:
    """One test per example; `program` is the file that stdin/stdout examples run."""
    own = frozenset(signature.name for signature in requirement.signatures)
    return tuple(
        _case(example, f"test_given_{number}", program, requirement.criteria, own)
        for number, example in enumerate(requirement.examples, start=1)
    )


def _case(
    example: Example, name: str, program: str, criteria: Iterable[Criterion], own: frozenset[str]
) -> TestCase:
    body, arguments = _body(example, program)
    body = _awaited(body)
    return TestCase(
        name=name,
        trust="given",
        body=body,
        names=free_names(body, own=own),
        title=f"issue line {example.line}: {_one_line(example.text)}",
        call=normal_form(example.expression) if _is_plain_call(example) else "",
        criteria=_named_criteria(example, criteria),
        arguments=arguments,
    )


def _is_plain_call(example: Example) -> bool:
    return example.kind in ("value", "raises") and not example.setup and not example.printed


def _named_criteria(example: Example, criteria: Iterable[Criterion]) -> tuple[str, ...]:
    """Criteria whose text has the example's exception, or one of its longer strings."""
    values = [example.expected] if example.kind == "raises" else _STRINGS.findall(example.text)
    telling = [value for value in values if len(value) >= 4]
    return tuple(item.id for item in criteria if any(value in item.text for value in telling))


def _body(example: Example, program: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    setup = example.setup
    if example.kind == "check":
        return setup, ()
    if example.kind == "raises":
        return (*setup, f"with pytest.raises({example.expected}):\n    {example.expression}"), ()
    if example.kind == "stdio":
        run = (
            f"result = subprocess.run([sys.executable, {program!r}], input={example.stdin!r}, "
            "capture_output=True, text=True, timeout=10)"
        )
        compare = f"assert result.stdout.split() == {example.expected!r}.split(), result.stdout"
        return (run, "assert result.returncode == 0, result.stderr", compare), ()
    if example.printed:
        compare = f"assert capsys.readouterr().out.rstrip() == {example.expected.rstrip()!r}"
        return (*setup, example.expression, compare), ("capsys",)
    return (*setup, *equality(example.expression, example.expected)), ()


def _awaited(body: tuple[str, ...]) -> tuple[str, ...]:
    """Statements with `await` run in an event loop of their own."""
    if not any(isinstance(node, ast.Await) for node in ast.walk(ast.parse("\n".join(body)))):
        return body
    lines = [f"    {line}" for line in ast.unparse(ast.parse("\n".join(body))).splitlines()]
    return "\n".join(["async def scenario() -> None:", *lines]), "asyncio.run(scenario())"


def equality(expression: str, expected: str) -> tuple[str, ...]:
    """Asserts of the value: floats but for rounding errors, None and booleans by identity."""
    tree = ast.parse(expected, mode="eval").body
    if isinstance(tree, ast.Constant) and (tree.value is None or isinstance(tree.value, bool)):
        return (f"assert {expression} is {expected}",)
    if not _is_flat_with_float(tree):
        return (f"assert {expression} == {expected}",)
    close = f"pytest.approx({expected}, rel=1e-9, abs=1e-12)"
    if not isinstance(tree, ast.List | ast.Tuple):
        return (f"assert {expression} == {close}",)
    # To approx a list and a tuple are the same.
    kind = "list" if isinstance(tree, ast.List) else "tuple"
    return f"result = {expression}", f"assert isinstance(result, {kind})", f"assert result == {close}"


def _is_flat_with_float(tree: ast.expr) -> bool:
    """Whether pytest.approx understands the value: a float, or a flat list of numbers with one."""
    items = tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]
    values = [_number(item) for item in items]
    return None not in values and any(isinstance(value, float) for value in values)


def _number(tree: ast.expr) -> float | int | None:
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        tree = tree.operand
    if isinstance(tree, ast.Constant) and type(tree.value) in (int, float):
        return tree.value  # type: ignore[return-value]
    return None


def normal_form(expression: str) -> str:
    """The same text for expressions that differ only in spacing and quotes."""
    return ast.unparse(ast.parse(expression, mode="eval"))


def free_names(statements: Iterable[str], *, own: Collection[str] = ()) -> tuple[str, ...]:
    """Names that the statements read but do not define, each once; builtins only where they are `own`."""
    loaded: dict[str, None] = {}
    bound: set[str] = set()
    for node in ast.walk(ast.parse("\n".join(statements))):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                loaded[name] = None
            case ast.Name(id=name):
                bound.add(name)
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                bound.add(name)
            case ast.ClassDef(name=name):
                bound.add(name)
            case ast.alias(name=name, asname=alias):
                bound.add(alias or name.split(".")[0])
            case ast.ExceptHandler(name=str(name)):
                bound.add(name)
    return tuple(name for name in loaded if name not in bound and (name in own or name not in _BUILTINS))


def _one_line(text: str, limit: int = 100) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
