import json
from typing import Any
from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.service.delivery import read_delivery
from bot.service.refused import Refused

HEADERS = {"X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958", "X-GitHub-Event": "issues"}
FORM = HEADERS | {"Content-Type": "application/x-www-form-urlencoded"}
TEXTS = st.text(st.characters(codec="utf-8"))
OBJECTS = st.dictionaries(TEXTS, TEXTS | st.integers() | st.none() | st.lists(TEXTS, max_size=3), max_size=4)


def attempt(headers: dict[str, str], body: bytes) -> int | None:
    """The status of the refusal, if any."""
    try:
        read_delivery(headers, body)
    except Refused as refused:
        return refused.status
    return None


@given(OBJECTS, st.booleans())
def test_an_object_comes_through_as_json(payload: dict[str, Any], escaped: bool) -> None:
    delivery = read_delivery(HEADERS, json.dumps(payload, ensure_ascii=escaped).encode())
    assert delivery == (HEADERS["X-GitHub-Delivery"], "issues", payload)


@given(OBJECTS)
def test_an_object_comes_through_as_a_form(payload: dict[str, Any]) -> None:
    body = f"payload={quote_plus(json.dumps(payload, ensure_ascii=False))}".encode()
    assert read_delivery(FORM, body).payload == payload


@given(st.binary(), st.sampled_from([HEADERS, FORM]))
def test_any_bytes_are_read_or_refused(body: bytes, headers: dict[str, str]) -> None:
    assert attempt(headers, body) in (None, 400)


@given(st.text(), st.text())
def test_any_headers_are_taken_or_refused(delivery: str, event: str) -> None:
    status = attempt({"X-GitHub-Delivery": delivery, "X-GitHub-Event": event}, b"{}")
    both = delivery + event
    clean = both.isascii() and both.isprintable() and " " not in both and delivery and event
    assert status == 400 or clean


def test_a_refusal_names_the_header_that_is_missing() -> None:
    with pytest.raises(Refused, match="X-GitHub-Event"):
        read_delivery({"X-GitHub-Delivery": "1"}, b"{}")
