"""kill -9 at every boundary of a Job: what is done is not done again, and what is not is done once."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from bot.jobs.engine import database_url
from bot.jobs.store import open_store, prepare_database
from sandbox import SandboxBackend
from tests.bot.conftest import git
from tests.bot.jobs.github_server import served
from tests.bot.jobs.processes import Killer, labelled, until, work_on, worker_settings
from tests.bot.jobs.scene import scene
from tests.bot.jobs.victim import start_worker
from tests.bot.model_server import model_server
from tests.bot.test_program import answer

pytestmark = pytest.mark.sandbox


async def test_a_worker_that_is_killed_everywhere_makes_one_pull_request(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    killer = Killer()
    with (
        scene(tmp_path, backend, on_push=killer.at_push) as stage,
        model_server(answer) as server,
        served(stage.github, killer.at_github) as github_url,
    ):
        server.before_answer = killer.at_model
        settings = worker_settings(stage, server)
        url = database_url(settings)
        await asyncio.to_thread(prepare_database, url)
        async with open_store(url) as store:
            assert await store.accept(labelled(stage.repository.issues[1]))
            job = await work_on(store, killer, lambda: start_worker(tmp_path, settings, github_url))
            again = await store.accept(labelled(stage.repository.issues[1]))
    print("\n".join(killer.moments))
    assert job.outcome is not None, job
    assert job.outcome.status == "green", job.outcome
    assert not again
    assert len(stage.github.written("create_pull_request")) == 1
    assert len([c for c in stage.repository.talk[1] if "issuewright:status" in c.body]) == 1
    assert git(stage.remote, "rev-list", "--count", f"main..{job.outcome.branch}") == "1"
    assert max(Counter(server.answered).values()) == 1


async def test_a_job_that_kills_its_workers_is_given_up_and_people_are_told(
    tmp_path: Path, backend: SandboxBackend
) -> None:
    killer = Killer(forgetful=True)
    with (
        scene(tmp_path, backend) as stage,
        model_server(answer) as server,
        served(stage.github) as github_url,
    ):
        server.before_answer = killer.at_model
        settings = worker_settings(stage, server, recoveries=1)
        url = database_url(settings)
        await asyncio.to_thread(prepare_database, url)
        async with open_store(url) as store:
            await store.accept(labelled(stage.repository.issues[1]))
            job = await work_on(store, killer, lambda: start_worker(tmp_path, settings, github_url))
            assert job.state == "failed"
            killer.armed = False
            worker = await asyncio.to_thread(start_worker, tmp_path, settings, github_url)
            await until(lambda: "Failed" in stage.status())
            worker.kill()
            worker.join()
    assert "died several times" in stage.status()
    assert stage.github.written("create_pull_request") == []
