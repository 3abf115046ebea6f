"""Starts the hardened containers that boxes live in."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from docker.errors import DockerException
from docker.models.containers import Container
from docker.types import LogConfig, Ulimit

from sandbox.docker.client import connect
from sandbox.docker.reaper import labels_for
from sandbox.errors import SandboxBroken
from sandbox.identity import box_id
from sandbox.paths import name_part
from sandbox.protocol import WORK_DIR, Limits
from sandbox.surroundings import SHM_BYTES, TMP_BYTES, inodes_for

LIFETIME_SECONDS = 6 * 3600
"""A container ends by itself after this time, and the engine removes it."""
_KEEPER = "65534:65534"
_SPARE_PROCESSES = 64
"""Beyond the rlimit, so that a full process table cannot keep our own kill command out."""
_MOST_PROCESSES = 16384
"""Of one user on the whole machine; a command's own limit is far lower and its user is its own."""
_SMALL_ID_MAP = "0 0 65536\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineTraits:
    """In what an engine differs from a plain Docker."""

    small_ids: bool = False
    """It maps only 65,536 user ids, as rootless engines do."""
    plain_tmpfs: bool = False
    """It knows no owner and no inode limit for a tmpfs: Podman."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is fixed when a container starts; commands with the same shape can use the same container."""

    image: str
    """The image's id, so that a tag that moves meanwhile changes nothing."""
    memory_bytes: int
    processes: int
    disk_bytes: int
    runtime: str | None
    traits: EngineTraits

    @classmethod
    def of(cls, limits: Limits, *, image: str, runtime: str | None, traits: EngineTraits) -> "Shape":
        """The shape that these limits ask for."""
        return cls(
            image=image,
            memory_bytes=limits.memory_bytes,
            processes=limits.processes,
            disk_bytes=limits.disk_bytes,
            runtime=runtime,
            traits=traits,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedContainer:
    """A container that runs nothing yet but its keeper."""

    container: Container
    uid: int


def start_container(shape: Shape, *, job: str) -> StartedContainer:
    """Start one; raises SandboxUnavailable without an engine, SandboxBroken if the engine refuses."""
    uid = box_id(_SMALL_ID_MAP if shape.traits.small_ids else None)
    client = connect()
    part = f"{name_part(job)}-" if job else ""
    try:
        container = client.containers.run(
            shape.image,
            ["sleep", str(LIFETIME_SECONDS)],
            detach=True,
            auto_remove=True,
            name=f"issuewright-{part}{secrets.token_hex(6)}",
            labels=labels_for(job=job, expires=time.time() + LIFETIME_SECONDS),
            **_hardening(uid, shape),
        )
    except (DockerException, OSError) as error:
        client.close()
        raise SandboxBroken(f"the Docker engine cannot start {shape.image}: {error}") from error
    return StartedContainer(container=container, uid=uid)


def _hardening(uid: int, shape: Shape) -> Mapping[str, Any]:
    # Files under /work and /tmp live in memory here, so the container's cap must hold both.
    memory = shape.memory_bytes + shape.disk_bytes
    tmp_bytes = min(TMP_BYTES, shape.disk_bytes)
    return {
        # The keeper is another user than the commands: they cannot signal it, and it has no rights either.
        "user": _KEEPER,
        "runtime": shape.runtime,
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "pids_limit": shape.processes + _SPARE_PROCESSES,
        "mem_limit": memory,
        "memswap_limit": memory,
        "init": True,
        # With a /dev/shm of ours below: the engine's own has no limit for files.
        "ipc_mode": "none",
        "hostname": "sandbox",
        "log_config": LogConfig(type="none"),
        # Where an administrator made a GPU runtime the default, this keeps the devices out.
        "environment": {"NVIDIA_VISIBLE_DEVICES": "void"},
        "tmpfs": {
            "/tmp": _tmpfs(tmp_bytes, uid, shape.traits),  # noqa: S108 - the box's own
            "/dev/shm": _tmpfs(SHM_BYTES, uid, shape.traits),  # noqa: S108
            str(WORK_DIR): _tmpfs(shape.disk_bytes, uid, shape.traits),
        },
        "ulimits": [
            Ulimit(name="nofile", soft=1024, hard=1024),
            Ulimit(name="core", soft=0, hard=0),
            # Said outright, because an engine's own default may be more than it is allowed to give.
            Ulimit(name="nproc", soft=_MOST_PROCESSES, hard=_MOST_PROCESSES),
        ],
    }


def _tmpfs(size: int, uid: int, traits: EngineTraits) -> str:
    options = f"rw,exec,nosuid,nodev,size={size}"
    if traits.plain_tmpfs:
        return f"{options},mode=1777"
    return f"{options},mode=0755,nr_inodes={inodes_for(size)},uid={uid},gid={uid}"
