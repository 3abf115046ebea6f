"""The queues from outside: what goes in once, what can be looked at."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bot.events.types import IssueEvent
from bot.github.types import Actor, Issue, RepoRef
from bot.jobs.engine import database_url, make_data_folder
from bot.jobs.store import open_store, prepare_database
from bot.jobs.types import JobOrder
from bot.settings import Settings
from pipelines.errors import InfrastructureError, RefusalError


def order(issue: int = 1, repo: str = "octo/Repo", **facts: Any) -> JobOrder:
    owner, _, name = repo.partition("/")
    known = {
        "repo": RepoRef(owner=owner, name=name),
        "issue": issue,
        "title": "A title",
        "body": "A body with 'quotes', ünïcode and \x00-free text",
        "author": "alice",
        "html_url": "https://github.com/octo/Repo/issues/1",
        "requested_by": "maria",
        "requested_at": datetime.now(UTC),
    }
    return JobOrder.model_validate(known | facts)


def event(delivery: str = "d-1") -> IssueEvent:
    at = datetime.now(UTC)
    issue = Issue(
        number=1,
        title="A",
        body="B",
        state="open",
        locked=False,
        labels=("issuewright",),
        author=Actor(login="alice"),
        html_url="https://github.com/octo/repo/issues/1",
        created_at=at,
        updated_at=at,
    )
    repo = RepoRef(owner="octo", name="repo", installation=5)
    return IssueEvent(
        delivery=delivery,
        name="issues",
        action="labeled",
        repo=repo,
        default_branch="main",
        sender=Actor(login="maria"),
        issue=issue,
        label="issuewright",
    )


async def test_a_delivery_is_accepted_once(url: str) -> None:
    async with open_store(url) as store:
        assert await store.accept(event("d-1"))
        assert not await store.accept(event("d-1"))
        answers = await asyncio.gather(*(store.accept(event("d-2")) for _ in range(8)))
        assert sorted(answers) == [False] * 7 + [True]


async def test_an_issue_has_one_live_job_whoever_orders(url: str) -> None:
    async with open_store(url) as store:
        started = await asyncio.gather(*(store.start(order(requested_by=f"p{n}")) for n in range(6)))
        assert sum(one.new for one in started) == 1
        assert {one.job.request.id for one in started} == {"octo/repo#1/1"}
        same = await store.start(order(repo="OCTO/repo"))
        assert not same.new


async def test_after_a_stopped_job_the_next_order_makes_another(url: str) -> None:
    async with open_store(url) as store:
        first = (await store.start(order(at_creation=True))).job
        assert await store.stop(first.request.id)
        assert not await store.stop(first.request.id)
        assert not (await store.start(order(at_creation=True))).new
        second = await store.start(order())
        assert (second.new, second.job.request.generation) == (True, 2)
        latest = await store.latest("octo/repo#1")
        assert latest is not None
        assert (latest.state, latest.request.order.body) == ("queued", order().body)


async def test_positions_count_in_each_repository(url: str) -> None:
    async with open_store(url) as store:
        places = [(await store.start(order(number))).job.position for number in (1, 2, 3)]
        elsewhere = (await store.start(order(1, repo="octo/other"))).job.position
        assert (places, elsewhere) == ([1, 2, 3], 1)
        assert await store.counts() == {"queued": 4, "running": 0}


async def test_names_that_look_alike_to_a_database_are_kept_apart(sqlite_url: str) -> None:
    async with open_store(sqlite_url) as store:
        await store.start(order(repo="octo/a_b"))
        await store.start(order(repo="octo/axb"))
        await store.start(order(11, repo="octo/a_b"))
        recent = await store.recent("octo/a_b", hours=1)
        assert sorted(job.request.order.thread for job in recent) == ["octo/a_b#1", "octo/a_b#11"]
        latest = await store.latest("octo/a_b#1")
        assert latest is not None
        assert latest.request.id == "octo/a_b#1/1"


async def test_recent_jobs_end_where_the_hours_do(sqlite_url: str) -> None:
    async with open_store(sqlite_url) as store:
        await store.start(order())
        assert len(await store.recent("octo/repo", hours=1)) == 1
        assert await store.recent("octo/repo", hours=0) == []
        assert len(await store.ordered(hours=1)) == 1


async def test_old_records_are_forgotten_and_live_ones_never(sqlite_url: str) -> None:
    import sqlite3

    async with open_store(sqlite_url) as store:
        over = (await store.start(order(1))).job.request.id
        await store.start(order(2))
        await store.stop(over)
        old = int((datetime.now(UTC) - timedelta(days=400)).timestamp() * 1000)
        with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as database:
            database.execute("UPDATE workflow_status SET created_at = ?, updated_at = ?", (old, old))
        database.close()
        await store.forget_old()
        assert await store.latest("octo/repo#1") is None
        assert await store.latest("octo/repo#2") is not None


async def test_a_database_that_is_gone_is_said_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError) as refused:
        prepare_database("postgresql://me:topsecret@127.0.0.1:1/jobs")
    assert "topsecret" not in str(refused.value)
    assert "DATABASE_URL" in str(refused.value)
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError):
        prepare_database(f"sqlite:///{tmp_path}/file/jobs.sqlite3")


async def test_a_store_whose_server_goes_away_says_so(postgres: Any, postgres_url: str) -> None:
    async with open_store(postgres_url) as store:
        assert await store.healthy() is None
        name = psycopg.conninfo.conninfo_to_dict(postgres_url)["dbname"]
        with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        assert await store.healthy() is not None
        with pytest.raises(InfrastructureError):
            await store.accept(event())


def test_the_database_is_a_file_below_the_data_folder_or_what_is_named(tmp_path: Path) -> None:
    assert database_url(Settings(data_dir=tmp_path)) == f"sqlite:///{tmp_path}/jobs.sqlite3"
    named = {"database_url": "mysql://somewhere"}
    with pytest.raises(RefusalError, match="postgresql://"):
        database_url(Settings.model_validate({"service": named}))


def test_the_data_folder_is_its_owners_and_a_bad_one_is_refused_by_the_settings_name(tmp_path: Path) -> None:
    make_data_folder(tmp_path / "new" / "data")
    assert (tmp_path / "new" / "data").stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").write_text("")
    for bad in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(RefusalError, match="ISSUEWRIGHT_DATA_DIR"):
            make_data_folder(bad)


def test_a_database_in_a_folder_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError):
        prepare_database(f"sqlite:///{tmp_path}/typo/jobs.sqlite3")
    assert not (tmp_path / "typo").exists()
