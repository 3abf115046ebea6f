"""The setup before a repository's code runs: its declared packages, fetched as wheels outside the sandbox."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import platformdirs

from sandbox import Limits, SandboxBackend, SandboxBroken, SetupFailed
from sandbox.packages import Installed, Wanted, install_packages, wanted_packages

Tell = Callable[[str], None]
_NAMED = 5
_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


def default_folder() -> Path:
    """Where fetched packages are kept for the next run."""
    return Path(platformdirs.user_cache_dir("issuewright"), "packages")


async def with_repository_packages(
    backend: SandboxBackend, files: Mapping[str, bytes], *, folder: Path, tell: Tell
) -> SandboxBackend:
    """The backend whose boxes see what the repository declares; as it was where that cannot be had.

    A run goes on without packages that cannot be installed: tests that need them are then told apart from
    tests that fail. `tell` hears what is done and what is left out.
    """
    wanted = await asyncio.to_thread(wanted_packages, files)  # a hostile file may take seconds
    _tell_left_out(tell, wanted.refused)
    if not wanted.requirements:
        return backend
    try:
        installed = await _installed(backend, wanted, folder=folder, tell=tell)
    except SetupFailed as error:
        tell(f"{wanted.source}: not installed: {error}")
        return backend
    _tell_left_out(tell, installed.left_out)
    return backend.with_packages(installed.packages) if installed.packages else backend


async def _installed(backend: SandboxBackend, wanted: Wanted, *, folder: Path, tell: Tell) -> Installed:
    tell(f"{len(wanted.requirements)} from {wanted.source}")
    python = await _python_version(backend)
    return await install_packages(wanted, cache=folder, python=python, on_progress=tell)


async def _python_version(backend: SandboxBackend) -> str:
    box = await backend.create(Limits(wall_seconds=30), job="setup")
    try:
        result = await box.run(["python", "-c", _VERSION])
    finally:
        await box.destroy()
    if not result.ok:
        raise SandboxBroken(f"Python does not start in the {backend.name} sandbox: {result.stderr.text}")
    return result.stdout.text.strip()


def _tell_left_out(tell: Tell, left_out: Mapping[str, str]) -> None:
    named = [f"{name} ({reason})" for name, reason in list(left_out.items())[:_NAMED]]
    if len(left_out) > _NAMED:
        named.append(f"and {len(left_out) - _NAMED} more")
    if named:
        tell(f"left out: {'; '.join(named)}")
