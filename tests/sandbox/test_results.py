"""Collecting from hostile folders and tar streams."""

import io
import os
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import Collected
from sandbox.results import Caps, collect_folder, collect_tar


def tar_of(members: Sequence[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def member(
    name: str, *, kind: bytes = tarfile.REGTYPE, mode: int = 0o644, target: str = ""
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.linkname = kind, mode, target
    return info


def from_tar(*members: tuple[tarfile.TarInfo, bytes], caps: Caps | None = None) -> Collected:
    return collect_tar(io.BytesIO(tar_of(members)), ["**"], caps)


def test_a_tar_gives_its_regular_files() -> None:
    collected = from_tar(
        (member("./", kind=tarfile.DIRTYPE), b""), (member("./a/b"), b"x"), (member("c"), b"")
    )
    assert dict(collected.files) == {"a/b": b"x", "c": b""}
    assert dict(collected.refused) == {}


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        (member("x", kind=tarfile.SYMTYPE, target="/etc/passwd"), "link"),
        (member("x", kind=tarfile.LNKTYPE, target="../../etc/passwd"), "link"),
        (member("x", kind=tarfile.FIFOTYPE), "not a regular file"),
        (member("x", kind=tarfile.CHRTYPE), "not a regular file"),
        (member("x", kind=tarfile.BLKTYPE), "not a regular file"),
        (member("x", mode=0o4755), "set-user-id or set-group-id file"),
        (member("x", mode=0o2755), "set-user-id or set-group-id file"),
        (member("/x"), "absolute path"),
        (member("../x"), "path leaves the work folder"),
        (member("a/../../x"), "path leaves the work folder"),
        (member("a\nx"), "control character in the name"),
        (member("a\udcffx"), "name is not valid UTF-8"),
    ],
)
def test_a_tar_member_that_is_no_plain_file_is_refused_by_name(info: tarfile.TarInfo, reason: str) -> None:
    collected = from_tar((info, b""), (member("good"), b"1"))
    assert dict(collected.files) == {"good": b"1"}
    assert list(collected.refused.values()) == [reason]
    assert all(name.isprintable() and name.isascii() for name in collected.refused)


def test_a_second_member_of_the_same_name_does_not_replace_the_first() -> None:
    collected = from_tar((member("x"), b"first"), (member("x"), b"second"))
    assert (collected.files["x"], collected.refused["x"]) == (b"first", "name appears twice")


def test_a_sparse_member_is_refused() -> None:
    with tarfile.open(fileobj=io.BytesIO(), mode="w") as archive:
        assert archive is not None
    info = member("bomb")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(2**40)}
    collected = from_tar((info, b"1\n0\n0\n".ljust(512, b"\0")))
    assert dict(collected.files) == {}
    assert collected.refused


def test_a_tar_that_is_cut_short_gives_what_came_before() -> None:
    whole = tar_of([(member("first"), b"1" * 600), (member("second"), b"2" * 600)])
    collected = collect_tar(io.BytesIO(whole[:2300]), ["**"])
    assert list(collected.files) == ["first"]
    assert "..." in collected.refused


@given(st.binary(max_size=2000))
def test_any_bytes_are_a_tar_without_files_or_with_good_ones(content: bytes) -> None:
    collected = collect_tar(io.BytesIO(content), ["**"])
    assert all(not name.startswith("/") and ".." not in name.split("/") for name in collected.files)


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=80))
def test_any_member_name_is_either_safe_or_refused(name: str) -> None:
    collected = from_tar((member(name), b"x"))
    for path in collected.files:
        assert os.path.normpath("/work/" + path) == "/work/" + path
    assert len(collected.files) + len(collected.refused) == 1


def test_caps_hold_for_tar_and_folder(tmp_path: Path) -> None:
    sizes = {"a": 10, "b": 200, "c": 60, "d": 60, "e": 1}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(b"x" * size)
    caps = Caps(files=2, file_bytes=100, total_bytes=100)
    tarred = from_tar(*((member(name), b"x" * size) for name, size in sizes.items()), caps=caps)
    for collected in (collect_folder(tmp_path, ["**"], caps), tarred):
        assert sorted(collected.files) == ["a", "c"]
        assert {name: reason.split()[0] for name, reason in collected.refused.items()} == {
            "b": "larger",
            "d": "more",
            "e": "more",
        }


def test_the_total_is_capped(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_bytes(b"x" * 40)
    collected = collect_folder(tmp_path, ["**"], Caps(total_bytes=100))
    assert sorted(collected.files) == ["a", "b"]
    assert "together" in collected.refused["c"]


def test_refusals_are_capped_too(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"link{number}").symlink_to("/")
    assert len(collect_folder(tmp_path, ["**"], Caps(refusals=10)).refused) == 11


def test_links_are_not_followed_anywhere(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (outside / "secret").write_text("secret")
    (root / "folder").symlink_to(outside)
    (root / "file").symlink_to(outside / "secret")
    collected = collect_folder(root, ["**"])
    assert dict(collected.files) == {}
    assert dict(collected.refused) == {"folder": "link", "file": "link"}
    with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        collect_folder(root / "folder", ["**"])


def test_deep_folders_are_refused_without_recursing_for_ever(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(60):
        deep = deep / "d"
        deep.mkdir()
    (deep / "file").write_text("x")
    collected = collect_folder(tmp_path, ["**"])
    assert dict(collected.files) == {}
    assert list(collected.refused.values()) == ["more than 32 folders deep"]


def test_a_file_that_is_not_selected_is_neither_read_nor_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "a.py").write_text("y")
    collected = collect_folder(tmp_path, ["*.py"])
    assert (dict(collected.files), dict(collected.refused)) == ({"a.py": b"y"}, {})
