"""The folder where packages are kept: one entry for each digest of all that decides its content."""

import json
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter

_NEW = ".new-"
_STALE_SECONDS = 24 * 3600.0
_PACKAGES = "packages"
_LEFT_OUT = "left-out.json"


def read_entry(entry: Path) -> tuple[Path | None, dict[str, str]] | None:
    """An entry's folder of packages, if it has one, and what was left out; None for no or a damaged entry."""
    packages = entry / _PACKAGES
    try:
        left_out = TypeAdapter(dict[str, str]).validate_json((entry / _LEFT_OUT).read_bytes())
        if not packages.exists():
            return None, left_out
        return (packages.resolve(), left_out) if any(packages.iterdir()) else None
    except (OSError, ValueError):  # not there, not to be read, or not JSON of that form
        return None


def new_folder(cache: Path) -> Path:
    """A private folder beside the entries; what setups that were killed left there is removed."""
    cache.mkdir(parents=True, exist_ok=True)
    for path in cache.glob(f"{_NEW}*"):
        with suppress(OSError):
            if path.lstat().st_mtime < time.time() - _STALE_SECONDS:
                remove(path)
    return Path(tempfile.mkdtemp(prefix=_NEW, dir=cache.resolve()))


def new_entry(staging: Path) -> Path:
    """The empty folder of packages of an entry in the making."""
    packages = staging / "result" / _PACKAGES
    packages.mkdir(parents=True)
    return packages


def finish_entry(packages: Path, left_out: Mapping[str, str]) -> None:
    """Write down what is missing; an entry without packages has no folder for them."""
    if not any(packages.iterdir()):
        packages.rmdir()
    (packages.parent / _LEFT_OUT).write_text(json.dumps(dict(left_out)))


def move_entry(staging: Path, entry: Path) -> None:
    """Put the finished entry in its place, unless another setup was faster; a damaged one there gives way."""
    result = staging / "result"
    try:
        result.rename(entry)
        return
    except OSError:
        if read_entry(entry) is not None:
            return
    damaged = Path(f"{staging}-damaged")  # beside it: a folder closed to writing could not move elsewhere
    entry.rename(damaged)
    try:
        result.rename(entry)
    finally:
        remove(damaged)


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with all it holds, as far as that can be done."""
    with suppress(OSError):
        if path.is_symlink() or not path.is_dir():
            path.unlink()
        else:
            path.chmod(0o700)
            shutil.rmtree(path, ignore_errors=True)
