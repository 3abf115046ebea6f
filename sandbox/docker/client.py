"""Connections to a Docker engine, or to anything that speaks its API."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import docker
from docker.constants import DEFAULT_UNIX_SOCKET
from docker.errors import DockerException

from sandbox.errors import SandboxBroken, SandboxUnavailable

_TIMEOUT_SECONDS = 60


def connect() -> docker.DockerClient:
    """A client for DOCKER_HOST or the local engine; raises SandboxUnavailable where none answers."""
    try:
        _touch_socket(os.environ.get("DOCKER_HOST") or DEFAULT_UNIX_SOCKET)
        return docker.from_env(timeout=_TIMEOUT_SECONDS)
    except (DockerException, OSError) as error:
        raise SandboxUnavailable(
            f"no Docker engine answers ({error}); start one, or set DOCKER_HOST to where it listens"
        ) from error


@contextmanager
def engine_faults(what: str) -> Iterator[None]:
    """Turns what the SDK and its transport raise into SandboxBroken, naming what was being done."""
    try:
        yield
    except (DockerException, OSError) as error:
        raise SandboxBroken(f"the Docker engine failed during {what}: {error}") from error


@contextmanager
def connected() -> Iterator[docker.DockerClient]:
    """A client for a few calls, closed afterwards."""
    client = connect()
    try:
        yield client
    finally:
        client.close()


def _touch_socket(address: str) -> None:
    """Raise OSError where nobody listens at a local address; the SDK would leave its socket open."""
    path = address.partition("unix://")[2]
    if path:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(_TIMEOUT_SECONDS)
            probe.connect(path)
