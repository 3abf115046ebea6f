"""The commands, as processes where it matters."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
import typer
from typer.testing import CliRunner

from bot import cli_serve
from bot.events.signature import HEADER, sign
from pipelines.errors import RefusalError
from tests.bot.events.recorded import recorded

SECRET = "the webhook's secret"
TOKEN = "github_pat_11AAAAAAA0abcdefghijkl"
SETTINGS = {
    "ISSUEWRIGHT_GITHUB__WEBHOOK_SECRET": SECRET,
    "ISSUEWRIGHT_GITHUB__TOKEN": TOKEN,
    # Nobody listens there.
    "ISSUEWRIGHT_GITHUB__API_URL": "http://127.0.0.1:1",
}


class Process:
    """A service in a process of its own, and what it says."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process = process
        self._log = log

    def url(self) -> str:
        """Where it listens, from its own words."""
        while "listening for GitHub at" not in self.said():
            assert self._process.poll() is None, self.said()
            time.sleep(0.05)
        return self.said().split("listening for GitHub at ")[1].split("/webhook")[0]

    def said(self) -> str:
        return self._log.read_text("utf-8")

    def end(self, which: signal.Signals) -> int:
        """Send a signal; the exit code."""
        self._process.send_signal(which)
        return self._process.wait(60)


@contextmanager
def process(folder: Path, *arguments: str) -> Iterator[Process]:
    log = folder / "log"
    with log.open("wb") as output:
        started = subprocess.Popen(
            [sys.executable, "-m", "bot", *arguments],
            env=os.environ | SETTINGS | {"ISSUEWRIGHT_DATA_DIR": str(folder / "data")},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield Process(started, log)
    finally:
        started.kill()
        started.wait()


def deliver(url: str, delivery: str) -> httpx2.Response:
    """GitHub's own example of a label event."""
    body = json.dumps(recorded("issues.labeled")).encode()
    headers = {HEADER: sign(SECRET, body), "X-GitHub-Delivery": delivery, "X-GitHub-Event": "issues"}
    return httpx2.post(f"{url}/webhook", content=body, headers=headers, timeout=30)


def test_what_was_accepted_outlives_the_process_and_a_signal_ends_it_in_order(tmp_path: Path) -> None:
    with process(tmp_path, "serve", "--port", "0", "--no-worker") as first:
        url = first.url()
        accepted = deliver(url, "d-1")
        assert (accepted.status_code, accepted.json()) == (202, {"delivery": "d-1", "new": True})
        first.end(signal.SIGKILL)
    with process(tmp_path, "serve", "--port", "0", "--no-worker") as second:
        url = second.url()
        assert deliver(url, "d-1").json() == {"delivery": "d-1", "new": False}
        assert deliver(url, "d-2").json() == {"delivery": "d-2", "new": True}
        assert httpx2.get(f"{url}/readyz").status_code == 200
        assert 'issuewright_jobs{state="queued"} 0.0' in httpx2.get(f"{url}/metrics").text
        assert second.end(signal.SIGTERM) == 0
        assert TOKEN not in second.said()
        assert SECRET not in second.said()
        events = [json.loads(line)["event"] for line in second.said().splitlines()]
        assert events[-2:] == ["stopping; a second signal ends at once", "stopped"]
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(f"{url}/healthz")


def refusal(monkeypatch: pytest.MonkeyPatch, *arguments: str, **settings: str) -> str:
    """Why a command does not start with these settings over the usual ones; an empty one is left out."""
    for name, value in (SETTINGS | settings).items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
    app = typer.Typer()
    cli_serve.register(app)
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, RefusalError), result.output
    return str(result.exception)


def test_the_service_does_not_start_without_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    reason = refusal(monkeypatch, "serve", ISSUEWRIGHT_GITHUB__WEBHOOK_SECRET="")
    assert "github.webhook_secret" in reason


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_neither_command_starts_without_an_identity(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    assert "github.token" in refusal(monkeypatch, command, ISSUEWRIGHT_GITHUB__TOKEN="")
