"""Reads YAML that strangers wrote: plain data, and the line that each value stands on."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from pipelines.errors import RefusalError

_MAX_BYTES = 20_000
_MAX_DEPTH = 8
_TAG = "tag:yaml.org,2002:"
_NUMBERS = {f"{_TAG}{name}" for name in ("bool", "float", "int")}
_TEXTS = {f"{_TAG}{name}" for name in ("str", "timestamp", "merge", "value")}

Place = tuple[str | int, ...]
"""Keys and list positions that lead to a value."""


@dataclass(frozen=True, slots=True)
class Document:
    """The values of a file, with their lines."""

    path: str
    values: dict[str, object] = field(default_factory=dict)
    lines: dict[Place, int] = field(default_factory=dict)

    def line(self, place: Place) -> int:
        """The line of this value, or of the nearest one around it."""
        known = (place[:length] for length in range(len(place), 0, -1))
        return next((self.lines[part] for part in known if part in self.lines), 1)


def read_yaml(raw: bytes, *, path: str) -> Document:
    """A mapping of plain values; an empty file is an empty one. Raises RefusalError naming the line."""
    text = _decoded(raw, path)
    try:
        _check_events(text, path)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        # What is never closed is best looked for where it begins.
        unclosed = error.context_mark if "end of stream" in str(error.problem) else None
        line = _mark_line(unclosed or error.problem_mark)
        raise refusal(path, line, f"this is not YAML ({error.problem}); {_hint(text, line)}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise refusal(path, line, "there is a control character; remove it") from error
    if root is None or (isinstance(root, yaml.ScalarNode) and root.tag == f"{_TAG}null" and not root.value):
        return Document(path)
    if not isinstance(root, yaml.MappingNode):
        raise refusal(
            path, _line(root), "the file must hold `key: value` lines, such as `label: issuewright`"
        )
    document = Document(path)
    values = _mapping(root, (), document)
    document.values.update(values)
    return document


def refusal(path: str, line: int, fault: str) -> RefusalError:
    """The error that tells a person which line to change."""
    return RefusalError(f"{path}, line {line}: {fault}")


def _decoded(raw: bytes, path: str) -> str:
    if len(raw) > _MAX_BYTES:
        raise RefusalError(f"{path} has {len(raw)} bytes; shorten it to at most {_MAX_BYTES}")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise refusal(path, line, "this is not UTF-8 text; save the file as UTF-8") from error


def _check_events(text: str, path: str) -> None:
    """Refuse what could blow up when it is built: anchors, aliases, and lists in lists in lists."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = _mark_line(event.start_mark)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise refusal(path, line, "anchors and aliases (`&` and `*`) are not read; write the value out")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            raise refusal(path, line, f"values are nested more than {_MAX_DEPTH} deep; no key needs that")


def _hint(text: str, line: int) -> str:
    lines = text.splitlines()
    faulty = lines[line - 1] if line <= len(lines) else ""
    if "\t" in faulty:
        return "it has a tab; indent with spaces"
    return "check the indentation, and put text with special characters in quotes"


def _mapping(node: yaml.MappingNode, place: Place, document: Document) -> dict[str, object]:
    values: dict[str, object] = {}
    for key_node, value_node in node.value:
        key = _key(key_node, document.path)
        here = (*place, key)
        if key in values:
            earlier = document.lines[here]
            raise refusal(
                document.path, _line(key_node), f"`{key}` is there twice, first in line {earlier}; keep one"
            )
        document.lines[here] = _line(key_node)
        values[key] = _value(value_node, here, document)
    return values


def _key(node: yaml.Node, path: str) -> str:
    if isinstance(node, yaml.ScalarNode) and node.tag == f"{_TAG}str":
        return str(node.value)
    raise refusal(path, _line(node), "a key must be plain text, such as `label`")


def _value(node: yaml.Node, place: Place, document: Document) -> object:
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, place, document)
    if isinstance(node, yaml.SequenceNode):
        return list(_items(node, place, document))
    if node.tag == f"{_TAG}null":
        fault = f"`{place[-1]}` has no value; give it one or remove the line"
        raise refusal(document.path, _line(node), fault)
    if node.tag in _TEXTS:
        return str(node.value)
    try:
        if node.tag in _NUMBERS:
            return yaml.constructor.SafeConstructor().construct_object(node)
    except (yaml.YAMLError, ValueError, LookupError, OverflowError) as error:
        raise _unreadable(node, document) from error
    raise _unreadable(node, document)


def _unreadable(node: yaml.Node, document: Document) -> RefusalError:
    fault = "the value cannot be read; write it without a `!` tag, and put text in quotes"
    return refusal(document.path, _line(node), fault)


def _items(node: yaml.SequenceNode, place: Place, document: Document) -> Iterator[object]:
    for position, item in enumerate(node.value):
        document.lines[*place, position] = _line(item)
        yield _value(item, (*place, position), document)


def _line(node: yaml.Node) -> int:
    return _mark_line(node.start_mark)


def _mark_line(mark: Any) -> int:
    """The line of a PyYAML mark, as people count."""
    return int(mark.line) + 1 if mark else 1
