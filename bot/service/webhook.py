"""The webhook: a signed delivery is stored, and only then accepted."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import structlog
from fastapi import Request, Response
from fastapi.responses import JSONResponse
from structlog.contextvars import bound_contextvars

from bot.events.signature import HEADER, is_signature, signature_matches
from bot.events.types import AnyEvent
from bot.jobs.protocol import Inbox
from bot.service.body import BodyReader
from bot.service.delivery import Delivery, read_delivery
from bot.service.metrics import OTHER, Metrics, Result
from bot.service.refused import Refused
from pipelines.errors import InfrastructureError, RefusalError

STORE_SECONDS = 8.0
"""GitHub gives up after 10."""
RETRY_SECONDS = 60

ReadEvent = Callable[[str, str, Mapping[str, Any]], AnyEvent | None]
"""Of an event's name, the delivery's id and the payload; None for what no behaviour is for."""

_log = structlog.stdlib.get_logger(__name__)


class Answer(NamedTuple):
    """What the sender is told, and under which name it is counted."""

    status: int
    result: Result
    content: Mapping[str, object] | None = None
    event: str = OTHER
    headers: Mapping[str, str] | None = None


class Webhook:
    """Answers deliveries. No 2xx before the inbox has the event on disk."""

    def __init__(
        self,
        secret: str,
        inbox: Inbox,
        read_event: ReadEvent,
        metrics: Metrics,
        bodies: BodyReader,
        *,
        store_seconds: float = STORE_SECONDS,
    ) -> None:
        self._secret = secret
        self._inbox = inbox
        self._read_event = read_event
        self._metrics = metrics
        self._bodies = bodies
        self._store_seconds = store_seconds
        # One after the other: SQLite's writers that meet sleep before they try again, some over a second.
        self._turn = asyncio.Lock()

    async def respond(self, request: Request) -> Response:
        """The response to a delivery, whatever happens."""
        started = time.perf_counter()
        with bound_contextvars(delivery=request.headers.get("X-GitHub-Delivery", "")[:128]):
            answer = await self._answer(request)
            seconds = time.perf_counter() - started
            self._metrics.answered(answer.event, answer.result, seconds)
            _log.info(
                "delivery answered",
                status=answer.status,
                result=answer.result,
                github_event=request.headers.get("X-GitHub-Event", "")[:64],
                reason=(answer.content or {}).get("error", ""),
                ms=round(seconds * 1000, 1),
            )
        headers = dict(answer.headers or {})
        if answer.content is None:
            return Response(status_code=answer.status, headers=headers)
        return JSONResponse(dict(answer.content), answer.status, headers)

    async def _answer(self, request: Request) -> Answer:
        try:
            return await self._store(await self._signed_delivery(request))
        except Refused as refused:
            return _refusal(refused)
        except RefusalError as error:
            return Answer(400, "refused", {"error": str(error)})
        except (InfrastructureError, TimeoutError) as error:
            _log.warning("a delivery could not be stored", why=str(error) or "the database took too long")
            content = {"error": "the delivery could not be stored; deliver it again"}
            return Answer(503, "not_stored", content, headers={"Retry-After": str(RETRY_SECONDS)})
        except Exception:  # noqa: BLE001
            _log.exception("a delivery met a bug")
            return Answer(500, "failed", {"error": "internal error; the service's log says more"})

    async def _signed_delivery(self, request: Request) -> Delivery:
        signature = request.headers.get(HEADER)
        if not is_signature(signature):
            raise Refused(401, f"the header {HEADER} is missing or not sha256=…", unread=True)
        body = await self._bodies.read(request)
        if not signature_matches(self._secret, body, signature):
            raise Refused(401, "the signature does not match: is the webhook's secret the service's?")
        return read_delivery(request.headers, body)

    async def _store(self, delivery: Delivery) -> Answer:
        if delivery.name == "ping":
            return Answer(200, "ping", {"message": "issuewright is listening"})
        event = self._read_event(delivery.name, delivery.id, delivery.payload)
        if event is None:
            return Answer(204, "ignored")
        async with asyncio.timeout(self._store_seconds), self._turn:
            new = await self._inbox.accept(event)
        content = {"delivery": event.delivery, "new": new}
        return Answer(202, "stored" if new else "duplicate", content, event=event.name)


def _refusal(refused: Refused) -> Answer:
    headers = {"Connection": "close"} if refused.unread else {}
    if refused.status == 503:
        headers["Retry-After"] = str(RETRY_SECONDS)
    return Answer(refused.status, "refused", {"error": str(refused)}, headers=headers)
