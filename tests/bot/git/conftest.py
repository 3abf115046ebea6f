from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bot.git.remote_scratch import RemoteScratch, serve_remote
from tests.bot.git_scratch import use_own_configuration


@pytest.fixture
def remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RemoteScratch]:
    use_own_configuration(tmp_path / "home", monkeypatch)
    with serve_remote(tmp_path) as found:
        yield found
