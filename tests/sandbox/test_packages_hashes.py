"""What a lock says of a file's hash is checked: another index cannot slip in another file of that name."""

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.packages import Installed, Wanted, install_packages, wanted_packages

from .package_index import PackageIndex, serve

GOOD, OTHER = "sha256:" + "ab" * 32, "sha256:" + "cd" * 32
LOCKS = {
    "uv.lock": f"""
version = 1
[[package]]
name = "own"
version = "1"
source = {{ virtual = "." }}
dependencies = [{{ name = "attrs" }}]
[[package]]
name = "attrs"
version = "1.0"
source = {{ registry = "https://index.example/simple" }}
wheels = [{{ url = "https://x/a.whl", hash = "{GOOD}" }}, {{ url = "https://x/b.whl", hash = "{OTHER}" }}]
""",
    "poetry.lock": f"""
[[package]]
name = "attrs"
version = "1.0"
files = [{{ file = "a.whl", hash = "{GOOD}" }}, {{ file = "b.whl", hash = "{OTHER}" }}]
""",
    "pdm.lock": f"""
[[package]]
name = "attrs"
version = "1.0"
files = [{{ file = "a.whl", hash = "{GOOD}" }}, {{ file = "b.whl", hash = "{OTHER}" }}]
""",
    "pylock.toml": f"""
lock-version = "1.0"
[[packages]]
name = "attrs"
version = "1.0"
wheels = [
    {{ name = "a.whl", hashes = {{ sha256 = "{GOOD.removeprefix("sha256:")}" }} }},
    {{ name = "b.whl", hashes = {{ sha256 = "{OTHER.removeprefix("sha256:")}" }} }},
]
""",
}


@pytest.mark.parametrize("name", LOCKS)
def test_the_hashes_of_a_lock_are_read(name: str) -> None:
    assert wanted_packages({name: LOCKS[name].encode()}).hashes == {"attrs==1.0": (GOOD, OTHER)}


@pytest.mark.parametrize(
    "bad", ["md5:" + "0" * 32, "sha256:short", "sha256:" + "g" * 64, f"{GOOD} --index-url=http://evil", ""]
)
def test_what_is_no_hash_of_a_strong_kind_is_passed_over(bad: str) -> None:
    lock = f'[[package]]\nname = "attrs"\nversion = "1.0"\nfiles = [{{ file = "a.whl", hash = "{bad}" }}]\n'
    found = wanted_packages({"poetry.lock": lock.encode()})
    assert (found.requirements, found.hashes) == (("attrs==1.0",), {})


def test_a_requirement_file_names_no_hashes() -> None:
    assert wanted_packages({"requirements.txt": b"attrs==1.0\n"}).hashes == {}


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    for name in list(os.environ):
        if name.startswith(("UV_", "PIP_")):
            monkeypatch.delenv(name)
    with serve(tmp_path / "index") as served:
        monkeypatch.setenv("UV_DEFAULT_INDEX", served.url)
        monkeypatch.setenv("UV_HTTP_RETRIES", "0")
        served.add_wheel("greeting", "1.5")
        served.add_wheel("parting", "2.0")
        yield served


def hash_of(index: PackageIndex, name: str) -> str:
    (file,) = (index.root / name).glob("*.whl")
    return f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"


async def installed(cache: Path, hashes: dict[str, tuple[str, ...]]) -> Installed:
    wanted = Wanted(
        source="a lock", requirements=("greeting==1.5", "parting==2.0"), hashes=hashes, locked=True
    )
    return await install_packages(wanted, cache=cache, python="{}.{}".format(*sys.version_info[:2]))


async def test_a_file_with_another_hash_is_left_out_and_named(tmp_path: Path, index: PackageIndex) -> None:
    result = await installed(tmp_path / "cache", {"greeting==1.5": (GOOD,)})
    assert "Hash mismatch" in result.left_out["greeting==1.5"]
    assert result.packages is not None
    assert not (result.packages.folder / "greeting.py").exists()
    assert (result.packages.folder / "parting.py").exists()


async def test_one_of_several_hashes_is_enough_and_other_hashes_are_another_result(
    tmp_path: Path, index: PackageIndex
) -> None:
    right = await installed(tmp_path / "cache", {"greeting==1.5": (GOOD, hash_of(index, "greeting"))})
    assert right.left_out == {}
    assert right.packages is not None
    assert (right.packages.folder / "greeting.py").exists()
    wrong = await installed(tmp_path / "cache", {"greeting==1.5": (GOOD,)})
    assert list(wrong.left_out) == ["greeting==1.5"]
