"""A Job from order to pull request, on a GitHub in memory with real git, sandbox and pipelines."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.jobs.steps import InlineSteps
from bot.jobs.work import do_job
from sandbox import SandboxBackend
from tests.bot.conftest import git
from tests.bot.jobs.scene import REPO, Scene, scene

pytestmark = pytest.mark.sandbox


@pytest.fixture
def stage(tmp_path: Path, backend: SandboxBackend) -> Iterator[Scene]:
    with scene(tmp_path, backend) as made:
        yield made


async def test_an_order_becomes_a_draft_pull_request(stage: Scene) -> None:
    outcome = await do_job(InlineSteps(), await stage.request(), stage.desk)
    assert outcome.status == "green", outcome
    pull = await stage.github.pull_request(REPO, outcome.pull_request or 0)
    assert (pull.draft, pull.title, pull.base_ref) == (True, "Double a number", "main")
    assert pull.head_ref == "issuewright/1-double-a-number"
    assert "Closes #1" in pull.body
    assert git(stage.remote, "rev-parse", pull.head_ref) == outcome.commit
    changed = git(stage.remote, "diff", "--name-status", "main", pull.head_ref)
    assert changed.split() == ["A", "src/pkg/numbers_.py", "A", "tests/test_double.py"]
    print(stage.status())
    assert pull.html_url in stage.status()
