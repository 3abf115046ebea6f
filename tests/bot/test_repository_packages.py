"""What a repository declares is installed before its code runs, or the person hears why not."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.repository_packages import with_repository_packages
from sandbox import (
    ExecResult,
    FakeBackend,
    FakeCall,
    Limits,
    Output,
    SandboxBackend,
    SandboxBroken,
    Usage,
    run_pytest,
)
from tests.sandbox.package_index import PackageIndex, only_index

PYTHON = "{}.{}".format(*sys.version_info[:2])


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    with only_index(tmp_path, monkeypatch) as served:
        yield served


def version_answer(_call: FakeCall, _files: dict[str, bytes]) -> ExecResult:
    said = Output(head=f"{PYTHON}\n".encode())
    return ExecResult(exit_code=0, usage=Usage(wall_seconds=0.0), stdout=said)


async def test_a_repository_that_declares_nothing_costs_nothing(tmp_path: Path) -> None:
    backend, told = FakeBackend(), list[str]()
    same = await with_repository_packages(
        backend,
        {"a.py": b"", "pyproject.toml": b"[project]\nname = 'x'\n"},
        folder=tmp_path,
        tell=told.append,
    )
    assert same is backend
    assert (backend.boxes, backend.packages, told) == ([], [], [])


async def test_declared_packages_are_given_to_the_backend(tmp_path: Path, index: PackageIndex) -> None:
    index.add_wheel("greeting", "1.5")
    backend, told = FakeBackend(version_answer), list[str]()
    await with_repository_packages(
        backend, {"requirements.txt": b"greeting>=1\n"}, folder=tmp_path / "cache", tell=told.append
    )
    (packages,) = backend.packages
    assert (packages.folder / "greeting.py").read_text() == "version = '1.5'\n"
    assert backend.boxes[0].destroyed
    assert backend.jobs == ["setup"]
    assert told[0] == "1 from requirements.txt"


async def test_what_is_left_out_is_told_with_the_reason(tmp_path: Path, index: PackageIndex) -> None:
    index.add_wheel("greeting", "1.5")
    index.add_source("sourceonly", "1.0")
    backend, told = FakeBackend(version_answer), list[str]()
    files = {"requirements.txt": b"greeting\nsourceonly\n-e .\nevil @ https://192.0.2.1/evil.whl\n"}
    await with_repository_packages(backend, files, folder=tmp_path / "cache", tell=told.append)
    left_out = " ".join(line for line in told if line.startswith("left out:"))
    assert all(name in left_out for name in ("evil", "sourceonly")), told
    assert len(backend.packages) == 1


async def test_more_than_a_few_left_out_are_counted(tmp_path: Path) -> None:
    lines = "".join(f"p{n} @ https://192.0.2.1/p{n}.whl\n" for n in range(9))
    backend, told = FakeBackend(version_answer), list[str]()
    await with_repository_packages(
        backend, {"requirements.txt": lines.encode()}, folder=tmp_path, tell=told.append
    )
    assert told[0].endswith("and 4 more")
    assert backend.packages == []


async def test_without_an_index_the_run_goes_on_without_packages(
    tmp_path: Path, index: PackageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    backend, told = FakeBackend(version_answer), list[str]()
    same = await with_repository_packages(
        backend, {"requirements.txt": b"greeting\n"}, folder=tmp_path, tell=told.append
    )
    assert same is backend
    assert told[-1].startswith("requirements.txt: not installed: ")


async def test_with_an_unusable_folder_the_run_goes_on_without_packages(
    tmp_path: Path, index: PackageIndex
) -> None:
    index.add_wheel("greeting", "1.5")
    (tmp_path / "cache").write_text("a file")
    backend, told = FakeBackend(version_answer), list[str]()
    same = await with_repository_packages(
        backend, {"requirements.txt": b"greeting\n"}, folder=tmp_path / "cache", tell=told.append
    )
    assert same is backend
    assert told[-1].startswith(f"requirements.txt: not installed: the packages cannot be kept in {tmp_path}")


async def test_a_damaged_cache_does_not_end_the_run(tmp_path: Path, index: PackageIndex) -> None:
    index.add_wheel("greeting", "1.5")
    cache = tmp_path / "cache"
    for _ in range(2):
        backend = FakeBackend(version_answer)
        await with_repository_packages(
            backend, {"requirements.txt": b"greeting\n"}, folder=cache, tell=lambda _: None
        )
        (packages,) = backend.packages
        assert (packages.folder / "greeting.py").is_file()
        (packages.folder.parent / "left-out.json").write_bytes(b"")


async def test_a_box_without_python_is_the_sandboxs_fault(tmp_path: Path) -> None:
    def fails(_call: FakeCall, _files: dict[str, bytes]) -> ExecResult:
        return ExecResult(exit_code=127, usage=Usage(wall_seconds=0.0), stderr=Output(head=b"not found"))

    backend = FakeBackend(fails)
    with pytest.raises(SandboxBroken, match="not found"):
        await with_repository_packages(
            backend, {"requirements.txt": b"greeting\n"}, folder=tmp_path, tell=lambda _: None
        )
    assert backend.boxes[0].destroyed


@pytest.mark.sandbox
async def test_the_repositorys_tests_run_with_its_packages(
    tmp_path: Path, index: PackageIndex, backend: SandboxBackend
) -> None:
    index.add_wheel("greeting", "1.5")
    files = {
        "pyproject.toml": b"[project]\nname = 'x'\nversion = '1'\ndependencies = ['greeting']\n",
        "tests/test_x.py": b"import greeting\ndef test_x(): assert greeting.version == '1.5'\n",
    }
    equipped = await with_repository_packages(backend, files, folder=tmp_path / "cache", tell=lambda _: None)
    for holder, passes in ((backend, False), (equipped, True)):
        box = await holder.create(Limits())
        try:
            await box.put_files(files)
            assert (await run_pytest(box, ["tests"])).passed is passes
        finally:
            await box.destroy()
