import os
from collections.abc import Iterator

import pytest

from bot.demo.emulator import Emulator, World
from bot.demo.emulator_package import ensure_emulator
from bot.demo.local_github import LocalGitHub, run_local_github
from pipelines.errors import PipelineError
from tests.bot.demo.deliveries import Deliveries, receiving


@pytest.fixture(scope="session")
def emulator_program() -> None:
    """Node and the emulator, fetched once for this machine."""
    try:
        ensure_emulator()
    except PipelineError as reason:
        if "CI" in os.environ:
            raise
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def deliveries() -> Iterator[Deliveries]:
    with receiving() as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def github(
    emulator_program: None, deliveries: Deliveries, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LocalGitHub]:
    """One GitHub for all tests; each works with an issue or a branch of its own."""
    world = World(
        collaborators={"bob": "push", "tim": "triage"}, outsiders=("eve",), webhook_url=deliveries.url
    )
    with run_local_github(world, tmp_path_factory.mktemp("remotes")) as running:
        yield running


@pytest.fixture
def emulator(github: LocalGitHub) -> Emulator:
    return github.emulator
