"""The parts that work on the host: toolchain, disk use, killing, user ids, cgroups, one process."""

import asyncio
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import LimitKind, Limits
from sandbox.cgroup import make_group
from sandbox.disk import TooDeep, disk_exceeded, used_bytes
from sandbox.identity import box_id
from sandbox.killing import kill_with_children
from sandbox.process import run_process
from sandbox.toolchain import find_toolchain

from .processes import alive_with, gone_within


def test_the_toolchain_is_pytest_and_what_it_needs() -> None:
    toolchain = find_toolchain()
    assert {"pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"} <= set(toolchain.packages)
    assert not {"openai", "typer", "docker", "pydantic", "hypothesis", "pip"} & set(toolchain.packages)
    assert all(path.exists() for path in toolchain.packages.values())
    assert toolchain.version == "{}.{}".format(*sys.version_info[:2])


def test_the_laid_out_environment_has_a_place_for_each_package(tmp_path: Path) -> None:
    toolchain = find_toolchain()
    toolchain.lay_out(tmp_path)
    site = tmp_path / "lib" / f"python{toolchain.version}" / "site-packages"
    assert {path.name for path in site.iterdir()} == set(toolchain.packages)
    assert "include-system-site-packages = false" in (tmp_path / "pyvenv.cfg").read_text()
    prefix = subprocess.run(
        [tmp_path / "bin" / "python", "-c", "import sys; print(sys.prefix)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(prefix.stdout.strip()) == tmp_path


def test_disk_use_counts_content_entries_and_no_links(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"x" * 100_000)
    (tmp_path / "link").symlink_to("/usr")
    os.truncate(os.open(tmp_path / "sparse", os.O_CREAT | os.O_RDWR), 10**9)
    used = used_bytes(tmp_path)
    assert 100_000 <= used < 200_000
    for number in range(100):
        (tmp_path / f"empty{number}").touch()
    assert used_bytes(tmp_path) >= used + 100 * 4096


def test_disk_use_of_a_folder_that_vanished_is_none(tmp_path: Path) -> None:
    assert used_bytes(tmp_path / "gone") == 0


async def test_folders_nested_without_end_exceed_the_limit(tmp_path: Path) -> None:
    tmp_path.joinpath(*["d"] * 200).mkdir(parents=True)
    with pytest.raises(TooDeep):
        used_bytes(tmp_path)
    assert await asyncio.wait_for(disk_exceeded(tmp_path, 10**9), 10) is LimitKind.DISK


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
