import subprocess
from pathlib import Path

import pytest


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small repository with a package, a passing test and one commit."""
    folder = tmp_path / "repository"
    files = {
        "pyproject.toml": (
            '[project]\nname = "pkg"\nversion = "1"\n\n[tool.pytest.ini_options]\npythonpath = ["src"]\n'
        ),
        "src/pkg/__init__.py": "",
        "src/pkg/old.py": "def one():\n    return 1\n",
        "tests/test_old.py": "from pkg.old import one\n\n\ndef test_one():\n    assert one() == 1\n",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "Someone")
    git(folder, "config", "user.email", "someone@example.org")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Start")
    return folder
