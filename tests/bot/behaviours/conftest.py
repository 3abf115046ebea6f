import pytest

from tests.bot.behaviours.scene import Scene


@pytest.fixture
def scene() -> Scene:
    return Scene()
