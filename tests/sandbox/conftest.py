"""Real boxes for the tests, on every backend that this machine can serve."""

import asyncio
from collections.abc import AsyncIterator
from functools import cache

import pytest

from sandbox import BubblewrapBackend, DockerBackend, Limits, Sandbox, SandboxBackend, SandboxUnavailable
from sandbox.protocol import MIB

LIMITS = Limits(
    wall_seconds=20, memory_bytes=512 * MIB, processes=48, disk_bytes=24 * MIB, output_bytes=256 * 1024
)


@cache
def _why_unusable(name: str) -> str | None:
    try:
        asyncio.run(_backend(name).check())
    except SandboxUnavailable as error:
        return str(error)
    return None


def _backend(name: str) -> SandboxBackend:
    return DockerBackend() if name == "docker" else BubblewrapBackend()


@pytest.fixture(
    params=[
        pytest.param("bubblewrap", marks=pytest.mark.sandbox),
        pytest.param("docker", marks=[pytest.mark.sandbox, pytest.mark.docker]),
    ]
)
def backend(request: pytest.FixtureRequest) -> SandboxBackend:
    """Each real backend in turn; skipped, with its diagnosis, where it cannot be used."""
    reason = _why_unusable(request.param)
    if reason is not None:
        pytest.skip(reason)
    return _backend(request.param)


@pytest.fixture
async def box(backend: SandboxBackend) -> AsyncIterator[Sandbox]:
    """A box that is destroyed after the test."""
    made = await backend.create(LIMITS)
    try:
        yield made
    finally:
        await made.destroy()
