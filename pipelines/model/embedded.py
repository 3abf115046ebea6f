"""The embedded model: llama.cpp's server in a child process, for as long as a block lasts."""

import asyncio
import importlib.util
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pipelines.errors import InfrastructureError, RefusalError
from pipelines.model.weights import check_gguf

_STOP_SECONDS = 1.0
_SHOWN_LINES = 15
_SHOWN_BYTES = 8000


class EmbeddedServer:
    """Serves a GGUF file on a free loopback port; `async with` starts and stops it.

    `parallel` requests are answered at once, each with `context_tokens` of context. The defaults hold
    Qwen2.5-Coder-1.5B in about 4 GB of memory. The child ends with its parent, however that one ends.
    """

    def __init__(
        self, gguf: Path, *, context_tokens: int = 8192, parallel: int = 8, startup_seconds: float = 300.0
    ) -> None:
        self.model = gguf.stem
        self.api_key = secrets.token_urlsafe(32)
        self.base_url = ""
        """The API's root, known once the server has started."""
        self._gguf = gguf
        self._context_tokens = context_tokens
        self._parallel = parallel
        self._startup_seconds = startup_seconds
        self._log: IO[bytes] | None = None
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        """Start the server. Raises RefusalError without wheel or weights, InfrastructureError if it dies."""
        check_gguf(self._gguf)
        _check_wheel()
        try:
            await self._start()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()

    @property
    def pid(self) -> int | None:
        """The child's process id while it is there."""
        return self._process.pid if self._process else None

    async def _start(self) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the server
        # -P: a folder named like one of our packages in the working directory must not be run.
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "pipelines.model.embedded_server",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
        )  # fmt: skip
        settings = {
            "gguf": str(self._gguf),
            "model": self.model,
            "api_key": self.api_key,
            "context_tokens": self._context_tokens,
            "parallel": self._parallel,
            "parent": os.getpid(),
        }
        address = b""
        try:
            async with asyncio.timeout(self._startup_seconds):
                address = await self._exchange(json.dumps(settings).encode() + b"\n")
        except TimeoutError:
            raise InfrastructureError(
                f"The embedded model server was not ready after {self._startup_seconds:g} s."
                f"{self._log_tail()}"
            ) from None
        if not address:
            await self._process.wait()
            raise InfrastructureError(self._post_mortem())
        self.base_url = address.decode().strip() + "/v1"

    async def _exchange(self, settings: bytes) -> bytes:
        """Give the child its settings and wait for its address: nothing when it dies before."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise AssertionError("the child was started with pipes")
        try:
            process.stdin.write(settings)
            await process.stdin.drain()
        except ConnectionError:
            return b""
        return await process.stdout.readline()

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                process.terminate()
            try:
                await asyncio.wait_for(process.wait(), _STOP_SECONDS)
            except TimeoutError:
                process.kill()
                await process.wait()
            if process.stdin is not None:
                process.stdin.close()
        if self._log is not None:
            self._log.close()
            self._log = None

    def _post_mortem(self) -> str:
        code = self._process.returncode if self._process else None
        if code == -signal.SIGILL:
            return (
                "The embedded model server uses instructions that this processor lacks. Point to another "
                "OpenAI-compatible server instead."
            )
        if code == -signal.SIGKILL:
            return (
                "The embedded model server was killed, probably for lack of memory. Lower its context "
                f"({self._context_tokens} tokens for each of {self._parallel} requests)."
            )
        return f"The embedded model server ended at its start (exit code {code}).{self._log_tail()}"

    def _log_tail(self) -> str:
        if self._log is None:
            return ""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - _SHOWN_BYTES))
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return " It said:\n" + "\n".join(lines[-_SHOWN_LINES:]) if lines else ""


def _check_wheel() -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise RefusalError(
            "The embedded model needs the package xllamacpp: pip install 'issuewright[embedded]'. There are "
            "wheels for Linux (glibc; x86-64, ARM64), macOS and Windows; elsewhere, point to an "
            "OpenAI-compatible server by its base URL."
        )
