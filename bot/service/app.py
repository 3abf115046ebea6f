"""The service's web application."""

from pathlib import Path
from typing import Protocol

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST

from bot.jobs.protocol import Inbox
from bot.jobs.types import JobState, JobView
from bot.service.body import BodyReader
from bot.service.metrics import RECENT_HOURS, Metrics
from bot.service.readiness import trouble
from bot.service.webhook import STORE_SECONDS, ReadEvent, Webhook
from pipelines.errors import InfrastructureError


class Store(Inbox, Protocol):
    """What the application needs of the Jobs' database."""

    async def healthy(self) -> str | None:
        """Why nothing can be stored just now; None: it can."""
        ...

    async def counts(self) -> dict[JobState, int]:
        """How many Jobs wait and work."""
        ...

    async def ordered(self, *, hours: float) -> list[JobView]:
        """All Jobs that were ordered within the last hours."""
        ...


def create_app(
    store: Store,
    read_event: ReadEvent,
    *,
    secret: str,
    data_dir: Path,
    bodies: BodyReader | None = None,
    store_seconds: float = STORE_SECONDS,
) -> FastAPI:
    """The application: `POST /webhook`, and for whoever runs it `/healthz`, `/readyz` and `/metrics`."""
    metrics = Metrics()
    webhook = Webhook(secret, store, read_event, metrics, bodies or BodyReader(), store_seconds=store_seconds)
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)

    @app.post("/webhook", response_model=None)
    async def receive(request: Request) -> Response:
        return await webhook.respond(request)

    @app.get("/healthz")
    async def health() -> dict[str, str]:
        return {"status": "alive"}

    @app.get("/readyz", response_model=None)
    async def ready() -> Response:
        reason = await trouble(store.healthy, data_dir)
        if reason is not None:
            return JSONResponse({"status": "not ready", "reason": reason}, 503)
        return JSONResponse({"status": "ready"})

    @app.get("/metrics", response_model=None)
    async def numbers() -> Response:
        try:
            metrics.show_jobs(await store.counts(), await store.ordered(hours=RECENT_HOURS))
        except InfrastructureError:
            metrics.forget_jobs()
        return Response(metrics.page(), media_type=CONTENT_TYPE_LATEST)

    return app
