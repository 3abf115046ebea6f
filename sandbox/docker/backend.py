"""Boxes held by a Docker engine: one hardened container each, started once and used for every command."""

import asyncio
import copy
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from docker.errors import DockerException, ImageNotFound

from sandbox.cancellation import uninterrupted
from sandbox.docker.box import DockerSandbox
from sandbox.docker.client import connected
from sandbox.docker.container import EngineTraits, Shape, StartedContainer, start_container
from sandbox.docker.image_inputs import LABEL, inputs_digest
from sandbox.docker.package_image import image_with
from sandbox.docker.pool import PoolSettings, WarmPool
from sandbox.docker.reaper import reap
from sandbox.docker.supervision import remove_container
from sandbox.errors import SandboxError, SandboxUnavailable
from sandbox.paths import name_part
from sandbox.protocol import Limits, Packages
from sandbox.threads import in_own_thread

DEFAULT_IMAGE = "issuewright-sandbox:2"
_BUILD = Path(__file__).parent.parent / "images" / "build.sh"
_REAP_SECONDS = 60.0
_REFILL_SECONDS = 0.3
"""Starting a container is work for the machine: the first command of the box before it goes first."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Engine:
    """What the engine said about itself and the image."""

    image: str
    traits: EngineTraits


@dataclass(slots=True)
class _Shared:
    """What a backend has in common with its copies for other packages."""

    pool: "WarmPool[Shape, StartedContainer]"
    reaper: "asyncio.Task[None] | None" = None
    images: dict[tuple[str, str], str] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    closed: bool = False


class DockerBackend:
    """Holds each box in a container of the given image (a tag, `name@sha256:…` or an image id).

    `runtime` names another OCI runtime that the engine knows, such as `runsc`.
    """

    name = "docker"

    def __init__(
        self, image: str = DEFAULT_IMAGE, *, runtime: str | None = None, pool: PoolSettings | None = None
    ) -> None:
        self._image = image
        self._runtime = runtime
        self._packages: Packages | None = None
        self._engine: _Engine | None = None
        self._shared = _Shared(WarmPool(partial(_start, job=""), _discard, settings=pool or PoolSettings()))

    async def check(self) -> None:
        """Raise SandboxUnavailable unless an engine answers, has the image and knows the runtime."""
        self._engine = await in_own_thread(self._look)

    async def create(self, limits: Limits, *, job: str = "") -> DockerSandbox:
        """A box, from the warm pool if one is ready; raises SandboxUnavailable or SandboxBroken."""
        shape = await self._shape(limits)
        started = await self._warm(shape, job) or await _start(shape, job=job)
        self._shared.pool.refill(shape, after=_REFILL_SECONDS)
        return DockerSandbox(started.container, uid=started.uid, limits=limits)

    async def prepare(self, limits: Limits) -> None:
        """Fill the warm pool for these limits before the first box is asked for."""
        await self._shared.pool.filled(await self._shape(limits))

    def with_packages(self, packages: Packages) -> Self:
        """This backend with an image that holds the packages as well; the pool is shared."""
        other = copy.copy(self)
        other._packages = packages
        return other

    async def close(self) -> None:
        """Remove the containers that are kept ready and stop reaping; no box is made any more."""
        self._shared.closed = True
        if self._shared.reaper is not None:
            self._shared.reaper.cancel()
            with suppress(asyncio.CancelledError):
                await self._shared.reaper
            self._shared.reaper = None
        await self._shared.pool.close()

    async def _shape(self, limits: Limits) -> Shape:
        if self._shared.closed:
            raise SandboxUnavailable("this Docker backend was closed; make another one")
        if self._engine is None:
            await self.check()
        engine = self._engine
        assert engine is not None  # noqa: S101 - check has raised otherwise
        if self._shared.reaper is None:
            self._shared.reaper = asyncio.create_task(_reap_forever())
        image = engine.image
        if self._packages is not None:
            image = await self._derived(engine.image, self._packages)
        return Shape.of(limits, image=image, runtime=self._runtime, traits=engine.traits)

    async def _derived(self, base: str, packages: Packages) -> str:
        key = (base, packages.digest)
        async with self._shared.lock:
            if key not in self._shared.images:
                self._shared.images[key] = await in_own_thread(partial(_image_with, base, packages))
        return self._shared.images[key]

    async def _warm(self, shape: Shape, job: str) -> StartedContainer | None:
        """A ready container that still runs, now named for the job."""
        while (started := self._shared.pool.take(shape)) is not None:
            try:
                await in_own_thread(partial(_hand_out, started, job))
            except (DockerException, OSError) as error:
                self._shared.pool.throw_away(started)
                _log.warning("a container that was kept ready is lost: %s", error)
            except BaseException:
                self._shared.pool.throw_away(started)
                raise
            else:
                return started
        return None

    def _look(self) -> _Engine:
        with connected() as client:
            try:
                info: dict[str, Any] = client.info()
                version: dict[str, Any] = client.version()
                image = client.images.get(self._image)
            except ImageNotFound as error:
                raise SandboxUnavailable(
                    f"the Docker image {self._image} is not there; build it with: sh {_BUILD} {self._image}"
                ) from error
            except (DockerException, OSError) as error:
                raise SandboxUnavailable(f"the Docker engine does not answer: {error}") from error
        # An image of somebody's own has no such label.
        if image.labels.get(LABEL, inputs_digest()) != inputs_digest():
            raise SandboxUnavailable(
                f"the Docker image {self._image} was built for another version; build it again with: "
                f"sh {_BUILD} {self._image}"
            )
        if self._runtime is not None and self._runtime not in info.get("Runtimes", {}):
            raise SandboxUnavailable(
                f"the Docker engine knows no runtime {self._runtime!r}; it has "
                f"{', '.join(sorted(info.get('Runtimes', {})))}"
            )
        return _Engine(image=str(image.id), traits=_traits(info, version))


def _traits(info: Mapping[str, Any], version: Mapping[str, Any]) -> EngineTraits:
    security = " ".join(info.get("SecurityOptions") or ())
    parts = {part.get("Name", "") for part in version.get("Components") or ()}
    return EngineTraits(
        small_ids="name=rootless" in security or "name=userns" in security,
        plain_tmpfs="Podman Engine" in parts,
    )


async def _start(shape: Shape, *, job: str) -> StartedContainer:
    """Start a container; when cancelled meanwhile, finish the start in order to know what to remove."""
    starting = asyncio.ensure_future(in_own_thread(partial(start_container, shape, job=job)))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await uninterrupted(_undone(starting))
        raise


async def _undone(starting: "asyncio.Future[StartedContainer]") -> None:
    with suppress(SandboxError):
        await _discard(await starting)


async def _discard(started: StartedContainer) -> None:
    await in_own_thread(partial(remove_container, started.container))


def _hand_out(started: StartedContainer, job: str) -> None:
    """Give a ready container its job's name; raises DockerException for one that is gone."""
    container = started.container
    container.reload()
    if container.status != "running":
        raise DockerException(f"container {container.name} is {container.status}")
    if job:
        suffix = str(container.name).rpartition("-")[2]
        container.rename(f"issuewright-{name_part(job)}-{suffix}")


def _image_with(base: str, packages: Packages) -> str:
    with connected() as client:
        return image_with(client, base, packages)


async def _reap_once() -> None:
    try:
        await in_own_thread(_reap)
    except (DockerException, SandboxError, OSError) as error:
        _log.warning("abandoned containers could not be looked for: %s", error)


def _reap() -> None:
    with connected() as client:
        reap(client)


async def _reap_forever() -> None:
    while True:
        await _reap_once()
        await asyncio.sleep(_REAP_SECONDS)
