"""The processes of a box as they are seen and ended from outside its container."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from docker.errors import DockerException, NotFound
from docker.models.containers import Container

from sandbox.cancellation import uninterrupted
from sandbox.docker.execution import ContainerExec, OnChunk
from sandbox.errors import SandboxBroken
from sandbox.protocol import LimitKind
from sandbox.threads import in_own_thread

_KEEPER_PROCESSES = 2
_CLEANUP_SECONDS = 5.0
_HASTE_SECONDS = 1.5
"""For the same after a cancellation, which promises an end within two seconds."""
_KILL_SECONDS = 5.0
_KILL_PAUSE_SECONDS = 0.1
_WAKE_SECONDS = 1.0
_REMOVAL_SECONDS = 20


class Supervisor:
    """Starts processes of the box's user in a container, and ends them whatever they do."""

    def __init__(self, container: Container, *, user: str) -> None:
        self._container = container
        self._user = user
        self.spent = ""
        """Why the container is of no use any more; empty while it is."""

    def execution(self, argv: Sequence[str], *, on_chunk: OnChunk, stdin: bytes = b"") -> ContainerExec:
        """A process that can be started."""
        return ContainerExec(self._container, argv, user=self._user, on_chunk=on_chunk, stdin=stdin)

    async def destroy(self) -> None:
        """Remove the container with all that runs in it; raises SandboxBroken if the engine does not."""
        await uninterrupted(in_own_thread(partial(remove_container, self._container)))

    async def run(
        self, execution: ContainerExec, *, seconds: float, enough: asyncio.Event
    ) -> LimitKind | None:
        """Run a process to its end; past its time, when there is enough, or when cancelled, all is killed.

        The runner enforces the same limits inside; this is for a runner that was killed or held up.
        """
        running = asyncio.create_task(execution.run())
        stop = asyncio.create_task(enough.wait())
        patience = _HASTE_SECONDS  # until we know that nobody has cancelled us
        try:
            await asyncio.wait({running, stop}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not (running.done() or enough.is_set()):
                # A runner that the command has stopped still knows what to do.
                await self._signal_all("CONT")
                await asyncio.wait({running}, timeout=_WAKE_SECONDS)
            patience = _CLEANUP_SECONDS
        finally:
            stop.cancel()
            killed = not running.done()
            if killed:
                await uninterrupted(self._finish(execution, running, seconds=patience))
        if not killed:
            await running
            return None
        return LimitKind.OUTPUT if enough.is_set() else LimitKind.WALL

    async def _finish(
        self, execution: ContainerExec, running: "asyncio.Task[None]", *, seconds: float
    ) -> None:
        """End a process together with all others, and hear it out."""
        await self.end_all(seconds=seconds, running=running)
        if not running.done():
            execution.abandon()
            await asyncio.wait({running}, timeout=_CLEANUP_SECONDS)
        if running.done() and not running.cancelled():
            running.exception()  # what is ended by force may complain

    async def end_all(
        self, *, seconds: float = _CLEANUP_SECONDS, running: "asyncio.Task[None] | None" = None
    ) -> None:
        """Kill until nothing of the box's user is left: what only starts does not hear the first time.

        Something in there may kill whoever comes to kill it. Then the container goes, and the box is spent.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            await self._signal_all("KILL")
            if running is not None:
                await asyncio.wait({running}, timeout=_KILL_PAUSE_SECONDS)
            if (running is None or running.done()) and not await self._has_survivors():
                return
        self.spent = "an earlier command could not be ended, so the container was removed"
        await self.destroy()

    async def _has_survivors(self) -> bool:
        """Whether anything but the container's own keeper runs, as the engine sees it from outside."""
        try:
            found = await in_own_thread(self._container.top)
        except (DockerException, OSError):
            return True
        return len(found["Processes"] or ()) > _KEEPER_PROCESSES

    async def _signal_all(self, name: str) -> None:
        """Signal every process of the box's user; the container's own keeper is another user's."""
        sending = self.execution(["sh", "-c", f"kill -{name} -1"], on_chunk=_ignore)
        with suppress(SandboxBroken, TimeoutError):
            await asyncio.wait_for(sending.run(), _KILL_SECONDS)


def remove_container(container: Container) -> None:
    """End a container and wait until the engine has removed it; it may be gone already.

    Raises SandboxBroken when the engine does not do it.
    """
    client = container.client
    try:
        with suppress(NotFound):
            with suppress(DockerException):
                container.kill()
            try:
                container.wait(condition="removed", timeout=_REMOVAL_SECONDS)
            except NotFound:
                raise
            except (DockerException, OSError):
                container.remove(force=True)
    except (DockerException, OSError) as error:
        raise SandboxBroken(f"the Docker engine does not remove {container.name}: {error}") from error
    finally:
        if client is not None:
            client.close()


def _ignore(_name: str, _chunk: bytes) -> None: ...
