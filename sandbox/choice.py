"""Which backend holds the boxes on this machine."""

from collections.abc import Sequence
from typing import Literal

from sandbox.bubblewrap import BubblewrapBackend
from sandbox.docker_engine import DockerBackend
from sandbox.errors import SandboxUnavailable
from sandbox.protocol import SandboxBackend

Preference = Literal["auto", "docker", "bubblewrap"]


async def choose_backend(preference: Preference = "auto") -> SandboxBackend:
    """Docker if an engine with the image answers, else bubblewrap; never the bare host.

    Raises SandboxUnavailable with each backend's diagnosis when none of those asked for can be used.
    """
    backends: dict[str, SandboxBackend] = {"docker": DockerBackend(), "bubblewrap": BubblewrapBackend()}
    return await first_usable([backends[preference]] if preference != "auto" else list(backends.values()))


async def first_usable(backends: Sequence[SandboxBackend]) -> SandboxBackend:
    """The first backend whose check passes; raises SandboxUnavailable with what each one lacks."""
    lacks = []
    for backend in backends:
        try:
            await backend.check()
        except SandboxUnavailable as error:
            lacks.append(f"- {backend.name}: {error}")
        else:
            return backend
    raise SandboxUnavailable("no sandbox can be used, and nothing runs without one:\n" + "\n".join(lacks))
