"""Real boxes for the tests, on every backend that this machine can serve."""

from collections.abc import AsyncIterator

import pytest

from sandbox import BubblewrapBackend, DockerBackend, Limits, Sandbox, SandboxBackend, SandboxUnavailable
from sandbox.docker.pool import PoolSettings
from sandbox.protocol import MIB

LIMITS = Limits(
    wall_seconds=20, memory_bytes=512 * MIB, processes=48, disk_bytes=24 * MIB, output_bytes=256 * 1024
)


_checked: dict[str, str | None] = {}


async def _why_unusable(name: str) -> str | None:
    if name not in _checked:
        try:
            await _backend(name).check()
        except SandboxUnavailable as error:
            _checked[name] = str(error)
        else:
            _checked[name] = None
    return _checked[name]


def _backend(name: str) -> SandboxBackend:
    return DockerBackend(pool=PoolSettings(size=0)) if name == "docker" else BubblewrapBackend()


@pytest.fixture(
    params=[
        pytest.param("bubblewrap", marks=pytest.mark.sandbox),
        pytest.param("docker", marks=[pytest.mark.sandbox, pytest.mark.docker]),
    ]
)
async def backend(request: pytest.FixtureRequest) -> AsyncIterator[SandboxBackend]:
    """Each real backend in turn; skipped, with its diagnosis, where it cannot be used."""
    reason = await _why_unusable(request.param)
    if reason is not None:
        pytest.skip(reason)
    made = _backend(request.param)
    yield made
    await made.close()


@pytest.fixture
async def box(backend: SandboxBackend) -> AsyncIterator[Sandbox]:
    """A box that is destroyed after the test."""
    made = await backend.create(LIMITS)
    try:
        yield made
    finally:
        await made.destroy()
