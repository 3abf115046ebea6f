"""The Docker backend's own promises: hardening, pool, names, and nothing left behind."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import (
    DockerBackend,
    LimitKind,
    Limits,
    PoolSettings,
    SandboxBroken,
    SandboxUnavailable,
    run_pytest,
)
from sandbox.docker import runner
from sandbox.docker.box import DockerSandbox
from sandbox.docker.client import connected
from sandbox.docker.container import LIFETIME_SECONDS
from sandbox.docker.reaper import EXPIRES_LABEL, OWNER_LABEL
from sandbox.docker.supervision import remove_container
from sandbox.owner import this_process

from .conftest import LIMITS

pytestmark = [pytest.mark.sandbox, pytest.mark.docker]


@pytest.fixture
async def backend() -> AsyncIterator[DockerBackend]:
    made = DockerBackend(pool=PoolSettings(size=1))
    try:
        await made.check()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    yield made
    await made.close()
    assert ours() == []


def ours() -> list[str]:
    """Names of the containers that this process has."""
    with connected() as client:
        filters = {"label": f"{OWNER_LABEL}={this_process()}"}
        return [name for one in client.api.containers(all=True, filters=filters) for name in one["Names"]]


async def test_a_container_is_hardened_labelled_and_ends_by_itself(backend: DockerBackend) -> None:
    box = await backend.create(LIMITS, job="run 7/ü")
    try:
        box._supervisor._container.reload()
        facts = box._supervisor._container.attrs
    finally:
        await box.destroy()
    host, config = facts["HostConfig"], facts["Config"]
    assert host["NetworkMode"] == "none"
    assert (host["Privileged"], host["ReadonlyRootfs"], host["AutoRemove"]) == (False, True, True)
    assert (host["CapDrop"], host["CapAdd"]) == (["ALL"], None)
    assert "no-new-privileges" in " ".join(host["SecurityOpt"])
    assert "unconfined" not in " ".join(host["SecurityOpt"])
    assert not host["Binds"]
    assert not host.get("Mounts")
    assert [mount for mount in facts["Mounts"] if mount["Type"] != "tmpfs"] == []
    assert not host["Devices"]
    assert not host["DeviceRequests"]
    assert host["Memory"] == host["MemorySwap"] == LIMITS.memory_bytes + LIMITS.disk_bytes
    assert (host["IpcMode"], host["PidMode"], host["UsernsMode"]) == ("none", "", "")
    assert "NVIDIA_VISIBLE_DEVICES=void" in config["Env"]
    assert config["User"] == "65534:65534"
    assert config["Cmd"] == ["sleep", str(LIFETIME_SECONDS)]
    assert (config["Labels"][OWNER_LABEL], config["Labels"]["issuewright.job"]) == (this_process(), "run 7/ü")
    assert config["Labels"][EXPIRES_LABEL].isdecimal()


async def test_the_second_box_comes_from_the_pool_and_is_named_for_its_job(backend: DockerBackend) -> None:
    first = await backend.create(LIMITS, job="one")
    await backend.prepare(LIMITS)
    kept = {name for name in ours() if name != f"/{first._supervisor._container.name}"}
    second = await backend.create(LIMITS, job="two & more")
    second._supervisor._container.reload()
    assert f"/issuewright-{str(second._supervisor._container.name).rpartition('-')[2]}" in kept
    assert str(second._supervisor._container.name).startswith("issuewright-two-more-")
    assert (await second.run(["echo", "warm"])).stdout.text == "warm\n"
    await first.destroy()
    await second.destroy()


async def test_a_box_is_used_once(backend: DockerBackend) -> None:
    first = await backend.create(LIMITS)
    await first.put_files({"trap": b"x"})
    await first.destroy()
    await backend.prepare(LIMITS)
    second = await backend.create(LIMITS)
    assert dict((await second.get_files()).files) == {}
    await second.destroy()


async def test_other_limits_do_not_get_what_was_kept_for_these(backend: DockerBackend) -> None:
    first = await backend.create(LIMITS)
    await backend.prepare(LIMITS)
    other = await backend.create(replace(LIMITS, disk_bytes=LIMITS.disk_bytes * 2))
    size = await other.run(["df", "--output=size", "/work"])
    assert int(size.stdout.text.split()[-1]) * 1024 == LIMITS.disk_bytes * 2
    await first.destroy()
    await other.destroy()


async def test_a_kept_container_that_died_meanwhile_is_not_given_away(backend: DockerBackend) -> None:
    first = await backend.create(LIMITS)
    await backend.prepare(LIMITS)
    with connected() as client:
        for name in ours():
            if name != f"/{first._supervisor._container.name}":
                client.containers.get(name.lstrip("/")).kill()
    second = await backend.create(LIMITS)
    assert (await second.run(["true"])).ok
    await first.destroy()
    await second.destroy()


async def test_cancelling_a_start_leaves_no_container(backend: DockerBackend) -> None:
    cold = DockerBackend(pool=PoolSettings(size=0))
    for delay in (0.0, 0.02, 0.1, 0.2):
        starting = asyncio.create_task(cold.create(LIMITS))
        await asyncio.sleep(delay)
        starting.cancel()
        with suppress(asyncio.CancelledError):
            await (await starting).destroy()  # it was done already
    await cold.close()
    assert ours() == []


async def test_closing_removes_what_is_kept_ready(backend: DockerBackend) -> None:
    box = await backend.create(LIMITS)
    await backend.prepare(LIMITS)
    await backend.close()
    assert ours() == [f"/{box._supervisor._container.name}"]
    await box.destroy()


async def test_an_image_can_be_named_by_its_id(backend: DockerBackend) -> None:
    with connected() as client:
        image = str(client.images.get("issuewright-sandbox:2").id)
    by_id = DockerBackend(image, pool=PoolSettings(size=0))
    box = await by_id.create(LIMITS)
    assert (await box.run(["python3", "-c", "import pytest"])).ok
    await box.destroy()
    await by_id.close()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"image": "no-such-image:9"}, r"no-such-image:9 is not there; build it"),
        ({"runtime": "no-such-runtime"}, r"knows no runtime 'no-such-runtime'; it has .*runc"),
    ],
)
async def test_what_the_engine_lacks_is_named(
    backend: DockerBackend, options: dict[str, str], said: str
) -> None:
    with pytest.raises(SandboxUnavailable, match=said):
        await DockerBackend(**options).check()  # type: ignore[arg-type]


@pytest.fixture
async def box(backend: DockerBackend) -> AsyncIterator[DockerSandbox]:
    made = await backend.create(LIMITS)
    yield made
    await made.destroy()


async def test_a_command_that_kills_its_runner_is_reported_as_killed(box: DockerSandbox) -> None:
    result = await box.run(["sh", "-c", "echo before; sleep 0.2; kill -9 $PPID; sleep 60"])
    assert (result.exit_code, result.ok) == (137, False)
    assert result.stdout.text == "before\n"
    assert (await box.run(["sh", "-c", "ps -e 2>/dev/null | grep -c '[s]leep 60'; echo ok"])).ok


async def test_a_runner_that_is_held_up_is_stopped_from_outside(box: DockerSandbox) -> None:
    result = await box.run(
        ["sh", "-c", "kill -STOP $PPID; sleep 60"], limits=replace(LIMITS, wall_seconds=0.5)
    )
    assert (result.limit, result.exit_code) == (LimitKind.WALL, 137)
    assert (await box.run(["echo", "next"])).stdout.text == "next\n"


async def test_output_stops_at_its_source(box: DockerSandbox) -> None:
    result = await box.run(["yes"], limits=replace(LIMITS, output_bytes=10_000))
    assert result.limit is LimitKind.OUTPUT
    # Beyond the cap not one full read of a pipe reaches this side.
    assert result.stdout.dropped_bytes == 1


async def test_usage_is_measured(box: DockerSandbox) -> None:
    code = "x = bytearray(60_000_000)\nfor i in range(2_000_000): pass"
    usage = (await box.run(["python3", "-c", code])).usage
    assert usage.cpu_seconds is not None
    assert usage.cpu_seconds > 0.02
    assert usage.peak_memory_bytes is not None
    assert usage.peak_memory_bytes > 60_000_000


async def test_memory_that_only_the_group_sees_is_named(box: DockerSandbox) -> None:
    code = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        hog = bytearray(150_000_000)
        time.sleep(5)
        os._exit(0)
while True:
    try: pid, status = os.wait()
    except ChildProcessError: break
    if os.WIFSIGNALED(status): os._exit(3)
"""
    assert (await box.run(["python3", "-c", code])).limit is LimitKind.MEMORY


