"""Finds containers that nobody will remove any more: their owner is dead, or their time is over."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import docker
from docker.errors import DockerException

OWNER_LABEL = "issuewright.owner"
EXPIRES_LABEL = "issuewright.expires"
JOB_LABEL = "issuewright.job"


def labels_for(*, job: str, expires: float) -> dict[str, str]:
    """The labels of a container of ours; `expires` is a Unix time."""
    return {OWNER_LABEL: this_process(), EXPIRES_LABEL: str(int(expires)), JOB_LABEL: job}


def this_process() -> str:
    """Names this process so that it is never mistaken for a later one with the same number."""
    return f"{_world()}/{os.getpid()}/{_start_time(os.getpid())}"


def is_alive(owner: str) -> bool:
    """Whether a named process lives; True for one that cannot be seen from here."""
    world, _, process = owner.partition("/")
    number, _, started = process.partition("/")
    if world != _world() or not number.isdecimal():
        return True
    return _start_time(int(number)) == started


def is_abandoned(labels: Mapping[str, str], *, now: float, alive: Callable[[str], bool] = is_alive) -> bool:
    """Whether a container may be removed: its time is over or its owner is dead."""
    expires = labels.get(EXPIRES_LABEL, "")
    if not expires.isdecimal():
        return False
    return now > int(expires) or not alive(labels.get(OWNER_LABEL, ""))


def reap(client: docker.DockerClient) -> int:
    """Remove what is abandoned; returns how many containers that were. Raises DockerException."""
    found = client.api.containers(all=True, filters={"label": EXPIRES_LABEL})
    abandoned = [one["Id"] for one in found if is_abandoned(one["Labels"], now=time.time())]
    for container in abandoned:
        with suppress(DockerException):  # gone meanwhile, or another reaper is at it
            client.api.remove_container(container, force=True)
    return len(abandoned)


def _world() -> str:
    """The boot of this machine and the process namespace in which our numbers mean something."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}.{Path('/proc/self/ns/pid').stat().st_ino}"


def _start_time(pid: int) -> str:
    """Clock ticks since boot at which a process began; empty for one that is not there."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except OSError:
        return ""
