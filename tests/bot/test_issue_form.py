"""The issue form: GitHub takes it, and what GitHub makes of an answer is read as it was meant."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from bot.settings import ServiceSettings
from pipelines.requirement.parse import parse_issue
from pipelines.requirement.types import Requirement

FORM = Path(__file__).parents[2] / ".github" / "ISSUE_TEMPLATE" / "generate.yml"

_TEXTS = {"type": "string", "minLength": 1}
_FIELD = {
    "type": "object",
    "properties": {
        "type": {"enum": ["input", "textarea"]},
        "id": {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"},
        "attributes": {
            "type": "object",
            "properties": dict.fromkeys(("label", "description", "placeholder", "value", "render"), _TEXTS),
            "required": ["label"],
            "additionalProperties": False,
        },
        "validations": {
            "type": "object",
            "properties": {"required": {"type": "boolean"}},
            "additionalProperties": False,
        },
    },
    "required": ["type", "id", "attributes"],
    "additionalProperties": False,
}
_TEXT = {
    "type": "object",
    "properties": {
        "type": {"const": "markdown"},
        "attributes": {
            "type": "object",
            "properties": {"value": _TEXTS},
            "required": ["value"],
            "additionalProperties": False,
        },
    },
    "required": ["type", "attributes"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 3},
        "description": {"type": "string", "minLength": 3},
        "title": _TEXTS,
        "labels": {"type": "array", "items": _TEXTS},
        "body": {"type": "array", "minItems": 1, "items": {"oneOf": [_TEXT, _FIELD]}},
    },
    "required": ["name", "description", "body"],
    "additionalProperties": False,
}
"""GitHub's rules for the parts of its form syntax that the form uses."""

ANSWERS = {
    "requirement": "Add `slugify(text)`, which turns a title into lower-case words joined by hyphens.",
    "examples": ">>> slugify(\"Hello World\")\n'hello-world'",
    "criteria": "- Raises `ValueError` for an empty title.\n- Digits are kept.",
    "path": "src/pkg/text.py",
    "attachments": "",
}


def form() -> dict[str, Any]:
    loaded = yaml.safe_load(FORM.read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def fields() -> list[dict[str, Any]]:
    return [item for item in form()["body"] if item["type"] != "markdown"]


def rendered(**answers: str) -> Requirement:
    """The requirement of the issue that GitHub makes from answers: headings, fences, `_No response_`."""
    parts = []
    for field in fields():
        attributes = field["attributes"]
        answer = (ANSWERS | answers)[field["id"]]
        if "render" in attributes:
            answer = f"```{attributes['render']}\n{answer}\n```"
        parts.append(f"### {attributes['label']}\n\n{answer or '_No response_'}")
    return parse_issue(("# Add slugify\n\n" + "\n\n".join(parts)).encode(), path="issue 1")


def test_github_takes_the_form() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(form())
    for key in ("id", "label"):
        values = [field["attributes"].get(key, field.get(key)) for field in fields()]
        assert len(set(values)) == len(values), f"each {key} must be unique"


def test_only_the_requirement_has_to_be_filled_in() -> None:
    required = [field["id"] for field in fields() if field.get("validations", {}).get("required")]
    assert required == ["requirement"]
    assert [field["id"] for field in fields()] == list(ANSWERS)


def test_the_form_sets_the_label_that_the_service_waits_for() -> None:
    assert form()["labels"] == [ServiceSettings().label]


def test_a_filled_form_is_read_as_it_was_meant() -> None:
    requirement = rendered()
    assert requirement.title == "Add slugify"
    assert requirement.summary.startswith(ANSWERS["requirement"])
    (example,) = requirement.examples
    assert (example.expression, example.expected) == ('slugify("Hello World")', "'hello-world'")
    assert [criterion.text for criterion in requirement.criteria] == [
        "Raises `ValueError` for an empty title.",
        "Digits are kept.",
    ]
    assert requirement.target_paths == ("src/pkg/text.py",)
    assert [signature.name for signature in requirement.signatures] == ["slugify"]
    assert requirement.notes == ()


def test_fields_that_were_left_empty_say_nothing() -> None:
    requirement = rendered(examples="", criteria="", path="")
    assert requirement.summary == ANSWERS["requirement"]
    assert not requirement.examples
    assert not requirement.criteria
    assert not requirement.target_paths
    assert "No response" not in requirement.body


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("`src/pkg/text.py`", "src/pkg/text.py"),
        ("src/pkg/", "src/pkg/"),
        ("pkg.text", "pkg/text.py"),
        ("text.py", "text.py"),
    ],
)
def test_a_path_may_be_a_file_a_folder_or_a_module(written: str, read: str) -> None:
    assert rendered(path=written).target_paths == (read,)


def test_criteria_need_no_bullets() -> None:
    requirement = rendered(criteria="Raises ValueError for an empty title.\nDigits are kept.")
    assert [criterion.text for criterion in requirement.criteria] == [
        "Raises ValueError for an empty title.",
        "Digits are kept.",
    ]


def test_lists_among_the_attachments_are_no_criteria() -> None:
    requirement = rendered(criteria="", attachments="- see https://example.com/a\n- and b")
    assert not requirement.criteria


def test_the_forms_own_placeholders_would_be_read() -> None:
    placeholders = {field["id"]: field["attributes"].get("placeholder", "") for field in fields()}
    requirement = rendered(**placeholders)
    assert len(requirement.examples) == 1
    assert len(requirement.criteria) == 2
    assert requirement.target_paths == ("src/package/text.py",)
    assert re.search(r"\bslugify\b", requirement.summary)
