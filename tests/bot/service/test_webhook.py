import asyncio
import json
from pathlib import Path
from urllib.parse import urlencode

import httpx2
import pytest

from bot.events.signature import HEADER
from bot.events.types import AnyEvent, IssueEvent
from pipelines.errors import InfrastructureError
from tests.bot.service.scratch import PAYLOAD, SECRET, MemoryStore, client_of, make_app, signed


def as_bytes(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers as they may come, which need not be ASCII."""
    return [(name.encode(), value.encode()) for name, value in headers.items()]


async def test_a_signed_delivery_is_stored_and_accepted(
    client: httpx2.AsyncClient, store: MemoryStore
) -> None:
    answer = await client.post("/webhook", content=PAYLOAD, headers=signed())
    assert (answer.status_code, answer.json()) == (202, {"delivery": "d-1", "new": True})
    event = store.events["d-1"]
    assert isinstance(event, IssueEvent)
    assert event.issue.title == "Größe"


async def test_the_same_delivery_twice_is_accepted_and_stored_once(
    client: httpx2.AsyncClient, store: MemoryStore
) -> None:
    await client.post("/webhook", content=PAYLOAD, headers=signed())
    again = await client.post("/webhook", content=PAYLOAD, headers=signed())
    assert (again.status_code, again.json()) == (202, {"delivery": "d-1", "new": False})
    assert list(store.events) == ["d-1"]


@pytest.mark.parametrize("charset", ["", "; charset=utf-8"])
async def test_a_delivery_as_a_form_is_the_same(
    client: httpx2.AsyncClient, store: MemoryStore, charset: str
) -> None:
    body = urlencode({"payload": PAYLOAD.decode()}).encode()
    kind = f"application/x-www-form-urlencoded{charset}"
    answer = await client.post("/webhook", content=body, headers=signed(body, Content_Type=kind))
    assert answer.status_code == 202
    event = store.events["d-1"]
    assert isinstance(event, IssueEvent)
    assert event.issue.title == "Größe"


@pytest.mark.parametrize("value", ["", "sha256=" + "0" * 64, "sha1=abc", "é"])
async def test_a_delivery_that_is_not_signed_is_refused(
    client: httpx2.AsyncClient, store: MemoryStore, value: str
) -> None:
    headers = signed() | {HEADER: value}
    answer = await client.post("/webhook", content=PAYLOAD, headers=as_bytes(headers))
    assert answer.status_code == 401
    assert not store.events


async def test_the_signature_is_checked_before_anything_is_read(client: httpx2.AsyncClient) -> None:
    headers = signed(b"another", delivery="", event="")
    answer = await client.post("/webhook", content=b"{no json", headers=headers)
    assert answer.status_code == 401
    assert SECRET not in answer.text


async def test_one_changed_byte_is_refused(client: httpx2.AsyncClient, store: MemoryStore) -> None:
    answer = await client.post("/webhook", content=PAYLOAD + b" ", headers=signed())
    assert answer.status_code == 401
    assert not store.events


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"\xff",
        b"[" * 200_000,
        b'{"action":' + b"9" * 5000 + b"}",
        b'{"action": "labeled"}',
    ],
    ids=["empty", "cut", "list", "text", "null", "not-utf8", "deep", "long-number", "field-missing"],
)
async def test_a_body_that_cannot_be_used_is_refused(
    client: httpx2.AsyncClient, store: MemoryStore, body: bytes
) -> None:
    answer = await client.post("/webhook", content=body, headers=signed(body))
    assert answer.status_code == 400
    assert answer.json()["error"]
    assert not store.events


@pytest.mark.parametrize("body", [b"", b"other=1", b"payload=%ff", b"payload={", b"&" * 9 + b"payload={}"])
async def test_a_form_that_cannot_be_used_is_refused(client: httpx2.AsyncClient, body: bytes) -> None:
    headers = signed(body, Content_Type="application/x-www-form-urlencoded")
    assert (await client.post("/webhook", content=body, headers=headers)).status_code == 400


@pytest.mark.parametrize("delivery", ["", "a b", "d" * 129, "d/1", "dé"])
async def test_a_delivery_without_a_usable_id_is_refused(
    client: httpx2.AsyncClient, store: MemoryStore, delivery: str
) -> None:
    headers = as_bytes(signed(delivery=delivery))
    answer = await client.post("/webhook", content=PAYLOAD, headers=headers)
    assert answer.status_code == 400
    assert "X-GitHub-Delivery" in answer.json()["error"]
    assert not store.events


@pytest.mark.parametrize("event", ["", "Issues", "issues,push", "e" * 65])
async def test_a_delivery_without_an_events_name_is_refused(client: httpx2.AsyncClient, event: str) -> None:
    answer = await client.post("/webhook", content=PAYLOAD, headers=signed(event=event))
    assert answer.status_code == 400
    assert "X-GitHub-Event" in answer.json()["error"]


async def test_a_ping_is_answered_and_not_stored(client: httpx2.AsyncClient, store: MemoryStore) -> None:
    body = json.dumps({"zen": "Keep it logically awesome.", "hook_id": 1}).encode()
    answer = await client.post("/webhook", content=body, headers=signed(body, event="ping"))
    assert answer.status_code == 200
    assert not store.events


async def test_an_event_without_a_behaviour_is_answered_and_not_stored(
    client: httpx2.AsyncClient, store: MemoryStore
) -> None:
    answer = await client.post("/webhook", content=PAYLOAD, headers=signed(event="an_event_of_next_year"))
    assert (answer.status_code, answer.content) == (204, b"")
    assert not store.events


async def test_a_delivery_that_could_not_be_stored_is_not_accepted_and_can_come_again(
    client: httpx2.AsyncClient, store: MemoryStore
) -> None:
    store.error = InfrastructureError("disk /private/place is full")
    answer = await client.post("/webhook", content=PAYLOAD, headers=signed())
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert "/private" not in answer.text
    store.error = None
    again = await client.post("/webhook", content=PAYLOAD, headers=signed())
    assert (again.status_code, again.json()["new"]) == (202, True)


async def test_a_store_that_hangs_is_given_up_before_github_gives_up(
    store: MemoryStore, tmp_path: Path
) -> None:
    class Hanging(MemoryStore):
        async def accept(self, event: AnyEvent) -> bool:
            await asyncio.Event().wait()
            return True

    async with client_of(make_app(Hanging(), tmp_path, store_seconds=0.05)) as client:
        answer = await client.post("/webhook", content=PAYLOAD, headers=signed())
    assert answer.status_code == 503
    assert "Retry-After" in answer.headers


async def test_deliveries_are_stored_one_after_the_other(tmp_path: Path) -> None:
    class Counting(MemoryStore):
        inside = 0
        most = 0

        async def accept(self, event: AnyEvent) -> bool:
            self.inside += 1
            self.most = max(self.most, self.inside)
            await asyncio.sleep(0)
            self.inside -= 1
            return await super().accept(event)

    store = Counting()
    async with client_of(make_app(store, tmp_path)) as client:
        sent = (client.post("/webhook", content=PAYLOAD, headers=signed(delivery=f"d-{n}")) for n in range(5))
        await asyncio.gather(*sent)
    assert (len(store.events), store.most) == (5, 1)


async def test_a_bug_is_answered_without_its_traceback(
    client: httpx2.AsyncClient, store: MemoryStore
) -> None:
    store.error = KeyError("the inside of the service")
    answer = await client.post("/webhook", content=PAYLOAD, headers=signed())
    assert answer.status_code == 500
    assert "inside" not in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/webhook", 405),
        ("POST", "/webhook/", 404),
        ("GET", "/", 404),
        ("GET", "/docs", 404),
        ("GET", "/redoc", 404),
        ("GET", "/openapi.json", 404),
    ],
)
async def test_there_is_nothing_else_to_see(
    client: httpx2.AsyncClient, method: str, path: str, status: int
) -> None:
    assert (await client.request(method, path)).status_code == status
