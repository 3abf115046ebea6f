"""Packages fetched by the real installer from a real index on this machine."""

import asyncio
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sandbox
from sandbox import Packages, SandboxBackend, SandboxError
from sandbox.docker.package_image import REPOSITORY
from sandbox.errors import SetupFailed
from sandbox.packages import Installed, Wanted, install_packages
from sandbox.protocol import MIB

from .conftest import LIMITS
from .package_index import PackageIndex, only_index
from .processes import gone_within

PYTHON = "{}.{}".format(*sys.version_info[:2])


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    """The only index that this process knows."""
    with only_index(tmp_path, monkeypatch) as served:
        yield served


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


async def install(
    cache: Path,
    *requirements: str,
    locked: bool = False,
    python: str = PYTHON,
    time_limit: float = 60.0,
    size_limit: int = 1024 * MIB,
) -> Installed:
    wanted = Wanted(source="test", requirements=requirements, locked=locked)
    return await install_packages(
        wanted, cache=cache, python=python, time_limit=time_limit, size_limit=size_limit
    )


def packages_of(installed: Installed) -> Packages:
    assert installed.packages is not None
    return installed.packages


def entries(cache: Path) -> list[str]:
    """What lies in the cache; it need not exist."""
    return sorted(path.name for path in cache.glob("*"))


async def appeared(pattern: str, cache: Path) -> Path:
    """The first match, once there is one."""

    def first() -> Path | None:
        return next(cache.glob(pattern), None)

    async with asyncio.timeout(20):
        while (found := first()) is None:  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.01)
    return found


def base_version(name: str) -> str:
    """The version in the lock of the boxes' base."""
    lock = (Path(sandbox.__file__).parent / "images" / "requirements.lock").read_text()
    return (
        next(line for line in lock.splitlines() if line.startswith(f"{name}==")).split("==")[1].rstrip(" \\")
    )


def modules(installed: Installed) -> set[str]:
    return {path.stem for path in packages_of(installed).folder.glob("*.py")}


