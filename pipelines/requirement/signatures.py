"""The functions and classes that an issue declares."""

import ast
import re
from collections.abc import Iterator

from pipelines.requirement.expressions import BUILTINS, called_names, parse_expression, parse_module
from pipelines.requirement.markdown import Block, Document
from pipelines.requirement.regions import Definition, docstring_of
from pipelines.requirement.scanning import Effort, closing
from pipelines.requirement.types import Example, Signature

_PYTHON = frozenset({"", "python", "python3", "py", "py3", "pyi", "text"})
_HEADER = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+([A-Za-z_]\w*)[ \t]*\(", re.MULTILINE)
_INLINE_HEADER = re.compile(r"`{1,2}\s*((?:async\s+)?def\s+[A-Za-z_]\w*\s*\([^`\n]{0,500})`{1,2}")
_INLINE_CALL = re.compile(r"`{0,2}\b([A-Za-z_]\w*)(\([^`\n()]{0,300}\))(\s*->\s*[\w\[\], .|]{1,80})?`{0,2}")
_INLINE_NAME = re.compile(r"`([A-Za-z_]\w*)(?:\(\))?`")
_MAX_PARAGRAPH = 10_000
_FUNCTION_WORD = re.compile(
    r"\b(?:functions?|methods?|implement|add|write|create|needs?|called|named|provide|signature|funktion|methode|"
    r"implementier\w*|schreib\w*|fonction|méthode|función|método|função|funzione|metodo|функци\w*|реализ\w*)\b"
    r"|関数|メソッド|函数|方法|함수|메서드",
    re.IGNORECASE,
)
_CLASS_WORD = re.compile(r"\b(?:class|klasse|classe|clase|класс)\b|クラス|类|클래스", re.IGNORECASE)
_NAMED_FUNCTION = re.compile(
    r"(?:\b(?:function|method|funktion|methode|fonction|méthode|función|função|funzione|функци[яюи])|関数|函数|함수)"
    r"\s*(?:called|named|namens|appelée|nommée|llamada|chamada|chiamata|名为)?\s*$",
    re.IGNORECASE,
)


def declared_signatures(document: Document) -> tuple[Signature, ...]:
    """Stubs in code blocks first, then headers and names in the prose; one for each name."""
    found: dict[str, Signature] = {}
    for block in document.blocks:
        if block.language in _PYTHON:
            for signature in _in_block(block):
                found.setdefault(signature.name, signature)
    for line in document.prose():
        for signature in _in_prose(line.text):
            found.setdefault(signature.name, signature)
    for heading in document.headings:
        for signature in _in_prose(heading.text):
            found.setdefault(signature.name, signature)
    return tuple(found.values())


def example_signatures(examples: tuple[Example, ...], known: frozenset[str]) -> tuple[Signature, ...]:
    """Plain names that examples call and that nothing declares."""
    found: dict[str, Signature] = {}
    for example in examples:
        for source in (example.expression, *example.setup):
            tree = parse_module(source)
            for name in sorted(called_names(tree)) if tree is not None else ():
                root = name.split(".")[0]
                if (
                    "." in name
                    or root in known
                    or root in BUILTINS
                    or root in found
                    or _is_imported(root, example)
                ):
                    continue
                kind = "class" if root[:1].isupper() else "function"
                found[root] = Signature.model_validate({"name": root, "kind": kind, "origin": "example"})
    return tuple(found.values())


def _is_imported(name: str, example: Example) -> bool:
    return any(re.search(rf"import .*\b{re.escape(name)}\b", statement) for statement in example.setup)


def _in_block(block: Block) -> Iterator[Signature]:
    tree = parse_module(block.code)
    if tree is None:
        yield from _headers(block.code)
        return
    lines = block.code.split("\n")
    for node in tree.body:
        if isinstance(node, Definition) and _is_stub(node) and not node.name.lower().startswith("test"):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            stub = "\n".join(lines[first - 1 : node.end_lineno])
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            yield Signature.model_validate(
                {"name": node.name, "kind": kind, "stub": stub, "parameters": _parameters(node)}
            )


def _is_stub(node: ast.stmt) -> bool:
    """True when a definition does nothing yet: docstring, `...`, `pass`, NotImplementedError, fields."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return all(_does_nothing(statement) for statement in node.body)
    if isinstance(node, ast.ClassDef):
        return all(
            _is_stub(item) or _does_nothing(item) or isinstance(item, ast.Assign | ast.AnnAssign)
            for item in node.body
        )
    return False


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Pass | ast.Import | ast.ImportFrom) or docstring_of(statement):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        return "NotImplementedError" in ast.dump(statement.exc)
    return False


def _parameters(node: Definition) -> tuple[str, ...]:
    if isinstance(node, ast.ClassDef):
        return next((_parameters(item) for item in node.body if getattr(item, "name", "") == "__init__"), ())  # type: ignore[arg-type]
    arguments = node.args
    names = [item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return tuple(name for name in names if name not in ("self", "cls"))


def _headers(code: str) -> Iterator[Signature]:
    """Headers in a block that is not whole Python, such as a lone `def f(a):`."""
    effort = Effort(20_000)
    for match in _HEADER.finditer(code):
        end = closing(code, match.end() - 1, effort)
        line_end = code.find("\n", end) if end is not None else -1
        header = code[match.start() : line_end if line_end >= 0 else len(code)].strip()
        yield from _from_header(header)


def _from_header(header: str) -> Iterator[Signature]:
    source = header.strip().rstrip(":").rstrip()
    tree = parse_module(f"{source}: ...")
    node = tree.body[0] if tree is not None and tree.body else None
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("test"):
        yield Signature(
            name=node.name, kind="function", stub=f"{source}:\n    ...", parameters=_parameters(node)
        )


def _in_prose(text: str) -> Iterator[Signature]:
    text = text[:_MAX_PARAGRAPH]
    for match in _INLINE_HEADER.finditer(text):
        yield from _from_header(match.group(1))
    for match in _INLINE_CALL.finditer(text):
        context = text[max(0, match.start() - 60) : match.start()] + text[match.end() : match.end() + 20]
        meant = _FUNCTION_WORD.search(context) or _is_subject(text, match)
        if match.group(1) not in BUILTINS and meant and _only_names(match.group(2)):
            returns = match.group(3) or ""
            yield from _from_header(f"def {match.group(1)}{match.group(2)}{returns.rstrip()}")
    for match in _INLINE_NAME.finditer(text):
        before = text[max(0, match.start() - 40) : match.start()]
        after = text[match.end() : match.end() + 12]
        if match.group(1)[0].isupper() and (
            _CLASS_WORD.search(before[-12:]) or _CLASS_WORD.match(after.strip())
        ):
            yield Signature(name=match.group(1), kind="class")
        elif _NAMED_FUNCTION.search(before) and match.group(1) not in BUILTINS:
            yield Signature(name=match.group(1), kind="function")


def _is_subject(text: str, match: re.Match[str]) -> bool:
    """True for code that begins a sentence, as in "`chunk(items, size)` returns ..."."""
    return (
        match.group().startswith("`")
        and re.search(r"(?:^|[.:!?。：！？])\s*$", text[: match.start()]) is not None
    )


def _only_names(arguments: str) -> bool:
    """True for `(a, b: int = 3)`: parameters; False for `("x", 2)` or `()`: a call."""
    if not arguments.strip("() "):
        return False
    return parse_module(f"def f{arguments}: ...") is not None or parse_expression(f"f{arguments}") is None
