"""Which backend holds the boxes on this machine."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from sandbox.bubblewrap.backend import BubblewrapBackend
from sandbox.docker.backend import DEFAULT_IMAGE, DockerBackend
from sandbox.docker.pool import PoolSettings
from sandbox.errors import SandboxUnavailable
from sandbox.protocol import SandboxBackend

Preference = Literal["auto", "docker", "bubblewrap"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerSettings:
    """How the Docker backend is used."""

    image: str = DEFAULT_IMAGE
    """A tag, a name with `@sha256:` digest, or an image id."""
    runtime: str | None = None
    """An OCI runtime that the engine knows, such as `runsc`; None for its default."""
    pool: PoolSettings = field(default_factory=PoolSettings)


async def choose_backend(
    preference: Preference = "auto", *, docker: DockerSettings | None = None
) -> SandboxBackend:
    """Docker if an engine with the image answers, else bubblewrap; never the bare host.

    Raises SandboxUnavailable with each backend's diagnosis when none of those asked for can be used.
    """
    docker = docker or DockerSettings()
    backends: dict[str, SandboxBackend] = {
        "docker": DockerBackend(docker.image, runtime=docker.runtime, pool=docker.pool),
        "bubblewrap": BubblewrapBackend(),
    }
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
