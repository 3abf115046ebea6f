from pathlib import Path

import pytest

from bot.demo.local_github import LocalGitHub
from bot.demo.service_process import free_port, run_service
from pipelines.errors import InfrastructureError


def test_a_service_that_does_not_start_is_reported_with_its_own_words(
    github: LocalGitHub, tmp_path: Path
) -> None:
    bad = {"ISSUEWRIGHT_SEED": "no"}
    with (
        pytest.raises(InfrastructureError, match=r"(?s)ended with exit code 2.*seed"),
        run_service(github, tmp_path, port=free_port(), settings=bad),
    ):
        pass
