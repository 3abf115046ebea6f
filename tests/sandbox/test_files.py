"""Files go into a box and come back from it, and no trap that a command leaves there works."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import Sandbox
from sandbox.bubblewrap.placing import place_files
from sandbox.paths import selected, split, why_refused

BAD_PATHS = [
    "",
    "/etc/passwd",
    "../up",
    "a/../../up",
    "a/..",
    ".",
    "a//b",
    "./a",
    "a/",
    "new\nline",
    "nul\0",
    "\udcff",
]


async def test_files_arrive_and_come_back(box: Sandbox) -> None:
    files = {"a.py": b"x = 1\n", "pkg/sub/b.bin": bytes(range(256)), "näme with space": b""}
    await box.put_files(files)
    collected = await box.get_files()
    assert dict(collected.files) == files
    assert dict(collected.refused) == {}


async def test_a_file_is_replaced_and_belongs_to_the_commands(box: Sandbox) -> None:
    await box.put_files({"d/f": b"old"})
    await box.put_files({"d/f": b"new"})
    assert (await box.run(["sh", "-c", "cat d/f; echo more >> d/f; echo x > d/g"])).stdout.text == "new"
    assert dict((await box.get_files()).files) == {"d/f": b"newmore\n", "d/g": b"x\n"}


async def test_globs_select_what_comes_back(box: Sandbox) -> None:
    await box.put_files({"a.py": b"", "t/b.py": b"", "t/c.txt": b"", "t/u/d.py": b""})
    assert sorted((await box.get_files(["t/**/*.py"])).files) == ["t/b.py", "t/u/d.py"]
    assert sorted((await box.get_files(["*.py", "t/c.*"])).files) == ["a.py", "t/c.txt"]


@pytest.mark.parametrize("path", BAD_PATHS)
async def test_paths_that_leave_the_work_folder_are_refused(box: Sandbox, path: str) -> None:
    with pytest.raises(ValueError, match="inside the work folder"):
        await box.put_files({"good": b"", path: b"evil"})
    assert dict((await box.get_files()).files) == {}


async def test_only_regular_files_come_back(box: Sandbox) -> None:
    script = """
echo fine > fine; ln -s /etc/passwd link; ln -s /nowhere dangling; ln -s / folder; mkfifo pipe
cp /bin/true suid; chmod 4755 suid; printf x > "$(printf 'new\\nline')"; printf x > "$(printf 'bad\\377')"
python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('socket')"
"""
    assert (await box.run(["sh", "-c", script])).ok
    collected = await box.get_files()
    assert dict(collected.files) == {"fine": b"fine\n"}
    assert {"link", "dangling", "folder", "pipe", "suid", "new\\nline"} <= set(collected.refused)
    assert any(name.startswith("bad") for name in collected.refused)
    assert collected.refused["link"] == "link"
    assert "set-user-id" in collected.refused["suid"]


async def test_a_planted_link_is_not_written_through(box: Sandbox) -> None:
    await box.run(["sh", "-c", "echo safe > target; ln -s target trap; ln -s /tmp out"])
    await box.put_files({"trap": b"new"})
    files = (await box.get_files()).files
    assert (files["target"], files["trap"]) == (b"safe\n", b"new")


def test_a_link_in_the_way_of_a_folder_is_an_error(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    outside.mkdir()
    root.mkdir()
    (root / "out").symlink_to(outside)
    with pytest.raises(ValueError, match="something else has that name"):
        place_files(root, {"out/file": b"evil"}, owner=None)
    assert list(outside.iterdir()) == []


def test_a_folder_in_the_way_of_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "name").mkdir()
    with pytest.raises(ValueError, match="'name'"):
        place_files(tmp_path, {"name": b""}, owner=None)


def test_a_pipe_in_the_way_is_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "name")
    place_files(tmp_path, {"name": b"content"}, owner=None)
    assert (tmp_path / "name").read_bytes() == b"content"


def test_a_bad_path_stops_all_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="absolute"):
        place_files(tmp_path, {"good": b"", "/bad": b""}, owner=None)
    assert list(tmp_path.iterdir()) == []


@given(st.text(max_size=40))
def test_an_accepted_path_stays_inside_and_is_one_file(path: str) -> None:
    if why_refused(path) is None:
        resolved = os.path.normpath(f"/work/{path}")
        assert resolved == "/work/" + path
        assert split(path) == path.split("/")
    else:
        with pytest.raises(ValueError, match="work folder"):
            split(path)


@given(
    st.lists(
        st.from_regex(r"[a-z0-9_. -]{1,12}", fullmatch=True).filter(lambda n: n not in (".", "..")),
        min_size=1,
        max_size=4,
    )
)
def test_plain_names_are_accepted_and_selected_by_everything(parts: list[str]) -> None:
    path = "/".join(parts)
    assert why_refused(path) is None
    assert selected(path, ["**"])
    assert selected(path, ["**/" + parts[-1].replace("[", "[[]")])


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("a.py", "*.py", True),
        ("d/a.py", "*.py", False),
        ("d/a.py", "d/*", True),
        ("d/e/a.py", "d/*", False),
        ("d/e/a.py", "d/**", True),
        ("d/e/a.py", "**/a.py", True),
        ("a.py", "**/a.py", True),
        ("d/A.py", "d/a.py", False),
        ("d/a.py", "d", False),
        ("d", "d/**", True),
    ],
)
def test_globs(path: str, pattern: str, expected: bool) -> None:
    assert selected(path, [pattern]) is expected
