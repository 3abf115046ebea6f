"""Finding a pip that works, also where the environment has none."""

import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

from pipelines.errors import RefusalError
from pipelines.model.pip_download import pip_command


@pytest.fixture
def python_without_pip(tmp_path: Path) -> str:
    venv.create(tmp_path / "bare", with_pip=False)
    return str(tmp_path / "bare" / "bin" / "python")


def version(command: tuple[str, ...]) -> str:
    return subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(find_spec("pip") is None, reason="this environment has no pip, as uv makes them")
def test_pip_of_the_environment() -> None:
    with pip_command() as command:
        assert command[0] == sys.executable
        assert version(command).startswith("pip ")


def test_environment_without_pip_borrows_one_for_a_while(python_without_pip: str) -> None:
    with pip_command(python_without_pip) as command:
        assert command[0] != python_without_pip
        assert version(command).startswith("pip ")
    assert not Path(command[0]).exists()


def test_pip_folder_in_the_working_directory_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "__init__.py").write_text("raise SystemExit('not this one')")
    monkeypatch.chdir(tmp_path)
    with pip_command() as command:
        assert version(command).startswith("pip ")


@pytest.fixture
def python_without_venv(tmp_path: Path) -> str:
    """Neither pip nor venv works: as on Debian without python3-venv."""
    return executable(tmp_path / "python", "exit 1")


def executable(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_no_pip_at_all_is_refused(python_without_venv: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RefusalError, match="Install pip"), pip_command(python_without_venv):
        pass


def test_uv_is_used_where_venv_fails(
    python_without_venv: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = executable(tmp_path / "uv", "echo pip 99")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pip_command(python_without_venv) as command:
        assert command == (uv, "tool", "run", "pip")
        assert version(command) == "pip 99\n"
