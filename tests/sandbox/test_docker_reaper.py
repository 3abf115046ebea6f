"""Which containers may be removed, and that they are."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import docker
import pytest
from docker.errors import NotFound

from sandbox import DockerBackend, SandboxUnavailable
from sandbox.docker.client import connected
from sandbox.docker.reaper import (
    EXPIRES_LABEL,
    JOB_LABEL,
    OWNER_LABEL,
    is_abandoned,
    labels_for,
    reap,
)
from sandbox.owner import _is_hidden, is_alive, this_process

NOW = 1_800_000_000.0


def labels(**changes: str) -> dict[str, str]:
    found = labels_for(job="run-1", expires=NOW + 60)
    return {**found, **{f"issuewright.{name}": value for name, value in changes.items()}}


def test_labels_say_whose_until_when_and_for_what() -> None:
    assert labels() == {
        OWNER_LABEL: this_process(),
        EXPIRES_LABEL: "1800000060",
        JOB_LABEL: "run-1",
    }


def test_a_container_of_a_living_owner_is_kept_until_its_time_is_over() -> None:
    assert not is_abandoned(labels(), now=NOW)
    assert is_abandoned(labels(), now=NOW + 61)


def test_a_container_of_a_dead_owner_is_abandoned_at_once() -> None:
    assert is_abandoned(labels(), now=NOW, alive=lambda _: False)


@pytest.mark.parametrize("expires", ["", "soon", "-5", "1e9"])
def test_a_container_with_labels_that_are_not_ours_is_left_alone(expires: str) -> None:
    assert not is_abandoned(labels(expires=expires), now=NOW, alive=lambda _: False)
    assert not is_abandoned({}, now=NOW, alive=lambda _: False)


def test_this_process_is_alive_and_a_later_one_with_its_number_is_another() -> None:
    mine = this_process()
    assert is_alive(mine)
    world, pid, started = mine.split("/")
    assert not is_alive(f"{world}/{pid}/{int(started) + 1}")


def test_an_ended_process_is_dead() -> None:
    code = "from sandbox.owner import this_process; print(this_process())"
    owner = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not is_alive(owner.stdout.strip())


def test_a_process_that_cannot_be_looked_at_counts_as_alive_while_its_number_is_taken() -> None:
    assert _is_hidden(os.getpid())
    assert not _is_hidden(2**22 + 5)  # more than the kernel ever gives
    world, _, _ = this_process().split("/")
    assert not is_alive(f"{world}/{2**22 + 5}/77")


@pytest.mark.parametrize("owner", ["", "elsewhere/1/1", "nonsense", "other-boot.1/77/5"])
def test_an_owner_that_cannot_be_seen_from_here_is_taken_for_alive(owner: str) -> None:
    assert is_alive(owner)


@pytest.fixture
def engine() -> Iterator[docker.DockerClient]:
    try:
        asyncio.run(DockerBackend().check())
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    with connected() as client:
        yield client


@pytest.mark.docker
def test_abandoned_containers_are_removed_and_others_are_not(engine: docker.DockerClient) -> None:
    dead = this_process().rsplit("/", 1)[0] + "/1"
    later, past = str(int(time.time()) + 600), str(int(time.time()) - 1)
    wanted = {
        "dead owner": ({OWNER_LABEL: dead, EXPIRES_LABEL: later}, False),
        "expired": ({OWNER_LABEL: this_process(), EXPIRES_LABEL: past}, False),
        "in use": ({OWNER_LABEL: this_process(), EXPIRES_LABEL: later}, True),
        "somebody else's": ({"some.label": "x"}, True),
    }
    made = {
        name: engine.containers.create("issuewright-sandbox:2", ["true"], labels=its)
        for name, (its, _) in wanted.items()
    }
    try:
        reap(engine)  # another process that tests may have been faster
        assert {name: _exists(engine, str(one.id)) for name, one in made.items()} == {
            name: stays for name, (_, stays) in wanted.items()
        }
    finally:
        for one in made.values():
            if _exists(engine, str(one.id)):
                one.remove(force=True)


def _exists(engine: docker.DockerClient, container: str) -> bool:
    try:
        engine.containers.get(container)
    except NotFound:
        return False
    return True


@pytest.mark.docker
def test_what_a_killed_process_left_is_removed_by_the_next_one(engine: docker.DockerClient) -> None:
    code = """
import asyncio, os, signal
from sandbox import DockerBackend, Limits
async def main():
    backend = DockerBackend()
    box = await backend.create(Limits(), job="killed")
    print((await box.run(["hostname"])).stdout.text, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    killed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (killed.returncode, killed.stdout.strip()) == (-9, "sandbox"), killed.stderr
    reap(engine)
    left = engine.api.containers(all=True, filters={"label": EXPIRES_LABEL})
    assert [one["Names"] for one in left if not is_alive(one["Labels"][OWNER_LABEL])] == []
