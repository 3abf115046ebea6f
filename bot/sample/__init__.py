"""The bundled sample: a small repository and an issue for it."""

import subprocess
from importlib import resources
from pathlib import Path

from pipelines.errors import RefusalError

_FILES = {
    "pyproject.toml": """[project]
name = "teatime"
version = "0.1.0"

[tool.pytest.ini_options]
pythonpath = ["src"]
testpaths = ["tests"]
""",
    "src/teatime/__init__.py": '"""Steeping times for tea."""\n',
    "src/teatime/steeping.py": '''"""How long tea steeps."""

_SECONDS = {"green": 120, "black": 240, "herbal": 420}


def steeping_seconds(kind: str) -> int:
    """Seconds that a kind of tea steeps. Raises KeyError for an unknown kind."""
    return _SECONDS[kind.lower()]
''',
    "tests/test_steeping.py": """from teatime.steeping import steeping_seconds


def test_green_tea() -> None:
    assert steeping_seconds("Green") == 120
""",
}


def create_sample(folder: Path) -> Path:
    """Write the sample repository and its issue; returns the issue file. Raises RefusalError if it exists."""
    if folder.exists() and any(folder.iterdir()):
        raise RefusalError(f"{folder} is not empty; choose another folder for the sample")
    repository = folder / "teatime"
    for path, text in _FILES.items():
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(text, encoding="utf-8")
    identity = ["-c", "user.name=issuewright sample", "-c", "user.email=sample@localhost"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], [*identity, "commit", "-q", "-m", "Start"]):
        subprocess.run(["git", *arguments], cwd=repository, check=True)  # noqa: S607
    issue = folder / "issue.md"
    issue.write_text(sample_issue(), encoding="utf-8")
    return issue


def sample_issue() -> str:
    """The text of the sample issue."""
    return (resources.files(__package__) / "issue.md").read_text(encoding="utf-8")
