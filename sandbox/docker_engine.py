"""Boxes held by a Docker engine: one hardened container each, started once and used for every command."""

import asyncio
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import docker
from docker.constants import DEFAULT_UNIX_SOCKET
from docker.errors import DockerException, ImageNotFound
from docker.models.containers import Container
from docker.types import LogConfig, Ulimit

from sandbox.docker_box import DockerSandbox
from sandbox.errors import SandboxBroken, SandboxUnavailable
from sandbox.identity import box_id
from sandbox.protocol import MIB, WORK_DIR, Limits

DEFAULT_IMAGE = "issuewright-sandbox:1"
_BUILD = Path(__file__).parent / "images" / "build.sh"
_LABEL = "issuewright.box"
_ENGINE_TIMEOUT_SECONDS = 60
_KEEPER = "65534:65534"
_TMP_BYTES = 256 * MIB
_BYTES_PER_INODE = 4096
_SPARE_PROCESSES = 64
"""Beyond the rlimit, so that a full process table cannot keep our own kill command out."""


class DockerBackend:
    """Holds each box in a container of the given image."""

    name = "docker"

    def __init__(self, image: str = DEFAULT_IMAGE) -> None:
        self._image = image

    async def check(self) -> None:
        """Raise SandboxUnavailable unless an engine answers and has the image."""
        await asyncio.to_thread(self._check)

    async def create(self, limits: Limits) -> DockerSandbox:
        """Start a box; raises SandboxUnavailable without an engine, SandboxBroken if it cannot start one."""
        uid = box_id()
        container = await asyncio.to_thread(self._start, uid, limits)
        return DockerSandbox(container, uid=uid, limits=limits)

    def _check(self) -> None:
        client = _connect()
        try:
            client.images.get(self._image)
        except ImageNotFound as error:
            raise SandboxUnavailable(
                f"the Docker image {self._image} is not there; build it with: sh {_BUILD} {self._image}"
            ) from error
        except DockerException as error:
            raise SandboxUnavailable(f"the Docker engine does not answer: {error}") from error
        finally:
            client.close()

    def _start(self, uid: int, limits: Limits) -> Container:
        client = _connect()
        try:
            return client.containers.run(
                self._image, ["sleep", "infinity"], detach=True, **_hardening(uid, limits)
            )
        except DockerException as error:
            client.close()
            raise SandboxBroken(f"the Docker engine cannot start {self._image}: {error}") from error


def _connect() -> docker.DockerClient:
    try:
        _touch_socket(os.environ.get("DOCKER_HOST") or DEFAULT_UNIX_SOCKET)
        return docker.from_env(timeout=_ENGINE_TIMEOUT_SECONDS)
    except (DockerException, OSError) as error:
        raise SandboxUnavailable(
            f"no Docker engine answers ({error}); start one, or set DOCKER_HOST to where it listens"
        ) from error


def _touch_socket(address: str) -> None:
    """Raise OSError where nobody listens at a local address; the SDK would leave its socket open."""
    path = address.partition("unix://")[2]
    if path:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(_ENGINE_TIMEOUT_SECONDS)
            probe.connect(path)


def _hardening(uid: int, limits: Limits) -> Mapping[str, Any]:
    # Files under /work and /tmp live in memory here, so the container's cap must hold both.
    tmp_bytes = min(_TMP_BYTES, limits.disk_bytes)
    memory = limits.memory_bytes + limits.disk_bytes
    return {
        # The keeper is another user than the commands: they cannot signal it, and it has no rights either.
        "user": _KEEPER,
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "pids_limit": limits.processes + _SPARE_PROCESSES,
        "mem_limit": memory,
        "memswap_limit": memory,
        "init": True,
        "ipc_mode": "none",
        "hostname": "sandbox",
        "log_config": LogConfig(type="none"),
        "tmpfs": {"/tmp": _tmpfs(tmp_bytes, uid), str(WORK_DIR): _tmpfs(limits.disk_bytes, uid)},  # noqa: S108
        "ulimits": [
            Ulimit(name="nofile", soft=1024, hard=1024),
            Ulimit(name="core", soft=0, hard=0),
        ],
        "labels": {_LABEL: str(uid)},
    }


def _tmpfs(size: int, uid: int) -> str:
    inodes = size // _BYTES_PER_INODE
    return f"rw,exec,nosuid,nodev,size={size},nr_inodes={inodes},mode=0755,uid={uid},gid={uid}"
