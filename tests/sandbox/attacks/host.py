"""The state of the host before and after; only what the boxes of this process could have changed."""

import os
import shutil
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox import SandboxUnavailable, owner
from sandbox.bubblewrap import leftovers
from sandbox.docker import client, reaper
from tests.sandbox.processes import alive_with

_CLOCK_SECONDS = 2.0
_PATIENCE_SECONDS = 20.0
_PAUSE_SECONDS = 0.05
_FREE_SLACK_BYTES = 4 * 1024**3  # others use this machine too
_ACCOUNTS = (
    "/etc/passwd",
    "/etc/group",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/ld.so.preload",
    "/etc/hostname",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What one attack must leave as it was; cheap to take."""

    descriptors: int
    host_name: str
    clock_offset: float
    """Seconds between the wall clock and the time since boot."""
    priority: int
    core_pattern: str


def snapshot() -> Snapshot:
    """Look at the host now."""
    return Snapshot(
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        host_name=os.uname().nodename,
        clock_offset=time.time() - time.clock_gettime(time.CLOCK_BOOTTIME),
        priority=os.getpriority(os.PRIO_PROCESS, 0),
        core_pattern=Path("/proc/sys/kernel/core_pattern").read_text(),
    )


def changes_since(before: Snapshot, token: str, *, patience: float = _PATIENCE_SECONDS) -> list[str]:
    """What an attack with this token changed on the host, in words; waits for what ends by itself."""
    settled(lambda: not alive_with(token) and snapshot().descriptors <= before.descriptors, patience=patience)
    after = snapshot()
    changes = [f"process lives on: {line[:200]}" for line in alive_with(token)]
    changes += [f"file on the host: {path}" for path in _files_named(token)]
    changes += [f"written to: {path}" for path in _ACCOUNTS if token in _text(path)]
    changes += [f"mounted: {line}" for line in mounts() if token in line]
    if after.descriptors > before.descriptors:
        changes.append(f"descriptors: {before.descriptors} before, now {after.descriptors}")
    if abs(after.clock_offset - before.clock_offset) > _CLOCK_SECONDS:
        changes.append("the clock was set")
    for name in ("host_name", "priority", "core_pattern"):
        if getattr(after, name) != getattr(before, name):
            changes.append(f"{name}: {getattr(before, name)!r} before, now {getattr(after, name)!r}")
    return changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """What boxes are made of on the host, and what is free."""

    folders: frozenset[str]
    cgroups: frozenset[str]
    mounts: frozenset[str]
    containers: frozenset[str]
    free_disk: int
    free_memory: int


def inventory() -> Inventory:
    """Count everything now; containers only our own, and only where an engine answers."""
    return Inventory(
        folders=frozenset(map(str, Path(tempfile.gettempdir()).glob(f"{leftovers.PREFIX}*"))),
        cgroups=frozenset(_cgroups()),
        mounts=frozenset(line for line in mounts() if "issuewright" in line),
        containers=frozenset(_containers()),
        free_disk=shutil.disk_usage(tempfile.gettempdir()).free,
        free_memory=_available_memory(),
    )


def left_since(before: Inventory) -> list[str]:
    """What is there now, was not there before, and stays; other people's boxes come and go meanwhile."""
    left: dict[str, frozenset[str]] = {}

    def gone() -> bool:
        now = inventory()
        for kind in ("folders", "cgroups", "mounts", "containers"):
            new = getattr(now, kind) - getattr(before, kind)
            left[kind] = new & left.get(kind, new)
        left["free"] = frozenset(_less(before, now))
        return not any(left.values())

    settled(gone)
    return sorted(item for items in left.values() for item in items)


def settled(holds: Callable[[], bool], *, patience: float = _PATIENCE_SECONDS) -> bool:
    """Whether something comes to hold while we wait."""
    deadline = time.monotonic() + patience
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE_SECONDS)
    return True


def mounts() -> list[str]:
    """The mounts that our own mount namespace shows."""
    return Path("/proc/self/mountinfo").read_text().splitlines()


def _less(before: Inventory, now: Inventory) -> Iterable[str]:
    for name in ("free_disk", "free_memory"):
        lost = getattr(before, name) - getattr(now, name)
        if lost > _FREE_SLACK_BYTES:
            yield f"{name}: {lost} bytes less than before"


def _files_named(token: str) -> list[str]:
    folders = {
        *("/", "/etc", "/usr", "/usr/bin", "/usr/local/bin", "/usr/lib", "/opt", "/root", "/dev", "/dev/shm"),
        *("/var", "/run", "/home", "/sys/fs/cgroup", tempfile.gettempdir(), str(Path.cwd())),
        *sysconfig.get_paths().values(),
        str(Path(pytest.__file__).parent),
        str(Path(sys.executable).resolve().parent),
    }
    return [entry.path for folder in folders for entry in _entries(folder) if token in entry.name]


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _cgroups() -> list[str]:
    """Groups of this process at any depth; os.walk does not mind those that vanish meanwhile."""
    mine = f"issuewright-{owner.this_process().replace('/', '_')}-"
    return [
        f"{folder}/{name}"
        for folder, names, _ in os.walk("/sys/fs/cgroup")
        for name in names
        if name.startswith(mine)
    ]


def _containers() -> list[str]:
    try:
        with client.connected() as engine:
            listed = engine.api.containers(all=True)
    except SandboxUnavailable:
        return []
    return [
        f"container {found['Id'][:12]} {found['Labels']}"
        for found in listed
        if (found["Labels"] or {}).get(reaper.OWNER_LABEL) == owner.this_process()
    ]


def _available_memory() -> int:
    for line in _text("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


def _text(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""
