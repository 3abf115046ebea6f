"""A store in memory and GitHub's side of a delivery, for the tests of the service."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI

from bot.events.signature import HEADER, sign
from bot.events.types import AnyEvent, IssueEvent
from bot.github.types import Actor, Issue, RepoRef
from bot.jobs.types import JobState, JobView
from bot.service.app import create_app
from bot.service.body import BodyReader
from bot.service.server import address, listen, serve_until
from pipelines.errors import RefusalError

SECRET = "a secret that only GitHub and the service know"


class MemoryStore:
    """Keeps events by delivery; an error given to it is raised instead."""

    def __init__(self) -> None:
        self.events: dict[str, AnyEvent] = {}
        self.error: Exception | None = None
        self.trouble: str | None = None
        self.live: dict[JobState, int] = {"queued": 0, "running": 0}
        self.jobs: list[JobView] = []

    async def accept(self, event: AnyEvent) -> bool:
        self._fail()
        new = event.delivery not in self.events
        self.events[event.delivery] = event
        return new

    async def healthy(self) -> str | None:
        self._fail()
        return self.trouble

    async def counts(self) -> dict[JobState, int]:
        self._fail()
        return self.live

    async def ordered(self, *, hours: float) -> list[JobView]:
        self._fail()
        return self.jobs

    def _fail(self) -> None:
        if self.error is not None:
            raise self.error


def read_event(name: str, delivery: str, payload: Mapping[str, Any]) -> AnyEvent | None:
    """Reads no more than an action and a title; `issues` alone is an event that has a behaviour."""
    if name != "issues":
        return None
    if "title" not in payload:
        raise RefusalError("the payload lacks title")
    when = datetime(2026, 11, 30, tzinfo=UTC)
    someone = Actor(login="someone", id=7)
    issue = Issue(
        number=1,
        title=payload["title"],
        body="",
        state="open",
        locked=False,
        labels=(),
        author=someone,
        html_url="https://github.test/o/r/issues/1",
        created_at=when,
        updated_at=when,
    )
    return IssueEvent(
        delivery=delivery,
        name=name,
        action=str(payload["action"]),
        repo=RepoRef(owner="o", name="r"),
        default_branch="main",
        sender=someone,
        issue=issue,
    )


PAYLOAD = json.dumps({"action": "labeled", "title": "Größe"}, ensure_ascii=False).encode()


def signed(
    body: bytes = PAYLOAD, *, delivery: str = "d-1", event: str = "issues", **others: str
) -> dict[str, str]:
    """The headers GitHub sends with a body; others by name, `_` for `-`; an empty value leaves one out."""
    headers = {
        HEADER: sign(SECRET, body),
        "X-GitHub-Delivery": delivery,
        "X-GitHub-Event": event,
        "Content-Type": "application/json",
    } | {name.replace("_", "-"): value for name, value in others.items()}
    return {name: value for name, value in headers.items() if value}


def make_app(
    store: MemoryStore, tmp_path: Path, *, bodies: BodyReader | None = None, store_seconds: float = 5
) -> FastAPI:
    return create_app(
        store, read_event, secret=SECRET, data_dir=tmp_path, bodies=bodies, store_seconds=store_seconds
    )


def client_of(app: FastAPI) -> httpx2.AsyncClient:
    """A client that calls the application without a server."""
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://service.test")


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[str]:
    """The application on a real server; gives its URL."""
    stop = asyncio.Event()
    with listen("127.0.0.1", 0) as listener:
        url = address(listener)
        serving = asyncio.create_task(serve_until(stop, app, listener))
        try:
            yield url
        finally:
            stop.set()
            await serving
