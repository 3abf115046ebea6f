import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sandbox.bubblewrap.leftovers import PREFIX, new_folder, sweep


@pytest.fixture(autouse=True)
def _own_temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_folder_whose_owner_lives_stays() -> None:
    root, lock = new_folder()
    assert sweep() == 0
    assert root.is_dir()
    os.close(lock)
    assert sweep() == 1
    assert not root.exists()


def test_what_a_killed_owner_left_is_removed_with_its_content(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys, tempfile; tempfile.tempdir = sys.argv[1];"
        "from sandbox.bubblewrap.leftovers import new_folder; root, _ = new_folder();"
        "(root / 'work').mkdir(); (root / 'work' / 'file').write_text('x');"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(f"{PREFIX}*"))) == 1
    assert sweep() == 1
    assert list(tmp_path.iterdir()) == []


def test_a_very_deep_tree_is_removed_too(tmp_path: Path) -> None:
    root, lock = new_folder("run 7/ü")
    assert root.name.startswith(f"{PREFIX}run-7-")
    here = os.open(root, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    os.close(lock)
    assert sweep() == 1
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_temporary_can_be_written_no_box_is_put_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # what tempfile falls back to
    monkeypatch.delenv("TMPDIR", raising=False)
    with pytest.raises(OSError, match="no temporary folder"):
        new_folder()


def test_links_and_folders_that_are_not_ours_stay(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "owner.lock").touch()
    (tmp_path / f"{PREFIX}link").symlink_to(victim)
    (tmp_path / f"{PREFIX}bare").mkdir()
    (tmp_path / f"{PREFIX}linked-lock").mkdir()
    (tmp_path / f"{PREFIX}linked-lock" / "owner.lock").symlink_to(victim / "owner.lock")
    assert sweep() == 0
    assert victim.is_dir()
