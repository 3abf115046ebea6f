"""Map an input as people write it (`nums = [1, 2], k = 3`) to a call of a known function."""

import ast
import re
from collections.abc import Sequence

from pipelines.requirement.expressions import called_names, parse_expression, parse_module, pythonic
from pipelines.requirement.reading import Reading
from pipelines.requirement.types import Signature

_NAMED = re.compile(r"(?:^|(?<=[\s,;]))([A-Za-z_][A-Za-z0-9_]*)\s{0,9}[=:](?![=>])\s{0,9}")
_MAX_INPUT = 2000


def call_from(text: str, signature: Signature, reading: Reading) -> str | None:
    """The call that an input stands for, or None."""
    text = text.strip().strip("`").strip().rstrip(",;")
    if not text or len(text) > _MAX_INPUT or not reading.effort.spend(20 + len(text) // 4):
        return None
    tree = parse_expression(text)
    if tree is not None and signature.name in called_names(tree):
        return text
    values = _named_values(text, signature, reading) or _positional_values(text, signature, reading)
    return f"{signature.name}({', '.join(values)})" if values else None


def accepts(signature: Signature, count: int) -> bool:
    """True when the function can be called with that many positional arguments."""
    return required(signature) <= count <= len(signature.parameters) and count > 0


def required(signature: Signature) -> int:
    """How many parameters have no default."""
    tree = parse_module(signature.stub)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == signature.name:
            return len(signature.parameters) - len(node.args.defaults) - len(node.args.kwonlyargs)
    return len(signature.parameters)


def _named_values(text: str, signature: Signature, reading: Reading) -> list[str]:
    matches = list(_NAMED.finditer(text))
    if not matches or text[: matches[0].start()].strip():
        return []
    ends = [match.start() for match in matches[1:]] + [len(text)]
    pairs: dict[str, str] = {}
    for match, end in zip(matches, ends, strict=True):
        value = pythonic(text[match.end() : end].strip().rstrip(",;").strip().strip("`"))
        if value is None or not reading.value_of(value):
            return []
        pairs[match.group(1)] = value
    if set(pairs) <= set(signature.parameters):
        ordered = [name for name in signature.parameters if name in pairs]
        if ordered == list(signature.parameters[: len(ordered)]):
            return [pairs[name] for name in ordered] if accepts(signature, len(ordered)) else []
        return [f"{name}={pairs[name]}" for name in ordered]
    return list(pairs.values()) if len(pairs) == len(signature.parameters) else []


def _positional_values(text: str, signature: Signature, reading: Reading) -> list[str]:
    for joined in (text, ", ".join(line.strip() for line in text.split("\n") if line.strip())):
        arguments = _argument_list(joined)
        if arguments and accepts(signature, len(arguments)) and all(map(reading.value_of, arguments)):
            return list(arguments)
    return []


def _argument_list(text: str) -> Sequence[str]:
    expression = pythonic(f"f({text})")
    tree = parse_expression(expression) if expression else None
    if expression is None or not isinstance(tree, ast.Call) or tree.keywords or not tree.args:
        return ()
    if not isinstance(tree.func, ast.Name):
        return ()
    return [ast.unparse(argument) for argument in tree.args]
