"""A stand-in for a model server: it knows the answers to the sample issue by heart, the first one wrong."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[[dict[str, Any]], str]
"""The text of the answer to a chat completion request."""

_PLAN = {
    "criteria": [
        "The result maps a tea's name to the number of its sales",
        "Spaces around a name do not count, names are in lower case",
        "A sale with an empty name raises ValueError",
    ],
    "signatures": ["def sales_per_tea(sales: list[str]) -> dict[str, int]"],
    "module": "sales",
}
_HASTY = '''from collections import Counter


def sales_per_tea(sales: list[str]) -> dict[str, int]:
    """Number of sales of each tea."""
    return dict(Counter(name.lower() for name in sales))
'''
_RIGHT = '''from collections import Counter


def sales_per_tea(sales: list[str]) -> dict[str, int]:
    """Number of sales of each tea. Raises ValueError for a sale without a name."""
    names = [name.strip().lower() for name in sales]
    if not all(names):
        raise ValueError("a sale without a name")
    return dict(Counter(names))
'''
_CHECKS = """assert sales_per_tea(["Earl Grey", "earl grey"]) == {"earl grey": 2}  # C2
assert sales_per_tea(["Mint"]) == {"mint": 1}  # C1
assert sales_per_tea(["  Mint", "Sencha  "]) == {"mint": 1, "sencha": 1}  # C2
"""


def sample_answer(request: dict[str, Any]) -> str:
    """What to say to one of the requests that the sample issue leads to."""
    asked = next(one["content"] for one in reversed(request["messages"]) if one["role"] == "user")
    if "response_format" in request:
        return json.dumps(_PLAN)
    if "fails these checks" in asked:
        return _RIGHT
    return _CHECKS if "different checks" in asked else _HASTY


@contextmanager
def run_scripted_server(script: Script = sample_answer) -> Iterator[str]:
    """Serve the script on a free loopback port until the block ends; gives the API's root."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, script))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Speaks as much of the OpenAI API as llama.cpp does for us."""

    def __init__(self, script: Script, *args: Any) -> None:
        self._script = script
        super().__init__(*args)

    def do_GET(self) -> None:
        """List the one model."""
        models = {"object": "list", "data": [{"id": "scripted", "owned_by": "llamacpp"}]}
        self._send(json.dumps(models), "application/json")

    def do_POST(self) -> None:
        """Stream an answer."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = self._script(request)
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        events: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
            {"choices": [], "usage": usage},
        ]
        head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        lines = [f"data: {json.dumps(head | event)}\n\n" for event in events]
        self._send("".join([*lines, "data: [DONE]\n\n"]), "text/event-stream")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _send(self, text: str, kind: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
