"""Packages for boxes from a cache on this machine, fetched outside any box on first use.

Only wheels are fetched and nothing is imported, so no code of a package or of the repository runs here. In
boxes their `.pth` files, `sitecustomize` and `usercustomize` run at the start of each Python, as everywhere.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from sandbox.disk import disk_use
from sandbox.errors import SetupFailed
from sandbox.packages.cache import finish_entry, move_entry, new_entry, new_folder, read_entry, remove
from sandbox.packages.contents import clean
from sandbox.packages.fetch import Bounds, Fetch, OnProgress
from sandbox.packages.uv_command import box_platform
from sandbox.packages.wanted import Wanted
from sandbox.protocol import MIB, Packages

_FORMAT = 1
"""Counts up whenever the content for equal requirements changes."""
_BASE_LOCK = Path(__file__).parent.parent / "images" / "requirements.lock"
_PIN = re.compile(r"^[\w.-]+==\S+", re.MULTILINE)


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

    A requirement that cannot be met is left out and named. Raises SetupFailed when no index answers, when
    the cache cannot be used, or past the time limit (seconds) or the size limit (bytes on disk, downloads
    included). A damaged entry of the cache is made anew. Cancelling leaves nothing.
    """
    if not re.fullmatch(r"3\.\d{1,2}", python):
        raise ValueError(f"{python!r} is no version of Python; give major and minor, such as 3.11")
    if not wanted.requirements:
        return Installed(packages=None)
    preferred = await asyncio.to_thread(_base_versions)
    digest = _digest(wanted, python, preferred)
    try:
        found = read_entry(cache / digest)
        if found is None:
            staging = new_folder(cache)  # not in a thread: a cancelled await would lose the folder
            fetch = Fetch(
                folder=staging,
                wanted=wanted,
                python=python,
                preferred=preferred,
                bounds=Bounds(seconds=time_limit, disk_bytes=size_limit),
                on_progress=on_progress,
            )
            try:
                await _fill(fetch, cache / digest)
            finally:
                await asyncio.shield(asyncio.to_thread(remove, staging))
            found = read_entry(cache / digest)
    except OSError as error:
        raise _unusable(cache, str(error)) from error
    if found is None:
        raise _unusable(cache, f"{digest} cannot be read")
    folder, left_out = found
    return Installed(packages=Packages(digest=digest, folder=folder) if folder else None, left_out=left_out)


async def _fill(fetch: Fetch, entry: Path) -> None:
    packages = new_entry(fetch.folder)
    left_out = await fetch.run(packages)
    await asyncio.to_thread(_finish, packages, left_out, fetch.bounds.disk_bytes)
    move_entry(fetch.folder, entry)


def _unusable(cache: Path, reason: str) -> SetupFailed:
    return SetupFailed(
        f"the packages cannot be kept in {cache}: {reason}; make it a folder that you can write to, "
        "on a disk with room, or choose another folder for the cache"
    )


def _base_versions() -> str:
    """The versions in the boxes' own base: extension modules of both must fit the same numpy."""
    return "".join(f"{pin}\n" for pin in _PIN.findall(_BASE_LOCK.read_text()))


def _digest(wanted: Wanted, python: str, preferred: str) -> str:
    requirements = sorted((one, *wanted.hashes.get(one, ())) for one in wanted.requirements)
    decisive = [_FORMAT, python, box_platform(), wanted.locked, preferred, requirements]
    return sha256(json.dumps(decisive).encode()).hexdigest()


def _finish(packages: Path, left_out: Mapping[str, str], size_limit: int) -> None:
    """Clean the packages and write down what is missing; raises SetupFailed if they are too much."""
    use = disk_use(packages)
    if use.too_deep:
        raise SetupFailed("the packages hold folders that are nested too deeply")
    if use.bytes > size_limit:
        raise SetupFailed(f"the packages need more than {size_limit // MIB} MiB on disk")
    finish_entry(packages, {**left_out, **clean(packages)})
