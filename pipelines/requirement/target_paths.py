"""Where the issue wants its new modules."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from pipelines.requirement.markdown import Document

_PATH = re.compile(
    r"(?<![\w./\\:-])((?:[\w.-]+[/\\]|/|\.{1,2}[/\\]){0,12}[\w-]+(?:\.[\w-]+){0,3}\.py)(?![\w/\\])"
)
_MODULE_WORD = r"(?:\b(?:modules?|modul|módulo|modulo|модул[ьяе])\b|モジュール|模块|모듈)"
_DOTTED = re.compile(
    rf"{_MODULE_WORD}\s*(?:called|named|namens|名为)?\s*`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)`", re.IGNORECASE
)
_DOTTED_BEFORE = re.compile(rf"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)`\s*{_MODULE_WORD}", re.IGNORECASE)
_MENTION = re.compile(
    r"\b(?:see|like|unlike|similar to|as in|siehe|wie in|ähnlich|voir|comme|ver|como en|como em|"
    r"vedi|come in|см)\s*:?\s*[`(\[]*$"
    r"|参照\s*$|参考\s*$",
    re.IGNORECASE,
)
_CODE_COMMENT = re.compile(r"^\s*#\s*(?:file(?:name)?:\s*)?(\S+\.py)\s*$", re.IGNORECASE)


def target_paths(document: Document) -> tuple[str, ...]:
    """Python files that the issue asks for, as written; those of a target section win."""
    return tuple(dict.fromkeys(_in_target_section(document) or [*_in_prose(document), *_in_code(document)]))


def _in_target_section(document: Document) -> list[str]:
    found: list[str] = []
    for line in document.prose():
        if document.kind_at(line.number) == "target" and not document.is_heading(line.number):
            found += _paths(line.text) or _plain(line.text)
    return found


def _plain(text: str) -> list[str]:
    """A field that holds nothing but a path or a dotted module."""
    value = text.strip().strip("`*- ").strip()
    if re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", value):
        return [_as_path(value)]
    return [value] if "/" in value and re.fullmatch(r"[\w./-]{1,200}", value) else []


def _in_prose(document: Document) -> Iterator[str]:
    texts = [heading.text for heading in document.headings if heading.level < 7]
    texts += [line.text for line in document.prose()]
    for text in texts:
        yield from _paths(text)
        for pattern in (_DOTTED, _DOTTED_BEFORE):
            yield from (_as_path(match.group(1)) for match in pattern.finditer(text))


def _in_code(document: Document) -> Iterator[str]:
    for block in document.blocks:
        if (
            block.lines
            and (match := _CODE_COMMENT.match(block.lines[0].text))
            and not _is_test(match.group(1))
        ):
            yield match.group(1)


def _paths(text: str) -> list[str]:
    return [
        match.group(1)
        for match in _PATH.finditer(text)
        if not _is_test(match.group(1))
        and not _MENTION.search(text, max(0, match.start() - 24), match.start())
    ]


def _as_path(module: str) -> str:
    return module if module.endswith(".py") else module.replace(".", "/") + ".py"


def _is_test(path: str) -> bool:
    parts = PurePosixPath(path.replace("\\", "/")).parts
    name = parts[-1] if parts else ""
    in_tests = any(part in ("test", "tests", "testing") for part in parts[:-1])
    return in_tests or name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"
