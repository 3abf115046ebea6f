"""What one command leaves behind to harm the next one, in the same box."""

import pytest

from sandbox import Sandbox

_PLANT_IN_HOME = """
import os, site, sysconfig
homes = {os.path.expanduser("~"), "/tmp", os.environ.get("HOME", "/tmp"), "/root", "/home"}
evil = "import os; os.write(2, b'HIJACKED')"
for home in homes:
    packages = sysconfig.get_path("purelib", "posix_user", {"userbase": home + "/.local"})
    for name, content in {
        packages + "/usercustomize.py": evil, packages + "/evil.pth": evil,
        home + "/.bashrc": "echo HIJACKED >&2", home + "/.profile": "echo HIJACKED >&2",
        home + "/.pythonrc.py": evil, home + "/.pdbrc": "!" + evil,
        home + "/.config/pip/pip.conf": "[global]",
        home + "/conftest.py": evil, home + "/pytest.ini": "[pytest]\\naddopts = -p evil",
        "/tmp/sitecustomize.py": evil, "/tmp/usercustomize.py": evil,
    }.items():
        try:
            os.makedirs(os.path.dirname(name), exist_ok=True)
            with open(name, "w") as file:
                file.write(content)
            print("planted", name)
        except OSError:
            pass
"""


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param(["python3", "-P", "-c", "print('clean')"], id="python"),
        pytest.param(["bash", "-c", "echo clean"], id="bash"),
        pytest.param(["sh", "-lc", "echo clean"], id="login-shell"),
        pytest.param(["pytest", "--version"], id="pytest"),
    ],
)
async def test_what_is_planted_at_home_does_not_run_later(argv: list[str], hostile_box: Sandbox) -> None:
    planted = await hostile_box.run(["python3", "-c", _PLANT_IN_HOME])
    assert "planted" in planted.stdout.text
    result = await hostile_box.run(argv)
    assert result.ok, result.stderr.text
    assert "HIJACKED" not in result.stdout.text + result.stderr.text


async def test_temporary_files_are_gone(hostile_box: Sandbox) -> None:
    await hostile_box.run(["sh", "-c", "echo x > /tmp/left; mkdir /tmp/.hidden; echo x > /dev/shm/left"])
    listed = await hostile_box.run(["sh", "-c", "ls -A /tmp; ls -A /dev/shm 2>/dev/null; echo end"])
    assert listed.stdout.text == "end\n"


async def test_a_full_temporary_folder_is_empty_for_the_next_command(hostile_box: Sandbox) -> None:
    await hostile_box.run(
        ["sh", "-c", "for n in 1 2 3 4 5 6 7 8 9; do head -c 4000000 /dev/zero > /tmp/$n; done"]
    )
    used = await hostile_box.run(["sh", "-c", "head -c 2000000 /dev/zero > /tmp/x && echo room"])
    assert used.stdout.text == "room\n", used.stderr.text


async def test_a_full_work_folder_can_be_cleaned_and_used_again(hostile_box: Sandbox) -> None:
    await hostile_box.run(
        ["sh", "-c", "mkdir d; for n in 1 2 3 4 5 6 7 8 9; do head -c 2000000 /dev/zero > d/$n; done"]
    )
    cleaned = await hostile_box.run(["rm", "-rf", "d"])
    assert cleaned.ok, cleaned.stderr.text
    await hostile_box.put_files({"f": b"fits again"})
    assert dict((await hostile_box.get_files(["f"])).files) == {"f": b"fits again"}


async def test_memory_that_was_used_is_free_again(hostile_box: Sandbox) -> None:
    script = "python3 -c 'bytearray(b\"x\") * (150 << 20); print(1)'"
    for _ in range(4):
        assert (await hostile_box.run(["sh", "-c", script])).ok


async def test_one_limit_is_not_reported_twice(hostile_box: Sandbox) -> None:
    for program in ("bytearray(8 << 30)", "import os\nwhile True: os.fork()", "while True: print('x' * 999)"):
        assert (await hostile_box.run(["python3", "-c", program])).limit is not None
        after = await hostile_box.run(["sh", "-c", "exit 7"])
        assert (after.exit_code, after.limit) == (7, None)


async def test_locks_and_shared_objects_are_gone(hostile_box: Sandbox) -> None:
    make = """
import ctypes
libc = ctypes.CDLL(None)
print("shared memory", libc.shmget(4711, 4096, 0o1666) >= 0, "queue", libc.msgget(4711, 0o1666) >= 0)
"""
    look = """
import ctypes
libc = ctypes.CDLL(None)
print("shared memory", libc.shmget(4711, 4096, 0) >= 0, "queue", libc.msgget(4711, 0) >= 0)
"""
    await hostile_box.run(["python3", "-c", make])
    seen = await hostile_box.run(["python3", "-c", look])
    assert seen.stdout.text == "shared memory False queue False\n"
