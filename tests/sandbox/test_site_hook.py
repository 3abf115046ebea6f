"""The hook that every Python in a box starts with, in real interpreters and in real boxes."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import PACKAGES_DIR, WORK_DIR, Sandbox, site_hook
from sandbox.surroundings import NOTES_FILE

REACHING = """
import socket
for host, port in [("example.invalid", 443), ("example.invalid", 443), ("localhost", 1), ("127.0.0.7", 1)]:
    try:
        socket.create_connection((host, port), timeout=0.2)
    except OSError:
        pass
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A folder that stands for the base's site-packages, with the hook in it."""
    folder = tmp_path / "base"
    folder.mkdir()
    shutil.copy(site_hook.__file__, folder / "_issuewright_site.py")
    return folder


def run(base: Path, program: str, *, packages: Path | None = None, notes: Path | None = None) -> str:
    """Run a program in a Python that started the hook as its `.pth` file does."""
    options = f"packages={str(packages or base / 'none')!r}, notes={str(notes or base / 'notes' / 'file')!r}"
    start = (
        f"import sys; sys.path.append({str(base)!r})\nimport _issuewright_site as h; h.activate({options})\n"
    )
    ended = subprocess.run(
        [sys.executable, "-I", "-c", start + program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_its_paths_are_those_of_the_box() -> None:
    assert str(PACKAGES_DIR) == site_hook._PACKAGES
    assert str(WORK_DIR / NOTES_FILE) == site_hook._NOTES


def test_packages_win_over_the_base_but_not_over_the_standard_library(base: Path, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    for folder in (base, packages):
        (folder / "pinned.py").write_text(f"where = {folder.name!r}")
        (folder / "colorsys.py").write_text("where = 'not the standard library'")
    (base / "only_base.py").touch()
    program = "import pinned, only_base, colorsys; print(pinned.where, hasattr(colorsys, 'where'))"
    assert run(base, program, packages=packages).split() == ["packages", "False"]
    assert run(base, program).split() == ["base", "False"]


def test_path_files_of_packages_are_honoured_in_order(base: Path, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    for name in ("one", "two"):
        (packages / name).mkdir(parents=True)
    (packages / "b.pth").write_text("two\nmissing\n")
    (packages / "a.pth").write_text("one\nimport sys; sys.started = sys.path.index('%s')\n" % packages)  # noqa: UP031
    told = run(base, "print(sys.path, sys.started)", packages=packages)
    path = eval(told[: told.index("]") + 1])
    at = path.index(str(packages))
    assert path[at : at + 4] == [str(packages), str(packages / "one"), str(packages / "two"), str(base)]


def test_a_broken_path_file_does_not_stop_the_program(base: Path, tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "broken.pth").write_bytes(b"\xff\xfe\x00")
    start = f"import sys; sys.path.append({str(base)!r}); import _issuewright_site as h"
    program = f"{start}; h.activate(packages={str(packages)!r}); print('goes on')"
    ended = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "goes on\n"


def test_each_host_is_noted_once_and_none_of_the_box_itself(base: Path, tmp_path: Path) -> None:
    notes = tmp_path / "work" / ".issuewright" / "blocked-hosts"
    notes.parent.parent.mkdir()
    run(base, REACHING, notes=notes)
    assert notes.read_text() == "example.invalid:443\n"


def test_every_way_to_reach_a_host_is_seen(base: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    program = """
import socket
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def quietly(call, *args):
    try:
        call(*args)
    except (OSError, UnicodeError):
        pass
quietly(socket.gethostbyname, "a.invalid")
quietly(socket.gethostbyname_ex, "b.invalid")
quietly(socket.gethostbyaddr, "c.invalid")
quietly(socket.getaddrinfo, b"d.invalid", "http")
quietly(socket.getaddrinfo, None, 80)
quietly(udp.connect, ("192.0.2.1", 53))
quietly(udp.sendto, b"", ("192.0.2.2", 53))
quietly(udp.sendmsg, [b""], [], 0, ("192.0.2.3", 53))
quietly(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).connect, ("2001:db8::1", 53))
quietly(socket.socket(socket.AF_UNIX).connect, "/nowhere")
"""
    run(base, program, notes=notes)
    assert notes.read_text().split() == [
        *("a.invalid", "b.invalid", "c.invalid", "d.invalid"),
        *("192.0.2.1:53", "192.0.2.2:53", "192.0.2.3:53", "[2001:db8::1]:53"),
    ]


def test_what_is_noted_is_short_printable_and_not_endless(base: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    program = """
import socket
for host in ["a\\nb\\x1b[31m", ".".join("x" * 60 for _ in range(4)), *(f"h{n}.invalid" for n in range(100))]:
    sys.audit("socket.getaddrinfo", host, 80, 0, 0, 0)
"""
    run(base, program, notes=notes)
    lines = notes.read_text().splitlines()
    assert lines[0] == "a\\nb\\x1b[31m:80"
    assert len(lines) == 50
    assert max(map(len, lines)) == 200


def test_many_processes_together_fill_no_disk(base: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    for process in range(4):
        run(
            base,
            f"for n in range(60): sys.audit('socket.gethostbyname', f'{process}-{{n:0>190}}')",
            notes=notes,
        )
    assert 9_000 < notes.stat().st_size <= 50 * 201 + 201


@pytest.mark.parametrize("trap", ["link", "pipe", "folder", "file for folder", "closed"])
def test_a_trap_in_the_place_of_the_notes_is_not_noticed(base: Path, tmp_path: Path, trap: str) -> None:
    notes = tmp_path / "folder" / "notes"
    notes.parent.mkdir()
    precious = tmp_path / "precious"
    precious.write_text("precious")
    if trap == "link":
        notes.symlink_to(precious)
    elif trap == "pipe":
        subprocess.run(["mkfifo", notes], check=True)
    elif trap == "folder":
        notes.mkdir()
    elif trap == "file for folder":
        notes.parent.rmdir()
        notes.parent.write_text("")
    else:
        notes = Path("/proc/nothing/notes")
    assert run(base, REACHING + "print('goes on')", notes=notes) == "goes on\n"
    assert precious.read_text() == "precious"


def test_odd_arguments_of_events_are_not_noticed(base: Path) -> None:
    program = """
class Strange:
    @property
    def family(self):
        raise ValueError
for event in ("connect", "sendto", "sendmsg", "getaddrinfo", "gethostbyname"):
    for args in ((), (None,), (Strange(), ("host", 1)), (3, 4), ("\\udcff",), (("a", "b"), None)):
        sys.audit(f"socket.{event}", *args)
"""
    run(base, program)


def test_it_imports_nothing_that_a_bare_python_has_not(base: Path) -> None:
    program = "before = set(sys.modules); h.activate(); print(sorted(set(sys.modules) - before))"
    bare = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(' '.join(sys.modules))"],
        capture_output=True,
        text=True,
    )
    assert run(base, program) == "[]\n"
    assert {"os", "site", "sys"} <= set(bare.stdout.split())
    source = Path(site_hook.__file__).read_text()
    assert {line for line in source.splitlines() if line.startswith(("import ", "from "))} == {
        "import os",
        "import site",
        "import sys",
    }


@given(host=st.text(), port=st.one_of(st.none(), st.integers(), st.text()))
def test_whatever_host_is_looked_up_gives_one_printable_line_or_none(host: str, port: object) -> None:
    note = site_hook._note_of("socket.getaddrinfo", (host, port))
    assert note is None or (note.isprintable() and len(note) <= 200 and note.encode())


@given(args=st.lists(st.one_of(st.none(), st.binary(), st.text(), st.tuples(st.text())), max_size=3))
def test_no_arguments_of_an_event_are_taken_for_a_host_by_mistake(args: list[object]) -> None:
    note = site_hook._note_of("socket.getaddrinfo", tuple(args))
    assert note is None or isinstance(args[0], str | bytes)


def test_this_machine_is_local_under_its_own_name() -> None:
    assert site_hook._note_of("socket.gethostbyname", (socket.gethostname(),)) is None
    assert site_hook._note_of("socket.gethostbyname", ("::ffff:127.0.0.1",)) is None
    assert site_hook._note_of("socket.gethostbyname", ("128.0.0.1",)) == "128.0.0.1"


async def test_a_box_names_the_hosts_that_its_programs_tried_to_reach(box: Sandbox) -> None:
    result = await box.run(["python", "-c", REACHING])
    assert result.blocked_hosts == ("example.invalid:443",)
    assert (await box.run(["python", "-c", "print(1)"])).blocked_hosts == ()
    assert (await box.get_files()).files == {}


async def test_a_box_names_the_hosts_of_tests_too(box: Sandbox) -> None:
    await box.put_files(
        {
            "test_net.py": b"import urllib.request\ndef test():\n    urllib.request.urlopen('http://a.invalid')\n"
        }
    )
    result = await box.run(["python", "-m", "pytest", "-q", "-p", "no:cacheprovider"])
    assert (result.exit_code, result.blocked_hosts) == (1, ("a.invalid:80",))
