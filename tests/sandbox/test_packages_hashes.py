"""What a lock says of a file's hash is checked: another index cannot slip in another file of that name."""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.packages import Installed, Wanted, install_packages, wanted_packages

from .package_index import PackageIndex, only_index

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


REFUSED = "has no hash that can be checked: sha256, sha384 or sha512"


def poetry_lock(*hashes: str) -> dict[str, bytes]:
    files = ", ".join(f'{{ file = "a.whl", hash = "{value}" }}' for value in hashes)
    return {"poetry.lock": f'[[package]]\nname = "attrs"\nversion = "1.0"\nfiles = [{files}]\n'.encode()}


@pytest.mark.parametrize(
    "bad",
    [
        *("md5:" + "0" * 32, "sha1:" + "0" * 40, "sha256:short", "sha256:" + "g" * 64, "sha256:"),
        f"{GOOD} --index-url=http://evil",
    ],
)
def test_a_package_whose_hashes_cannot_be_checked_is_refused_by_name(bad: str) -> None:
    found = wanted_packages(poetry_lock(bad, ""))
    assert (found.requirements, found.refused) == ((), {"attrs==1.0": REFUSED})


def test_one_hash_that_can_be_checked_is_enough() -> None:
    assert wanted_packages(poetry_lock("md5:" + "0" * 32, GOOD)).hashes == {"attrs==1.0": (GOOD,)}


@pytest.mark.parametrize("hashes", [(), ("",)])
def test_a_lock_that_names_no_hash_is_taken_without(hashes: tuple[str, ...]) -> None:
    found = wanted_packages(poetry_lock(*hashes))
    assert (found.requirements, found.hashes, found.refused) == (("attrs==1.0",), {}, {})


class TestRequirementFiles:
    @pytest.mark.parametrize(
        "line",
        [
            f"attrs==1.0 --hash={GOOD} --hash={OTHER}",
            f"attrs==1.0 \\\n    --hash={GOOD} \\\r\n    --hash={OTHER}\n    # via x",
            f"attrs==1.0 --hash {GOOD} --hash='{OTHER}'  # why",
            f"attrs==1.0 --hash={GOOD}\nattrs == 1.0 --hash={OTHER}",
            f"attrs==1.0 --config-settings=x --hash={GOOD}\t--hash = {OTHER} --hash=md5:00",
        ],
    )
    def test_the_hashes_of_a_line_are_read(self, line: str) -> None:
        found = wanted_packages({"requirements.txt": f"{line}\npluggy\n".encode()})
        assert found.hashes == {"attrs==1.0": (GOOD, OTHER)}
        assert (found.requirements, found.refused) == (("attrs==1.0", "pluggy"), {})

    @pytest.mark.parametrize(
        "options",
        ["--hash=md5:00", "--hash=", "--hash", "--hash sha256:00", f"--hash=--hash={GOOD}", "--hash=''"],
    )
    def test_a_line_whose_hashes_cannot_be_checked_is_refused(self, options: str) -> None:
        found = wanted_packages({"requirements.txt": f"attrs==1.0 {options}\npluggy\n".encode()})
        assert (found.requirements, list(found.refused.values())) == (("pluggy",), [REFUSED])

    @pytest.mark.parametrize("versions", ["", ">=1", "==1.*", "==1.0,>=1", "===1.0", "~=1.0"])
    def test_hashes_without_one_exact_version_are_refused_as_the_installer_ignores_them(
        self, versions: str
    ) -> None:
        found = wanted_packages({"requirements.txt": f"attrs{versions} --hash={GOOD}\n".encode()})
        (reason,) = found.refused.values()
        assert (found.requirements, "one exact version" in reason) == ((), True)

    def test_an_option_that_only_begins_like_it_is_no_way_around(self) -> None:
        found = wanted_packages({"requirements.txt": b"attrs==1.0 --hash-x=1\n"})
        assert (found.requirements, len(found.refused)) == ((), 1)

    def test_a_file_without_hashes_does_not_undo_those_of_another(self) -> None:
        files = {
            "requirements-a.txt": f"attrs==1.0 --hash={GOOD}".encode(),
            "requirements-b.txt": b"attrs==1.0",
        }
        assert wanted_packages(files).hashes == {"attrs==1.0": (GOOD,)}


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    with only_index(tmp_path, monkeypatch) as served:
        served.add_wheel("greeting", "1.5")
        served.add_wheel("parting", "2.0")
        yield served


def hash_of(index: PackageIndex, name: str) -> str:
    (file,) = (index.root / name).glob("*.whl")
    return f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}"


async def installed(
    cache: Path, hashes: dict[str, tuple[str, ...]], *, locked: bool = True, greeting: str = "greeting==1.5"
) -> Installed:
    wanted = Wanted(source="a file", requirements=(greeting, "parting==2.0"), hashes=hashes, locked=locked)
    return await install_packages(wanted, cache=cache, python="{}.{}".format(*sys.version_info[:2]))


@pytest.mark.parametrize("locked", [True, False])
async def test_a_file_with_another_hash_is_left_out_and_named(
    tmp_path: Path, index: PackageIndex, locked: bool
) -> None:
    result = await installed(tmp_path / "cache", {"greeting==1.5": (GOOD,)}, locked=locked)
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
