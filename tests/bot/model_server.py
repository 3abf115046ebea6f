"""A model server for whole-program tests: real HTTP, scripted answers, every request counted."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[[dict[str, Any]], str]


class ModelServer:
    """Speaks as much of the OpenAI API as llama.cpp does for us."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self.answered: list[str] = []
        """Canonical text of each request whose answer was sent to its end."""
        self.before_answer: Callable[[int], None] = lambda _: None
        """Called with the number of the request, from 1, before it is answered."""
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = self._http.server_port
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def take(self, request: dict[str, Any]) -> str:
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
            text = self.script(request)
        self.before_answer(number)
        return text

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805  the inner self is the handler
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                models = {"object": "list", "data": [{"id": "scripted", "owned_by": "llamacpp"}]}
                self._send(json.dumps(models).encode(), "application/json")

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text = server.take(request)
                usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
                events: list[dict[str, Any]] = [
                    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]},
                    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
                    {"choices": [], "usage": usage},
                ]
                lines = [f"data: {json.dumps(_whole(event))}\n\n" for event in events]
                try:
                    self._send("".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")
                except (BrokenPipeError, ConnectionResetError):
                    return
                server.answered.append(json.dumps(request, sort_keys=True))

            def _send(self, body: bytes, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def _whole(event: dict[str, Any]) -> dict[str, Any]:
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    return head | event


@contextmanager
def model_server(script: Script) -> Iterator[ModelServer]:
    server = ModelServer(script)
    server.start()
    try:
        yield server
    finally:
        server.stop()
