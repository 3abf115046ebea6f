from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from tests.bot.service.scratch import MemoryStore, client_of, make_app


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
async def client(store: MemoryStore, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(make_app(store, tmp_path)) as made:
        yield made