async def test_packages_come_with_what_they_need_and_stay_in_the_cache(
    index: PackageIndex, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add_wheel("first", "1.0", requires=["second>=2", "windowsish; sys_platform == 'win32'"])
    index.add_wheel("second", "2.1")
    progress: list[str] = []
    wanted = Wanted(source="test", requirements=("first",))
    fetched = await install_packages(wanted, cache=cache, python=PYTHON, on_progress=progress.append)
    assert modules(fetched) == {"first", "second"}
    assert fetched.left_out == {}
    assert any(line.startswith("Installed 2 packages") for line in progress)
    assert entries(cache) == [packages_of(fetched).digest]
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/")
    assert await install_packages(wanted, cache=cache, python=PYTHON) == fetched


async def test_nothing_wanted_is_nothing_fetched(cache: Path) -> None:
    assert await install(cache) == Installed(packages=None)
    assert entries(cache) == []


async def test_what_cannot_be_had_is_left_out_and_named(index: PackageIndex, cache: Path) -> None:
    index.add_wheel("good", "1.0")
    index.add_source("unbuilt", "1.0")
    index.add_wheel("needy", "1.0", requires=["unbuilt"])
    installed = await install(cache, "absent", "good", "good-typo==3", "unbuilt", "needy", "good>0.5")
    assert modules(installed) == {"good"}
    assert set(installed.left_out) == {"absent", "good-typo==3", "unbuilt", "needy"}
    assert "absent was not found" in installed.left_out["absent"]
    assert "has no usable wheels" in installed.left_out["unbuilt"]
    assert "unbuilt" in installed.left_out["needy"]
    assert await install(cache, "absent", "good", "good-typo==3", "unbuilt", "needy", "good>0.5") == installed


async def test_nothing_that_can_be_had_is_no_error(index: PackageIndex, cache: Path) -> None:
    installed = await install(cache, "absent")
    assert installed.packages is None
    assert list(installed.left_out) == ["absent"]


async def test_more_missing_packages_than_tries_are_all_named(index: PackageIndex, cache: Path) -> None:
    installed = await install(cache, *(f"absent{number}" for number in range(30)))
    assert installed.packages is None
    assert len(installed.left_out) == 30


async def test_a_lock_is_taken_word_for_word(index: PackageIndex, cache: Path) -> None:
    index.add_wheel("first", "1.0", requires=["second"])
    index.add_wheel("first", "2.0")
    index.add_wheel("second", "1.0")
    installed = await install(cache, "first==1.0", "other==1; os_name == 'nt'", locked=True)
    assert modules(installed) == {"first"}
    assert installed.left_out == {}
    assert modules(await install(cache, "first==1.0")) == {"first", "second"}


async def test_versions_of_the_base_are_preferred_but_not_forced(index: PackageIndex, cache: Path) -> None:
    base = base_version("iniconfig")
    for version in ("0.1", base, "99.0"):
        index.add_wheel("iniconfig", version)
    for requirement, version in (("iniconfig", base), ("iniconfig>=90", "99.0"), ("iniconfig<1", "0.1")):
        folder = packages_of(await install(cache, requirement)).folder
        assert (folder / "iniconfig.py").read_text() == f"version = {version!r}\n"


async def test_wheels_are_chosen_for_the_python_of_the_box(index: PackageIndex, cache: Path) -> None:
    index.add_wheel("native", "1.0", {"native.py": "for = 'old'"}, tag="cp311-none-any")
    index.add_wheel("native", "1.0", {"native.py": "for = 'new'"}, tag="cp313-none-any")
    index.add_wheel("alien", "1.0", tag="py3-none-win_amd64")
    old = await install(cache, "native", "alien", python="3.11")
    new = await install(cache, "native", "alien", python="3.13")
    assert (packages_of(old).folder / "native.py").read_text() == "for = 'old'"
    assert (packages_of(new).folder / "native.py").read_text() == "for = 'new'"
    assert list(old.left_out) == list(new.left_out) == ["alien"]


async def test_no_code_of_a_package_runs_and_only_plain_files_remain(
    index: PackageIndex, cache: Path
) -> None:
    ran = cache / "ran"
    trap = f"import pathlib; pathlib.Path({str(ran)!r}).touch()\n"
    files = {
        "trap.py": trap,
        "trap.pth": trap,
        "sitecustomize.py": trap,
        "setup.py": trap,
        "tool": "#!/bin/sh\n",
        "linked": "/etc/passwd",
        "trap-1.0.data/scripts/run": "#!python\n" + trap,
    }
    modes = {"tool": stat.S_IFREG | 0o6755, "linked": stat.S_IFLNK | 0o777}
    index.add_wheel("trap", "1.0", files, modes=modes)
    folder = packages_of(await install(cache, "trap")).folder
    entries = [path.lstat() for path in folder.rglob("*")]
    assert all(stat.S_ISREG(entry.st_mode) or stat.S_ISDIR(entry.st_mode) for entry in entries)
    assert all(stat.S_IMODE(entry.st_mode) in (0o644, 0o755) for entry in entries)
    assert {path.name for path in folder.iterdir()} >= {"trap.py", "trap.pth", "sitecustomize.py", "tool"}
    assert not (folder / "bin").exists()
    assert not ran.exists()


async def test_without_an_index_the_installers_own_diagnosis_is_given(
    index: PackageIndex, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://someone:secret@127.0.0.1:9/")
    with pytest.raises(SetupFailed, match=r"could not be fetched.*Connection refused") as caught:
        await install(cache, "good")
    assert "secret" not in str(caught.value)
    assert isinstance(caught.value, SandboxError)
    assert entries(cache) == []


async def test_what_lies_in_the_current_folder_chooses_nothing(
    index: PackageIndex, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add_wheel("good", "1.0")
    hostile = tmp_path / "repository"
    hostile.mkdir()
    (hostile / "uv.toml").write_text('index-url = "http://127.0.0.1:9/evil"\nno-index = true\n')
    (hostile / "pyproject.toml").write_text('[tool.uv]\nindex-url = "http://127.0.0.1:9/evil"\n')
    (hostile / ".env").write_text("UV_DEFAULT_INDEX=http://127.0.0.1:9/evil\n")
    monkeypatch.chdir(hostile)
    assert modules(await install(cache, "good")) == {"good"}


async def test_too_much_is_stopped_and_removed(index: PackageIndex, cache: Path) -> None:
    index.add_wheel("huge", "1.0", {"huge.bin": bytes(64 * MIB)})
    with pytest.raises(SetupFailed, match="more than 8 MiB"):
        await install(cache, "huge", size_limit=8 * MIB)
    assert entries(cache) == []


async def test_an_index_that_never_answers_meets_the_time_limit(index: PackageIndex, cache: Path) -> None:
    index.hold()
    with pytest.raises(SetupFailed, match="within 1 seconds"):
        await install(cache, "good", time_limit=1)
    assert entries(cache) == []


async def test_cancelling_kills_the_installer_and_leaves_nothing(index: PackageIndex, cache: Path) -> None:
    index.hold()
    running = asyncio.create_task(install(cache, "good"))
    staging = (await appeared(".new-*/cache", cache)).parent
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert entries(cache) == []
    assert gone_within(str(staging), 2)


async def test_two_at_once_share_one_result(index: PackageIndex, cache: Path) -> None:
    index.add_wheel("good", "1.0")
    index.add_wheel("other", "1.0")
    results = await asyncio.gather(
        install(cache, "good"), install(cache, "good"), install(cache, "good"), install(cache, "other")
    )
    assert results[0] == results[1] == results[2] != results[3]
    assert set(entries(cache)) == {packages_of(one).digest for one in results}


async def test_what_a_killed_setup_left_is_removed_by_a_later_one(index: PackageIndex, cache: Path) -> None:
    index.add_wheel("good", "1.0")
    for name, age in (("old", 2 * 86400), ("young", 60)):
        folder = cache / f".new-{name}"
        folder.mkdir(parents=True)
        os.utime(folder, (time.time() - age,) * 2)
    installed = await install(cache, "good")
    assert entries(cache) == [".new-young", packages_of(installed).digest]


@pytest.mark.parametrize("limit", [0, -1.0, 1e-9])
async def test_no_time_at_all_is_the_time_limit(index: PackageIndex, cache: Path, limit: float) -> None:
    with pytest.raises(SetupFailed, match="could not be fetched within"):
        await install(cache, "good", time_limit=limit)
    assert entries(cache) == []


@pytest.mark.parametrize("below", [".", "deeper/still"])
async def test_a_cache_that_is_no_folder_is_named(index: PackageIndex, tmp_path: Path, below: str) -> None:
    os.close(os.open(tmp_path / "cache", os.O_CREAT))
    with pytest.raises(SetupFailed, match=r"cannot be kept in .*cache.*folder"):
        await install(tmp_path / "cache" / below, "good")


async def test_a_cache_that_nobody_can_write_to_is_named(index: PackageIndex) -> None:
    with pytest.raises(SetupFailed, match="cannot be kept in /proc/nowhere"):
        await install(Path("/proc/nowhere"), "good")


def _spoil_list(entry: Path) -> None:
    (entry / "left-out.json").write_bytes(b"")


def _half_list(entry: Path) -> None:
    (entry / "left-out.json").write_bytes(b'{"a": "b')


def _other_list(entry: Path) -> None:
    (entry / "left-out.json").write_bytes(b"[1]")


def _undecodable_list(entry: Path) -> None:
    (entry / "left-out.json").write_bytes(b'{"\xff": "b"}')


def _no_list(entry: Path) -> None:
    (entry / "left-out.json").unlink()


def _folder_as_list(entry: Path) -> None:
    (entry / "left-out.json").unlink()
    (entry / "left-out.json").mkdir()


def _no_modules(entry: Path) -> None:
    shutil.rmtree(entry / "packages")
    (entry / "packages").mkdir()


def _file_as_packages(entry: Path) -> None:
    shutil.rmtree(entry / "packages")
    (entry / "packages").touch()


def _file(entry: Path) -> None:
    shutil.rmtree(entry)
    entry.touch()


def _dangling(entry: Path) -> None:
    shutil.rmtree(entry)
    entry.symlink_to("nowhere")


@pytest.mark.parametrize(
    "damage",
    [
        *(_spoil_list, _half_list, _other_list, _undecodable_list, _no_list, _folder_as_list),
        *(_no_modules, _file_as_packages, _file, _dangling),
    ],
)
async def test_a_damaged_entry_is_made_anew(
    index: PackageIndex, cache: Path, damage: Callable[[Path], None]
) -> None:
    index.add_wheel("good", "1.0")
    first = await install(cache, "good")
    damage(cache / packages_of(first).digest)
    assert await install(cache, "good") == first
    assert modules(first) == {"good"}
    assert entries(cache) == [packages_of(first).digest]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to the superuser")
@pytest.mark.parametrize("closed", [".", "packages", "left-out.json"])
async def test_an_entry_closed_to_us_is_made_anew(index: PackageIndex, cache: Path, closed: str) -> None:
    index.add_wheel("good", "1.0")
    first = await install(cache, "good")
    (cache / packages_of(first).digest / closed).chmod(0)
    assert await install(cache, "good") == first
    assert modules(first) == {"good"}


async def test_two_that_find_the_same_damage_share_one_result(index: PackageIndex, cache: Path) -> None:
    index.add_wheel("good", "1.0")
    first = await install(cache, "good")
    _spoil_list(cache / packages_of(first).digest)
    assert await asyncio.gather(*(install(cache, "good") for _ in range(3))) == [first] * 3
    assert entries(cache) == [packages_of(first).digest]


@pytest.mark.parametrize("python", ["", "3", "3.11.2", "--x", "2.7"])
async def test_another_form_of_version_is_a_mistake_of_the_caller(cache: Path, python: str) -> None:
    with pytest.raises(ValueError, match=r"such as 3\.11"):
        await install(cache, "good", python=python)


async def test_a_box_sees_the_packages_before_its_own(
    backend: SandboxBackend, index: PackageIndex, cache: Path
) -> None:
    index.add_wheel("first", "1.0", {"first/__init__.py": "import iniconfig"}, requires=["iniconfig>90"])
    index.add_wheel("iniconfig", "99.0")
    packages = packages_of(await install(cache, "first", python="3.11"))
    user = backend.with_packages(packages)
    box = await user.create(LIMITS)
    try:
        told = await box.run(["python", "-c", "import first; print(first.iniconfig.version)"])
        assert told.stdout.text == "99.0\n"
        spoil = await box.run(["python", "-c", "import first; open(first.__file__, 'w')"])
        assert spoil.exit_code == 1
    finally:
        await box.destroy()
        await user.close()
        if backend.name == "docker":
            _remove_images(packages)


def _remove_images(packages: Packages) -> None:
    """Remove the images that the engine keeps for these packages."""
    listing = ["docker", "image", "ls", "--format", "{{.Repository}}:{{.Tag}}", REPOSITORY]
    for name in subprocess.run(listing, capture_output=True, text=True, check=True).stdout.split():
        if packages.digest[:16] in name:
            subprocess.run(["docker", "image", "rm", name], capture_output=True, check=True)


def test_the_package_can_be_imported_without_the_rest() -> None:
    program = "import sandbox.packages, sys; print(*{name.split('.')[0] for name in sys.modules})"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"bot", "pipelines", "openai"} & set(told.stdout.split())