async def test_a_container_that_is_gone_breaks_the_box(box: DockerSandbox) -> None:
    with connected() as client:
        await asyncio.to_thread(remove_container, client.containers.get(str(box._supervisor._container.id)))
    with pytest.raises(SandboxBroken, match="Docker engine failed"):
        await box.run(["true"])
    await box.destroy()


def test_the_runner_refuses_to_kill_outside_a_container() -> None:
    done = subprocess.run(
        [sys.executable, Path(runner.__file__), "{}", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "only where a container engine starts it" in done.stderr


async def test_limits_larger_than_the_machine_are_the_engines_to_refuse(backend: DockerBackend) -> None:
    with pytest.raises(SandboxBroken, match="cannot start"):
        await backend.create(Limits(memory_bytes=1, disk_bytes=4096))


KILLER_OF_KILLERS = """
import os, signal
if os.fork() == 0:
    while True:
        try: os.kill(-1, signal.SIGKILL)
        except ProcessLookupError: pass
signal.pause()
"""


async def test_what_kills_every_killer_is_gone_or_costs_the_box(box: DockerSandbox) -> None:
    await box.put_files({"f": b"x"})
    result = await box.run(["python3", "-c", KILLER_OF_KILLERS])
    assert (result.exit_code, result.ok) == (137, False)
    collected = await box.get_files()
    try:
        after = await box.run(["sh", "-c", "echo honest; exit 7"])
    except SandboxBroken:
        assert (dict(collected.files), list(collected.refused)) == ({}, ["..."])
    else:
        assert (after.stdout.text, after.exit_code) == ("honest\n", 7)
        assert dict(collected.files) == {"f": b"x"}


async def test_its_test_report_is_incomplete(box: DockerSandbox) -> None:
    await box.put_files({"test_a.py": f"def test_a():\n    exec({KILLER_OF_KILLERS!r})\n".encode()})
    report = await run_pytest(box, ["test_a.py"])
    assert (report.complete, report.passed) == (False, False)


async def test_more_boxes_than_threads_can_be_held_up_at_once() -> None:
    many = DockerBackend(pool=PoolSettings(size=0))
    boxes = await asyncio.gather(*(many.create(LIMITS) for _ in range(10)))
    short = replace(LIMITS, wall_seconds=1)
    try:
        results = await asyncio.wait_for(
            asyncio.gather(
                *(box.run(["sh", "-c", "kill -STOP $PPID; sleep 60"], limits=short) for box in boxes)
            ),
            60,
        )
        assert {result.limit for result in results} == {LimitKind.WALL}
    finally:
        await asyncio.gather(*(box.destroy() for box in boxes))
        await many.close()


async def test_more_than_can_be_looked_at_is_cut_and_said(box: DockerSandbox) -> None:
    await box.run(["sh", "-c", "mkdir d; for i in $(seq 60); do truncate -s 20M d/$i; done; echo small > a"])
    collected = await box.get_files()
    assert collected.refused["..."] == "the box holds more than can be looked at"
    assert dict((await box.get_files(["a"])).files) == {"a": b"small\n"}


async def test_cancelling_twice_while_a_container_starts_leaves_none(backend: DockerBackend) -> None:
    cold = DockerBackend(pool=PoolSettings(size=0))
    await cold.check()
    for delay in (0.02, 0.1):
        starting = asyncio.create_task(cold.create(LIMITS))
        await asyncio.sleep(delay)
        starting.cancel()
        await asyncio.sleep(0.01)
        starting.cancel()
        with suppress(asyncio.CancelledError):
            await (await starting).destroy()
    await cold.close()
    assert ours() == []


async def test_a_closed_backend_makes_no_more_boxes() -> None:
    closed = DockerBackend(pool=PoolSettings(size=0))
    await closed.close()
    with pytest.raises(SandboxUnavailable, match="was closed"):
        await closed.create(LIMITS)


async def test_an_engine_that_hangs_up_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def hang_up(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_unix_server(hang_up, tmp_path / "engine.sock")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/engine.sock")
    async with server:
        with pytest.raises(SandboxUnavailable, match="no Docker engine answers"):
            await DockerBackend().check()
