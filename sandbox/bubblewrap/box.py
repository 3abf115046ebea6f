"""One box held by bubblewrap."""

import asyncio
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from sandbox.blocked import blocked_hosts
from sandbox.bubblewrap import leftovers, work_disk
from sandbox.bubblewrap.cgroup import Group, make_group
from sandbox.bubblewrap.command import HOLDER_PROCESSES, BwrapCommand
from sandbox.bubblewrap.notes import take_notes
from sandbox.bubblewrap.placing import is_folder, place_files
from sandbox.cancellation import uninterrupted
from sandbox.disk import disk_exceeded
from sandbox.errors import SandboxBroken
from sandbox.paths import split
from sandbox.process import Ended, Watch, never, run_process
from sandbox.protocol import Collected, ExecResult, Limits, OnOutput, Usage
from sandbox.results import collect_folder
from sandbox.surroundings import HOST_ENV, refuse_unrunnable
from sandbox.verdict import Counters, limit_of

_JOIN_GROUP = 'while [ "$1" != -- ]; do echo $$ >"$1" || exit 125; shift; done; shift; exec "$@"'


class BubblewrapSandbox:
    """One box: its files stay in a folder of this machine, its processes never outlive a command."""

    def __init__(self, command: BwrapCommand, limits: Limits, lock: int, *, own_disk: bool) -> None:
        self._command = command
        self._own_disk = own_disk
        self._layout = command.layout
        self._limits = limits
        self._lock: int | None = lock
        self._gone = asyncio.Event()
        self._running: set[asyncio.Future[None]] = set()

    async def put_files(self, files: Mapping[str, bytes]) -> None:
        """Write files under `/work`; raises ValueError for a path that leaves it."""
        owner = self._command.uid if self._command.as_root else None
        self._open_again()
        try:
            await asyncio.to_thread(place_files, self._layout.work, files, owner=owner)
        except OSError as error:
            raise SandboxBroken(f"files could not be put into the box: {error.strerror}") from error

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
        refuse_unrunnable(argv, env or {})
        self._open_again()
        if cwd != "." and not is_folder(self._layout.work, split(cwd)):
            raise ValueError(f"cwd {cwd!r} is no folder that can be entered; put a file into it first")
        limits = limits or self._limits
        # What lies on the box's own disk is memory of its group.
        disk_bytes = self._limits.disk_bytes if self._own_disk else 0
        group = make_group(limits, extra_processes=HOLDER_PROCESSES, extra_memory_bytes=disk_bytes)
        ended = asyncio.get_running_loop().create_future()
        self._running.add(ended)
        try:
            return await self._run(argv, env or {}, cwd, stdin, limits, on_output, group)
        finally:
            self._running.discard(ended)
            ended.set_result(None)
            if group is not None:
                await uninterrupted(group.remove())

    async def get_files(self, patterns: Sequence[str] = ("**",)) -> Collected:
        """Regular files under `/work` matching a glob; everything else is refused by name."""
        self._open_again()
        return await asyncio.to_thread(collect_folder, self._layout.work, patterns)

    async def destroy(self) -> None:
        """Kill what runs and remove the box's folder, however deep or unreadable a command made it."""
        self._gone.set()
        await uninterrupted(self._remove())

    async def _remove(self) -> None:
        if self._running:
            await asyncio.wait(self._running)
        if self._lock is not None:
            lock, self._lock = self._lock, None
            await asyncio.to_thread(leftovers.remove_folder, self._layout.root)
            os.close(lock)

    async def _run(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str,
        stdin: bytes,
        limits: Limits,
        on_output: OnOutput | None,
        group: Group | None,
    ) -> ExecResult:
        with _status_pipe() as (status_fd, read_status), self._seccomp() as seccomp_fd:
            command = self._command.argv(
                argv,
                env=env,
                cwd=cwd,
                limits=limits,
                status_fd=status_fd,
                seccomp_fd=seccomp_fd,
                counted=group is not None,
            )
            ended = await run_process(
                _counted(command, group),
                env=HOST_ENV,
                stdin=stdin,
                limits=limits,
                watch=never if self._own_disk else self._watch_disk(limits),
                on_output=on_output,
                pass_fds=(status_fd,) if seccomp_fd is None else (status_fd, seccomp_fd),
                stop=self._gone,
            )
            if self._gone.is_set():
                raise SandboxBroken("the box was destroyed while a command ran in it")
            return self._result(ended, group, read_status())

    def _open_again(self) -> None:
        """An earlier command may have closed the work folder to everybody."""
        if self._gone.is_set():
            raise SandboxBroken("the box was destroyed; make another one")
        self._layout.work.chmod(0o755)

    def _watch_disk(self, limits: Limits) -> Watch:
        return partial(disk_exceeded, self._layout.work, limits.disk_bytes)

    @contextmanager
    def _seccomp(self) -> Iterator[int | None]:
        """The filter, open for bwrap to read."""
        if not self._layout.seccomp.exists():
            yield None
            return
        with self._layout.seccomp.open("rb") as program:
            yield program.fileno()

    def _result(self, ended: Ended, group: Group | None, status: Mapping[str, int]) -> ExecResult:
        counters = group.counters() if group else Counters()
        if ended.stopped is None and "exit-code" not in status and not counters.out_of_memory:
            raise SandboxBroken(f"bwrap ended with code {ended.exit_code}: {ended.stderr.text.strip()}")
        if self._own_disk and work_disk.is_full(self._layout.work):
            counters = replace(counters, disk_full=True)
        limit = limit_of(
            ended.exit_code,
            stopped=ended.stopped,
            counters=counters,
            stdout=ended.stdout,
            stderr=ended.stderr,
        )
        return ExecResult(
            exit_code=ended.exit_code,
            limit=limit,
            usage=Usage(
                wall_seconds=ended.wall_seconds,
                cpu_seconds=group.cpu_seconds() if group else None,
                peak_memory_bytes=group.peak_memory_bytes() if group else None,
            ),
            stdout=ended.stdout,
            stderr=ended.stderr,
            blocked_hosts=blocked_hosts(take_notes(self._layout.work), ended.stderr),
        )


def _counted(command: list[str], group: Group | None) -> list[str]:
    """The command, started so that the group counts it from its first instruction."""
    if group is None:
        return command
    return ["/bin/sh", "-c", _JOIN_GROUP, "join-group", *map(str, group.entrances), "--", *command]


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
