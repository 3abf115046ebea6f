"""The parts that work on the host: toolchain, disk use, killing, user ids, cgroups, one process."""

import asyncio
import os
import secrets
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import sandbox
from sandbox import LimitKind, Limits, SandboxBackend, SandboxBroken
from sandbox.bubblewrap.box import BubblewrapSandbox
from sandbox.bubblewrap.cgroup import make_group, sweep_groups
from sandbox.bubblewrap.toolchain import find_toolchain
from sandbox.disk import disk_exceeded, disk_use
from sandbox.identity import box_id
from sandbox.killing import kill_with_children
from sandbox.owner import is_alive
from sandbox.process import run_process
from sandbox.verdict import Counters

from .processes import alive_with, gone_within


def test_the_toolchain_is_pytest_and_what_it_needs() -> None:
    toolchain = find_toolchain()
    assert {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"} <= set(toolchain.packages)
    assert not {"openai", "typer", "docker", "pydantic", "pydantic_settings", "pip"} & set(toolchain.packages)
    assert not {"bot", "pipelines", "sandbox", "stamina", "rich", "uv"} & set(toolchain.packages)
    assert all(path.exists() for path in toolchain.packages.values())
    assert toolchain.version == "{}.{}".format(*sys.version_info[:2])


def test_the_laid_out_environment_has_a_place_for_each_package(tmp_path: Path) -> None:
    toolchain = find_toolchain()
    toolchain.lay_out(tmp_path)
    site = tmp_path / "lib" / f"python{toolchain.version}" / "site-packages"
    hook = {"_issuewright.pth", "_issuewright_site.py", "__pycache__"}
    assert {path.name for path in site.iterdir()} == set(toolchain.packages) | hook
    assert [path.name for path in (site / "__pycache__").iterdir()] == [
        f"_issuewright_site.{sys.implementation.cache_tag}.pyc"
    ]
    assert "include-system-site-packages = false" in (tmp_path / "pyvenv.cfg").read_text()
    told = subprocess.run(
        [
            tmp_path / "bin" / "python",
            "-c",
            "import sys; print(sys.prefix, '_issuewright_site' in sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == [str(tmp_path), "True"]


def test_the_packages_of_the_image_are_offered_where_they_are_installed() -> None:
    packages = set(find_toolchain().packages)
    lines = (Path(sandbox.__file__).parent / "images" / "requirements.txt").read_text().splitlines()
    for name in (Requirement(line).name for line in lines):
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:
            continue
        assert any(file.parts[0] in packages for file in files), name


def test_disk_use_counts_content_entries_and_no_links(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"x" * 100_000)
    (tmp_path / "link").symlink_to("/usr")
    os.truncate(os.open(tmp_path / "sparse", os.O_CREAT | os.O_RDWR), 10**9)
    used = disk_use(tmp_path).bytes
    assert 100_000 <= used < 200_000
    for number in range(100):
        (tmp_path / f"empty{number}").touch()
    assert disk_use(tmp_path).bytes >= used + 100 * 4096


def test_disk_use_of_a_folder_that_vanished_is_none(tmp_path: Path) -> None:
    assert disk_use(tmp_path / "gone").bytes == 0


async def test_folders_nested_without_end_exceed_the_limit_but_do_not_stop_what_comes_later(
    tmp_path: Path,
) -> None:
    watch = asyncio.create_task(disk_exceeded(tmp_path, 10**9))
    await asyncio.sleep(0.2)
    tmp_path.joinpath(*["d"] * 200).mkdir(parents=True)
    assert disk_use(tmp_path).too_deep
    assert await asyncio.wait_for(watch, 10) is LimitKind.DISK
    later = asyncio.create_task(disk_exceeded(tmp_path, 10**9))
    done, _ = await asyncio.wait({later}, timeout=0.5)
    assert not done
    later.cancel()


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every folder")
def test_a_folder_closed_to_its_owner_is_counted_and_stays_closed(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "file").write_bytes(b"x" * 100_000)
    closed.chmod(0)
    assert disk_use(tmp_path).bytes > 100_000
    assert closed.stat().st_mode & 0o777 == 0
    closed.chmod(0o700)


async def test_a_full_folder_may_be_used_but_not_grow(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"x" * 100_000)
    watch = asyncio.create_task(disk_exceeded(tmp_path, 50_000))
    done, _ = await asyncio.wait({watch}, timeout=0.5)
    assert not done
    (tmp_path / "new").write_bytes(b"x" * 100_000)
    assert await asyncio.wait_for(watch, 10) is LimitKind.DISK


def test_a_process_is_killed_with_its_child() -> None:
    token = f"87{secrets.randbelow(10**9):09d}"
    parent = subprocess.Popen(["sh", "-c", f"sleep {token} & wait"])
    while not any(line.startswith("sleep") for line in alive_with(token)):
        pass
    kill_with_children(parent.pid)
    assert parent.wait(5) == -9
    assert gone_within(token, 2)


def test_killing_what_is_already_gone_is_no_error() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    kill_with_children(child.pid)


def test_user_ids_are_high_and_differ_or_fit_a_small_map() -> None:
    ids = {box_id("0 0 4294967295\n") for _ in range(50)}
    assert len(ids) == 50
    assert min(ids) > 2**30
    assert 60_000 < box_id("0 100000 65536\n") < 65_534


async def test_a_group_is_removed_and_reports_nothing_without_processes() -> None:
    group = make_group(Limits(), extra_processes=2)
    if group is None:
        pytest.skip("this process may not make control groups")
    assert all(entrance.exists() for entrance in group.entrances)
    assert (group.counters().out_of_memory, group.counters().refused_processes) == (0, 0)
    await group.remove()
    assert not any(entrance.exists() for entrance in group.entrances)


def test_groups_of_dead_owners_are_removed_and_those_of_living_ones_are_not() -> None:
    mine = make_group(Limits(), extra_processes=2)
    if mine is None:
        pytest.skip("this process may not make control groups")
    code = (
        "from sandbox import Limits\n"
        "from sandbox.bubblewrap.cgroup import make_group\n"
        "make_group(Limits(), extra_processes=2)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert sweep_groups() >= 1
    assert mine.memory.exists()
    asyncio.run(mine.remove())
    parent = mine.memory.parent
    left = [group.name for group in parent.glob("issuewright-*_*")]
    assert not [
        name for name in left if not is_alive(name.split("-", 1)[1].rpartition("-")[0].replace("_", "/"))
    ]


async def never() -> LimitKind:
    await asyncio.Event().wait()
    return LimitKind.DISK


async def test_an_output_callback_that_raises_ends_the_process() -> None:
    token = f"88{secrets.randbelow(10**9):09d}"

    def refuse(_name: str, _chunk: bytes) -> None:
        raise RuntimeError("no more, please")

    with pytest.raises(RuntimeError, match="no more"):
        await run_process(
            ["sh", "-c", f"echo hi; exec sleep {token}"],
            env={},
            stdin=b"",
            limits=Limits(),
            watch=never,
            on_output=refuse,
        )
    assert gone_within(token, 2)


async def test_a_watch_stops_the_process_and_is_named() -> None:
    async def soon() -> LimitKind:
        return LimitKind.DISK

    ended = await run_process(["sleep", "100"], env={}, stdin=b"", limits=Limits(), watch=soon)
    assert (ended.stopped, ended.exit_code) == (LimitKind.DISK, 137)


@pytest.mark.sandbox
@pytest.mark.parametrize("delay", [0.0, 0.002, 0.01])
async def test_a_cancelled_removal_of_a_box_leaves_nothing(backend: SandboxBackend, delay: float) -> None:
    box = await backend.create(Limits(disk_bytes=10**7), job=f"removal-{secrets.token_hex(4)}")
    removing = asyncio.create_task(box.destroy())
    await asyncio.sleep(delay)
    for _ in range(2):
        removing.cancel()
        await asyncio.sleep(0)
    with suppress(asyncio.CancelledError):
        await removing
    if isinstance(box, BubblewrapSandbox):
        assert not box._layout.root.exists()
    else:
        with pytest.raises(SandboxBroken):
            await box.run(["true"])


def test_a_group_of_the_unified_layout_is_made_where_controllers_are_lent(tmp_path: Path) -> None:
    """On plain files in the shape of cgroup v2, for machines that have only the other layout."""
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory pids\n")
    limits = Limits(memory_bytes=1000, processes=7)
    group = make_group(limits, extra_processes=2, extra_memory_bytes=500, mount=tmp_path)
    assert group is not None
    assert group.unified
    assert group.memory.parent == tmp_path
    assert group.entrances == [group.memory / "cgroup.procs"]
    assert [(group.memory / name).read_text() for name in ("memory.max", "pids.max")] == ["1500", "9"]
    (group.memory / "memory.events").write_text("low 0\noom 2\noom_kill 2\n")
    (group.memory / "pids.events").write_text("max 3\n")
    (group.memory / "cpu.stat").write_text("usage_usec 1500000\nuser_usec 1\n")
    (group.memory / "memory.peak").write_text("12345\n")
    assert group.counters() == Counters(out_of_memory=2, refused_processes=3)
    assert (group.cpu_seconds(), group.peak_memory_bytes()) == (1.5, 12345)


def test_without_a_parent_that_lends_controllers_there_is_no_group(tmp_path: Path) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    assert make_group(Limits(), extra_processes=2, mount=tmp_path) is None
