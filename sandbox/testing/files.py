"""Whether a test file is still what it was when the run began.

During the run only C functions are called: others could be replaced, and would run in front of the judge.
"""

from _blake2 import blake2b
from _io import FileIO
from collections.abc import Iterable, Mapping
from os import listdir, stat, unlink
from pathlib import Path


def remember_files(paths: Iterable[str]) -> dict[str, bytes]:
    """The digest of each Python file under `paths`."""
    files = [file for path in map(Path, paths) for file in (path.rglob("*.py") if path.is_dir() else [path])]
    return {str(file.resolve()): _digest(str(file)) for file in files if file.is_file()}


def check_file(files: Mapping[str, bytes], path: str) -> str | None:
    """Says so if this file has changed; also removes its bytecode, which anyone could have written."""
    _forget_bytecode(path)
    try:
        unchanged = path not in files or _digest(path) == files[path]
    except OSError:
        unchanged = False
    return None if unchanged else f"{path} was changed during the run"


def check_all_there(files: Iterable[str]) -> str | None:
    """Names a file that is there no more."""
    for path in files:
        try:
            stat(path)  # noqa: PTH116
        except OSError:
            return f"{path} was removed during the run"
    return None


def _digest(path: str) -> bytes:
    with FileIO(path) as file:
        return blake2b(file.readall()).digest()


def _forget_bytecode(path: str) -> None:
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".py") + "."
    cache = f"{folder}/__pycache__"
    try:
        for file in listdir(cache):  # noqa: PTH208
            if file.startswith(stem):
                unlink(f"{cache}/{file}")  # noqa: PTH108
    except OSError:
        return
