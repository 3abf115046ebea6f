"""Finds containers that nobody will remove any more: their owner is dead, or their time is over."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import docker
from docker.errors import DockerException

from sandbox.owner import is_alive, this_process

OWNER_LABEL = "issuewright.owner"
EXPIRES_LABEL = "issuewright.expires"
JOB_LABEL = "issuewright.job"


def labels_for(*, job: str, expires: float) -> dict[str, str]:
    """The labels of a container of ours; `expires` is a Unix time."""
    return {OWNER_LABEL: this_process(), EXPIRES_LABEL: str(int(expires)), JOB_LABEL: job}


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
