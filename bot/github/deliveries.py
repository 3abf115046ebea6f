"""Webhook deliveries that got no answer: GitHub sends none again by itself, but does so when asked."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from bot.github.answers import Request
from bot.github.connection import AppKey, Connection, next_page
from bot.github.credentials import app_key
from bot.github.errors import NotFound, Rejected
from bot.github.hosts import api_root
from bot.github.pacing import Pace
from bot.github.readings import read_list
from bot.settings import GitHubSettings

_ATTEMPTS = 3
"""Of one delivery, GitHub's own included: what is refused so often is no accident."""
_PAGES = 20


class Delivery(BaseModel):
    """One attempt to deliver an event; all attempts have the same `guid`."""

    id: int
    guid: str
    delivered_at: datetime
    status_code: int

    @property
    def arrived(self) -> bool:
        """Whether the service took it."""
        return 200 <= self.status_code < 300


def missed(deliveries: Iterable[Delivery], *, since: datetime) -> list[int]:
    """Ids to ask for again, the oldest first: one for each event that never arrived."""
    attempts: defaultdict[str, list[Delivery]] = defaultdict(list)
    for delivery in deliveries:
        attempts[delivery.guid].append(delivery)
    latest = [
        max(group, key=_age)
        for group in attempts.values()
        if len(group) < _ATTEMPTS and not any(attempt.arrived for attempt in group)
    ]
    due = [delivery for delivery in latest if delivery.delivered_at >= since]
    return [delivery.id for delivery in sorted(due, key=_age)]


def _age(delivery: Delivery) -> tuple[datetime, int]:
    return delivery.delivered_at, delivery.id


async def redeliver_missed(settings: GitHubSettings, *, hours: float) -> int:
    """Ask for the App's deliveries of the last hours that never arrived; returns how many.

    GitHub keeps them for three days. Without an App there is nothing to ask for: 0. Raises the errors of
    `bot.github.errors`.
    """
    key = app_key(settings)
    if key is None:
        return 0
    connection = Connection(api_root(settings.api_url), ca_bundle=settings.ca_bundle)
    since = datetime.now(UTC) - timedelta(hours=hours)
    known = await asyncio.to_thread(_deliveries, connection, key, since)
    pace = Pace(settings.write_seconds)
    asked = 0
    for ident in missed(known, since=since):
        await pace.turn()
        asked += await asyncio.to_thread(_redeliver, connection, key, ident)
    return asked


def _deliveries(connection: Connection, key: AppKey, since: datetime) -> list[Delivery]:
    """The latest deliveries, at least back to this time."""
    found: list[Delivery] = []
    page: Request | None = Request(
        "list the App's webhook deliveries", "GET", "/app/hook/deliveries", query={"per_page": 100}
    )
    for _ in range(_PAGES):
        if page is None:
            break
        answer = connection.ask(page, key.token())
        latest = read_list(Delivery, answer)
        found += latest
        reached = latest and latest[-1].delivered_at < since
        page = None if reached else next_page(page, answer)
    return found


def _redeliver(connection: Connection, key: AppKey, ident: int) -> bool:
    """Ask for one; False where GitHub has forgotten it meanwhile."""
    path = f"/app/hook/deliveries/{ident}/attempts"
    try:
        connection.ask(Request(f"deliver {ident} again", "POST", path), key.token())
    except (NotFound, Rejected):
        return False
    return True
