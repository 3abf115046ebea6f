from pathlib import Path

import pytest

from bot.cli_demo import github
from pipelines.errors import RefusalError


def test_a_script_and_a_model_are_not_both_taken() -> None:
    with pytest.raises(RefusalError, match="--model-url"):
        github(model_url="http://127.0.0.1:1/v1", scripted=True)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(RefusalError, match="is not empty"):
        github(scripted=True, folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
