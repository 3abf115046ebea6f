"""GitHub's own description of its API, as a judge of requests and a source of answers."""

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jsonschema import Draft202012Validator

from tests.bot.github.stub import Reply, Seen

DESCRIPTION = Path(__file__).parent / "openapi.json.gz"


class OutsideTheDescription(AssertionError):
    """GitHub describes no such request."""


@cache
def operations() -> list[dict[str, Any]]:
    """The described operations, those with the fewest parameters in their path first."""
    described = json.loads(gzip.decompress(DESCRIPTION.read_bytes()))["operations"]
    return sorted(described, key=lambda operation: str(operation["path"]).count("{"))


def operation_of(seen: Seen) -> dict[str, Any]:
    """The operation that a request calls. Raises OutsideTheDescription."""
    for operation in operations():
        if operation["verb"] == seen.verb and _template(operation).fullmatch(seen.path):
            return operation
    raise OutsideTheDescription(f"{seen.verb} {seen.path}")


def check(seen: Seen) -> None:
    """Raises OutsideTheDescription unless path, query and body are as GitHub describes them."""
    operation = operation_of(seen)
    found = _template(operation).fullmatch(seen.path)
    assert found is not None
    in_path = {name: unquote(value) for name, value in found.groupdict().items()}
    for place, values in (("path", in_path), ("query", seen.query)):
        described = {each["name"]: each for each in operation["parameters"] if each["in"] == place}
        for name, value in values.items():
            if name not in described:
                raise OutsideTheDescription(f"{seen.verb} {seen.path}: no {place} parameter {name}")
            _validate(described[name]["schema"], _typed(described[name]["schema"], value), seen)
        absent = [name for name, each in described.items() if each["required"] and name not in values]
        if absent:
            raise OutsideTheDescription(f"{seen.verb} {seen.path}: lacks {absent}")
    _check_body(operation["body"], seen)


def answer(seen: Seen) -> Reply:
    """GitHub's own example of an answer to this request."""
    example = operation_of(seen)["answer"]
    return Reply(example["status"], example["example"])


def _check_body(schema: dict[str, Any] | None, seen: Seen) -> None:
    if schema is None:
        if seen.body is not None:
            raise OutsideTheDescription(f"{seen.verb} {seen.path}: takes no body")
        return
    unknown = seen.body.keys() - schema.get("properties", seen.body).keys()
    if unknown:
        raise OutsideTheDescription(f"{seen.verb} {seen.path}: no fields {unknown} in the body")
    _validate(_lenient(schema), seen.body, seen)


def _validate(schema: dict[str, Any], value: Any, seen: Seen) -> None:
    for error in Draft202012Validator(schema).iter_errors(value):
        raise OutsideTheDescription(f"{seen.verb} {seen.path}: {error.message}")


def _lenient(node: Any) -> Any:
    """`oneOf` as `anyOf`: GitHub's alternatives overlap (a list of labels is also an empty list of other)."""
    if isinstance(node, list):
        return [_lenient(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {("anyOf" if key == "oneOf" else key): _lenient(value) for key, value in node.items()}


def _typed(schema: dict[str, Any], value: str) -> str | int:
    return int(value) if schema.get("type") == "integer" and value.isdigit() else value


def _template(operation: dict[str, Any]) -> re.Pattern[str]:
    many = {each["name"] for each in operation["parameters"] if each["x-multi-segment"]}
    parts = re.split(r"\{(.+?)\}", operation["path"])
    pattern = "".join(
        f"(?P<{part}>{'.+' if part in many else '[^/]+'})" if place % 2 else re.escape(part)
        for place, part in enumerate(parts)
    )
    return re.compile(pattern)
