"""A delivery of GitHub out of headers and body; to be read only after its signature was checked."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from bot.service.refused import Refused

_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_NAME = re.compile(r"[a-z0-9_]{1,64}")


class Delivery(NamedTuple):
    """One delivery: its id, the event's name, and what GitHub tells of it."""

    id: str
    name: str
    payload: Mapping[str, Any]


def read_delivery(headers: Mapping[str, str], body: bytes) -> Delivery:
    """The delivery. Raises Refused (400) that names the header or what is wrong with the body."""
    delivery = _header(headers, "X-GitHub-Delivery", _ID)
    name = _header(headers, "X-GitHub-Event", _NAME)
    kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    text = _form_field(body) if kind == "application/x-www-form-urlencoded" else body
    return Delivery(delivery, name, _object(text))


def _header(headers: Mapping[str, str], name: str, form: re.Pattern[str]) -> str:
    value = headers.get(name, "")
    if not form.fullmatch(value):
        raise Refused(400, f"the header {name} is missing or not what GitHub sends")
    return value


def _form_field(body: bytes) -> str:
    """GitHub's other content type: the JSON as the form's only field."""
    try:
        return parse_qs(body.decode(), errors="strict", max_num_fields=8)["payload"][0]
    except (ValueError, KeyError):
        raise Refused(400, "the form has no field `payload` in UTF-8") from None


def _object(text: str | bytes) -> Mapping[str, Any]:
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"the body is not JSON: {error}") from None
    if not isinstance(payload, dict):
        raise Refused(400, "the body is not a JSON object")
    return payload
