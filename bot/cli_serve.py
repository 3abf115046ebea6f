"""`issuewright serve` and `worker`: the service that listens to GitHub.

The database, GitHub's and the web's library take long to import, so only these commands do it.
"""

import asyncio
import logging
import os
from collections.abc import Mapping
from typing import Annotated, Any

import structlog
import typer

from bot.events.types import AnyEvent
from bot.service.logging import configure_logging
from bot.service.readiness import require_identity, webhook_secret
from bot.settings import Settings, load_settings
from bot.speech.redaction import Redactor, secrets_of

_log = structlog.stdlib.get_logger(__name__)


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command()(serve)
    app.command()(worker)


def serve(
    host: Annotated[
        str | None, typer.Option("--host", help="Address to listen on; 127.0.0.1 if not configured.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")
    ] = None,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="Only store deliveries; `issuewright worker` does the work.")
    ] = False,
) -> None:
    """Listen to GitHub's webhook, and do what labelled issues ask for, until stopped."""
    said = {"host": host, "port": port}
    options = {key: value for key, value in said.items() if value is not None}
    asyncio.run(_serve(load_settings(service=options or None), worker=not no_worker))


def worker() -> None:
    """Do the work of a service that stores deliveries, beside it, until stopped."""
    asyncio.run(_work(load_settings()))


async def _serve(settings: Settings, *, worker: bool) -> None:
    require_identity(settings.github)
    secret = webhook_secret(settings.github)
    _log_without_secrets(settings)
    from bot.jobs.engine import open_engine
    from bot.service.app import create_app
    from bot.service.server import address, listen, serve_until, stop_on_signals

    with listen(settings.service.host, settings.service.port) as listener, stop_on_signals() as stop:
        async with open_engine(settings, worker=worker) as store:
            app = create_app(store, read_wanted_event, secret=secret, data_dir=settings.data_dir)
            _log.info(
                f"listening for GitHub at {settings.service.public_url or address(listener)}/webhook;"
                f" the label {settings.service.label!r} sets the bot to work",
                worker=worker,
            )
            await serve_until(stop, app, listener)
    _log.info("stopped")


async def _work(settings: Settings) -> None:
    require_identity(settings.github)
    _log_without_secrets(settings)
    from bot.jobs.engine import open_engine
    from bot.service.server import stop_on_signals

    with stop_on_signals() as stop:
        async with open_engine(settings):
            _log.info("working on the jobs of the service")
            await stop.wait()
    _log.info("stopped")


def read_wanted_event(name: str, delivery: str, payload: Mapping[str, Any]) -> AnyEvent | None:
    """The event, when a behaviour is for it. Raises RefusalError for a payload that lacks what is needed."""
    from bot.behaviours.all import router
    from bot.events.payloads import read_event

    event = read_event(name, delivery, payload)
    return event if event is not None and router.matches(event) else None


def _log_without_secrets(settings: Settings) -> None:
    os.umask(0o077)  # issues of private repositories come into the files that are made from here on
    configure_logging(Redactor(secrets_of(settings)))
    for chatty in ("dbos", "httpx2", "uvicorn.error"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    logging.getLogger("urllib3").setLevel(logging.ERROR)  # each retry of a read is not worth a line
