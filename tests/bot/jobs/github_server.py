"""`FakeGitHub` for other processes: the protocol's methods over loopback HTTP, one request a call."""

import asyncio
import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, get_type_hints

import httpx2
from pydantic import TypeAdapter

from bot.github.errors import Forbidden, GitHubError, NotFound, Rejected, Unavailable
from bot.github.fake import FakeGitHub
from bot.github.protocol import GitHub
from bot.github.types import RepoRef

_ERRORS: dict[str, type[GitHubError]] = {
    cls.__name__: cls for cls in (NotFound, Forbidden, Rejected, Unavailable)
}


Watcher = Callable[[str, str, bool], None]
"""Told each call's method and arguments, before it is done (False), and done but not yet answered (True)."""


@contextmanager
def served(github: FakeGitHub, watch: Watcher = lambda _method, _arguments, _done: None) -> Iterator[str]:
    """Serve it; gives the URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            method = self.path[1:]
            asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
            with lock:
                watch(method, asked, False)
                answer = json.dumps(asyncio.run(_answer(github, method, json.loads(asked)))).encode()
                watch(method, asked, True)
            try:
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
            except OSError:
                pass  # whoever asked was killed

        def log_message(self, format: str, *args: object) -> None:
            pass

    lock = threading.Lock()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


async def _answer(github: FakeGitHub, method: str, call: dict[str, Any]) -> dict[str, Any]:
    arguments = [RepoRef.model_validate(call["repo"])] if call["repo"] else []
    try:
        result = await getattr(github, method)(*arguments, *call["args"], **call["kwargs"])
    except GitHubError as error:
        return {"error": type(error).__name__, "message": str(error)}
    if isinstance(result, bytes):
        result = base64.b64encode(result).decode()
    return {"result": TypeAdapter(Any).dump_python(result, mode="json")}


class RemoteGitHub:
    """The same as a `GitHub` of another process; every method of the protocol, by its annotations."""

    def __init__(self, url: str) -> None:
        self._url = url

    def __getattr__(self, method: str) -> Any:
        returns = TypeAdapter(_return_type(method))

        async def call(*args: Any, **kwargs: Any) -> Any:
            repo = args[0].model_dump() if args and isinstance(args[0], RepoRef) else None
            rest = args[1:] if repo else args
            async with httpx2.AsyncClient(trust_env=False) as client:
                response = await client.post(
                    f"{self._url}/{method}", json={"repo": repo, "args": rest, "kwargs": kwargs}, timeout=30
                )
            answer = response.json()
            if "error" in answer:
                raise _ERRORS[answer["error"]](answer["message"])
            result = answer["result"]
            if method == "file" and result is not None:
                return base64.b64decode(result)
            return returns.validate_python(result)

        return call


def _return_type(method: str) -> Any:
    return get_type_hints(getattr(GitHub, method))["return"]
