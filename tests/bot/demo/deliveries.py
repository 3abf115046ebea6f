"""A loopback endpoint that keeps the webhooks it gets."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Where = Callable[[Any], bool]


class Delivery(NamedTuple):
    headers: dict[str, str]
    body: bytes

    @property
    def payload(self) -> Any:
        return json.loads(self.body)

    @property
    def event(self) -> str:
        return f"{self.headers['x-github-event']}.{self.payload.get('action')}"


class Deliveries:
    """Webhooks as they came; `wait` blocks until one is there."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._came = threading.Condition()
        self._all: list[Delivery] = []

    def add(self, delivery: Delivery) -> None:
        with self._came:
            self._all.append(delivery)
            self._came.notify_all()

    def of(self, repository: str, event: str, *, where: Where = lambda _: True) -> list[Delivery]:
        return [
            one
            for one in self._all
            if one.event == event
            and one.payload["repository"]["full_name"] == repository
            and where(one.payload)
        ]

    def wait(
        self, repository: str, event: str, *, count: int = 1, where: Where = lambda _: True
    ) -> list[Delivery]:
        def enough() -> bool:
            return len(self.of(repository, event, where=where)) >= count

        with self._came:
            assert self._came.wait_for(enough, timeout=20), [one.event for one in self._all]
        return self.of(repository, event, where=where)


@contextmanager
def receiving() -> Iterator[Deliveries]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            deliveries.add(Delivery({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(202)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    deliveries = Deliveries(f"http://127.0.0.1:{server.server_port}/webhook")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield deliveries
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
