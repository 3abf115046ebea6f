"""Stopping a Job in the middle of a model's answer."""

import asyncio
import threading
from pathlib import Path

import pytest

from bot.jobs.engine import database_url
from bot.jobs.store import open_store, prepare_database
from sandbox import SandboxBackend
from tests.bot.jobs.github_server import served
from tests.bot.jobs.processes import commented, ended, labelled, until, worker_settings
from tests.bot.jobs.scene import scene
from tests.bot.jobs.victim import start_worker
from tests.bot.model_server import model_server
from tests.bot.test_program import answer

pytestmark = pytest.mark.sandbox


async def test_stop_ends_a_job_while_the_model_is_answering_and_retry_starts_another(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def hold(_number: int) -> None:
        asked.set()
        go_on.wait(60)

    with (
        scene(tmp_path, backend) as stage,
        model_server(answer) as server,
        served(stage.github) as github_url,
    ):
        server.before_answer = hold
        settings = worker_settings(stage, server)
        url = database_url(settings)
        await asyncio.to_thread(prepare_database, url)
        issue = stage.repository.issues[1]
        async with open_store(url) as store:
            await store.accept(labelled(issue))
            worker = await asyncio.to_thread(start_worker, tmp_path, settings, github_url)
            await asyncio.to_thread(asked.wait)
            await store.accept(commented(issue, "/issuewright stop"))
            assert (await ended(store, "octo/repo#1")).state == "stopped"
            await until(lambda: "Stopped" in stage.status())
            await until(lambda: not has_callers(server.port))
            server.before_answer = lambda _: None
            go_on.set()
            await store.accept(commented(issue, "/issuewright retry"))
            job = await ended(store, "octo/repo#1", generation=2)
            worker.kill()
            worker.join()
    assert job.outcome is not None
    assert job.outcome.status == "green"
    assert len(stage.github.written("create_pull_request")) == 1


def has_callers(port: int) -> bool:
    """Whether anybody is connected to this port of this machine."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[2].endswith(f":{port:04X}") and row[3] == "01" for row in rows)
