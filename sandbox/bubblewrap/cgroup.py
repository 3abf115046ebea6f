"""A control group for one command, where this process may make one: total memory, processes, usage.

Both cgroup layouts are served. Where none may be made, `make_group` returns None and rlimits must do.
"""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.owner import is_alive, this_process
from sandbox.protocol import Limits
from sandbox.verdict import Counters

_MOUNT = Path("/sys/fs/cgroup")
_V1 = ("memory", "pids", "cpuacct")
_PREFIX = "issuewright-"
_SEPARATOR = "_"
_REMOVAL_TRIES = 100
_REMOVAL_PAUSE_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Where one command is counted: one folder for each controller (the same one in cgroup v2)."""

    memory: Path
    pids: Path
    cpu: Path
    unified: bool

    @property
    def entrances(self) -> list[Path]:
        """The files that a process writes its id to in order to be counted here."""
        return [folder / "cgroup.procs" for folder in self._folders()]

    def counters(self) -> Counters:
        """How often the limits of the group bit."""
        memory_events = "memory.events" if self.unified else "memory.oom_control"
        return Counters(
            out_of_memory=_field(self.memory / memory_events, "oom_kill") or 0,
            refused_processes=_field(self.pids / "pids.events", "max") or 0,
        )

    def peak_memory_bytes(self) -> int | None:
        """The most memory the group ever held."""
        return _number(self.memory / ("memory.peak" if self.unified else "memory.max_usage_in_bytes"))

    def cpu_seconds(self) -> float | None:
        """Processor time of all processes of the group."""
        if self.unified:
            microseconds = _field(self.cpu / "cpu.stat", "usage_usec")
            return None if microseconds is None else microseconds / 1e6
        nanoseconds = _number(self.cpu / "cpuacct.usage")
        return None if nanoseconds is None else nanoseconds / 1e9

    async def remove(self) -> None:
        """Remove the group once its last process is gone; waits about two seconds at most."""
        for _ in range(_REMOVAL_TRIES):
            if all(_removed(folder) for folder in self._folders()):
                return
            await asyncio.sleep(_REMOVAL_PAUSE_SECONDS)

    def _folders(self) -> list[Path]:
        return sorted({self.memory, self.pids, self.cpu})


def make_group(
    limits: Limits, *, extra_processes: int, extra_memory_bytes: int = 0, mount: Path = _MOUNT
) -> Group | None:
    """Make a group with these limits; None where that is not allowed here.

    `extra_processes` is room for the processes that hold the box, on top of the command's own, and
    `extra_memory_bytes` for its disk, where that is memory.
    """
    name = f"{_PREFIX}{this_process().replace('/', _SEPARATOR)}-{secrets.token_hex(6)}"
    memory, processes = limits.memory_bytes + extra_memory_bytes, limits.processes + extra_processes
    try:
        membership = _membership(Path("/proc/self/cgroup").read_text())
        if (mount / "cgroup.controllers").exists():
            return _make_unified(mount, name, membership.get("", "/"), memory, processes)
        return _make_split(mount, name, membership, memory, processes)
    except OSError:
        return None


def sweep_groups(mount: Path = _MOUNT) -> int:
    """Remove the groups whose owner is dead; returns how many."""
    membership = _membership(Path("/proc/self/cgroup").read_text())
    parents = {mount, _parent(mount, membership.get("", "/"))}
    parents |= {_parent(mount / kind, membership.get(kind, "/")) for kind in _V1}
    found = [group for parent in parents for group in parent.glob(f"{_PREFIX}*{_SEPARATOR}*")]
    return sum(_removed(group) for group in found if not is_alive(_owner(group.name)))


def _owner(name: str) -> str:
    return name.removeprefix(_PREFIX).rpartition("-")[0].replace(_SEPARATOR, "/")


def _make_unified(mount: Path, name: str, own: str, memory: int, processes: int) -> Group:
    """Below our own group, or else below the root: a group with processes may not lend its controllers."""
    parents = dict.fromkeys([_parent(mount, own), mount])
    parent = next((one for one in parents if _lends_controllers(one)), mount)
    folder = parent / name
    group = Group(memory=folder, pids=folder, cpu=folder, unified=True)
    settings = {
        folder / "memory.max": memory,
        folder / "memory.swap.max": 0,
        folder / "pids.max": processes,
    }
    return _made(group, [folder], settings)


def _lends_controllers(folder: Path) -> bool:
    return {"memory", "pids"} <= set((folder / "cgroup.subtree_control").read_text().split())


def _make_split(
    mount: Path, name: str, membership: Mapping[str, str], memory_bytes: int, processes: int
) -> Group:
    memory, pids, cpu = (_parent(mount / kind, membership.get(kind, "/")) / name for kind in _V1)
    group = Group(memory=memory, pids=pids, cpu=cpu, unified=False)
    settings = {
        memory / "memory.limit_in_bytes": memory_bytes,
        memory / "memory.memsw.limit_in_bytes": memory_bytes,
        pids / "pids.max": processes,
    }
    return _made(group, [memory, pids, cpu], settings)


def _made(group: Group, folders: Sequence[Path], settings: Mapping[Path, int]) -> Group:
    try:
        for folder in folders:
            folder.mkdir()
        for file, value in settings.items():
            # Swap accounting is a boot option: without its files the plain memory limit stands.
            if file.exists() or "sw" not in file.name:
                file.write_text(str(value))
    except OSError:
        for folder in folders:
            _removed(folder)
        raise
    return group


def _parent(mount: Path, path: str) -> Path:
    """Our own group below a mount; the mount itself where a container hides the rest of the tree."""
    own = mount / path.lstrip("/")
    return own if own.is_dir() else mount


def _membership(text: str) -> dict[str, str]:
    """Controller to path, from /proc/self/cgroup; the unified hierarchy has the empty name."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _number(file: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int(file.read_text())
    return None


def _field(file: Path, name: str) -> int | None:
    with suppress(OSError, ValueError):
        for line in file.read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return None
