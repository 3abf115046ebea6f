"""Packages for boxes from a cache on this machine, fetched outside any box on first use.

Only wheels are fetched and nothing is imported, so no code of a package or of the repository runs here. In
boxes their `.pth` files, `sitecustomize` and `usercustomize` run at the start of each Python, as everywhere.
"""

import asyncio
import json
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from sandbox.disk import disk_use
from sandbox.errors import SetupFailed
from sandbox.packages.contents import clean
from sandbox.packages.fetch import Bounds, Fetch, OnProgress
from sandbox.packages.uv_command import box_platform
from sandbox.packages.wanted import Wanted
from sandbox.protocol import MIB, Packages

_FORMAT = 1
"""Counts up whenever the content for equal requirements changes."""
_BASE_LOCK = Path(__file__).parent.parent / "images" / "requirements.lock"
_PIN = re.compile(r"^[\w.-]+==\S+", re.MULTILINE)
_NEW = ".new-"
_STALE_SECONDS = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What boxes may see; `packages` is None when nothing could be, or had to be, installed."""

    packages: Packages | None
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Requirements that could not be met and files that were removed, each with the reason."""


async def install_packages(
    wanted: Wanted,
    *,
    cache: Path,
    python: str,
    time_limit: float = 600.0,
    size_limit: int = 4096 * MIB,
    on_progress: OnProgress = lambda _: None,
) -> Installed:
    """Packages for boxes whose Python has that version, such as `3.11`; from the cache if they are there.

    A requirement that cannot be met is left out and named. Raises SetupFailed when no index answers, or past
    the time limit (seconds) or the size limit (bytes on disk, downloads included). Cancelling leaves nothing.
    """
    if not re.fullmatch(r"3\.\d{1,2}", python):
        raise ValueError(f"{python!r} is no version of Python; give major and minor, such as 3.11")
    if not wanted.requirements:
        return Installed(packages=None)
    preferred = await asyncio.to_thread(_base_versions)
    digest = _digest(wanted, python, preferred)
    place = cache / digest
    if not _is_there(place):
        staging = _new_folder(cache)  # not in a thread: a cancelled await would lose the folder
        try:
            bounds = Bounds(seconds=time_limit, disk_bytes=size_limit)
            fetch = Fetch(
                folder=staging,
                wanted=wanted,
                python=python,
                preferred=preferred,
                bounds=bounds,
                on_progress=on_progress,
            )
            packages = _new_packages(staging)
            left_out = await fetch.run(packages)
            await asyncio.to_thread(_finish, packages, left_out, size_limit)
            _move(staging / "result", place)
        finally:
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, staging, ignore_errors=True))
    return _cached(place, digest)


def _base_versions() -> str:
    """The versions in the boxes' own base: extension modules of both must fit the same numpy."""
    return "".join(f"{pin}\n" for pin in _PIN.findall(_BASE_LOCK.read_text()))


def _digest(wanted: Wanted, python: str, preferred: str) -> str:
    requirements = sorted((one, *wanted.hashes.get(one, ())) for one in wanted.requirements)
    decisive = [_FORMAT, python, box_platform(), wanted.locked, preferred, requirements]
    return sha256(json.dumps(decisive).encode()).hexdigest()


def _is_there(place: Path) -> bool:
    return place.is_dir()


def _new_folder(cache: Path) -> Path:
    """A private folder beside the results; what setups that were killed left there is removed."""
    cache.mkdir(parents=True, exist_ok=True)
    for folder in cache.glob(f"{_NEW}*"):
        with suppress(FileNotFoundError):
            if folder.stat().st_mtime < time.time() - _STALE_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=_NEW, dir=cache.resolve()))


def _new_packages(staging: Path) -> Path:
    packages = staging / "result" / "packages"
    packages.mkdir(parents=True)
    return packages


def _finish(packages: Path, left_out: Mapping[str, str], size_limit: int) -> None:
    """Clean the packages and write down what is missing; raises SetupFailed if they are too much."""
    use = disk_use(packages)
    if use.too_deep:
        raise SetupFailed("the packages hold folders that are nested too deeply")
    if use.bytes > size_limit:
        raise SetupFailed(f"the packages need more than {size_limit // MIB} MiB on disk")
    removed = clean(packages)
    if not any(packages.iterdir()):
        packages.rmdir()
    (packages.parent / "left-out.json").write_text(json.dumps({**left_out, **removed}))


def _move(result: Path, place: Path) -> None:
    try:
        result.rename(place)
    except OSError:
        if not place.is_dir():  # else another setup for the same requirements was faster
            raise


def _cached(place: Path, digest: str) -> Installed:
    folder = place.resolve() / "packages"
    return Installed(
        packages=Packages(digest=digest, folder=folder) if folder.is_dir() else None,
        left_out=json.loads((place / "left-out.json").read_text()),
    )
