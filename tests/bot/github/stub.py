"""A GitHub on loopback that answers what a test tells it to, and remembers every request."""

import json
import ssl
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    verb: str
    path: str
    """As it was sent, quoting included, without the query."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    """The JSON, or None."""

    @property
    def token(self) -> str:
        return self.headers.get("authorization", "").partition(" ")[2]


@dataclass(frozen=True)
class Reply:
    status: int = 200
    data: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


def _nothing(_seen: Seen) -> Reply:
    return Reply(404, {"message": "Not Found"})


class Stub:
    """Answers from the replies that were set for a path, else by `otherwise`."""

    def __init__(self, *, certificate: Path | None = None) -> None:
        self.seen: list[Seen] = []
        self.otherwise: Callable[[Seen], Reply] = _nothing
        self._replies: defaultdict[tuple[str, str], list[Reply]] = defaultdict(list)
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        scheme = "https" if certificate else "http"
        self.url = f"{scheme}://127.0.0.1:{self._http.server_port}"

    def reply(self, verb: str, path: str, *replies: Reply) -> None:
        """Answer the next requests for this path; the last reply is for all that follow."""
        self._replies[verb, path] += replies

    def requests(self, verb: str, path: str) -> list[Seen]:
        return [seen for seen in self.seen if (seen.verb, seen.path) == (verb, path)]

    @contextmanager
    def serving(self) -> Iterator["Stub"]:
        thread = threading.Thread(target=lambda: self._http.serve_forever(poll_interval=0.01), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            self._http.server_close()
            thread.join()

    def _take(self, seen: Seen) -> Reply:
        with self._lock:
            self.seen.append(seen)
            waiting = self._replies[seen.verb, seen.path]
            if waiting:
                return waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return self.otherwise(seen)

    def _handler(stub) -> type[BaseHTTPRequestHandler]:  # noqa: N805  the inner self is the handler
        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                text = self.rfile.read(length)
                parts = urlsplit(self.path)
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = json.loads(text) if text else None
                query = dict(parse_qsl(parts.query, keep_blank_values=True))
                self._send(stub._take(Seen(self.command, parts.path, query, headers, body)))

            do_GET = do_POST = do_PATCH = _answer  # noqa: N815

            def _send(self, reply: Reply) -> None:
                text = reply.data if isinstance(reply.data, str) else json.dumps(reply.data)
                content = b"" if reply.data is None else text.encode()
                self.send_response(reply.status)
                for name, value in {
                    "Content-Type": "application/json; charset=utf-8",
                    **reply.headers,
                }.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
