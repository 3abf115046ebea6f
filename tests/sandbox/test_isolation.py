"""What a command in a box must not see, reach or be."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import Sandbox

_CONNECT = """
import socket, sys
for family, address in [(socket.AF_INET, ("127.0.0.1", {port})), (socket.AF_INET, ("192.0.2.1", 80))]:
    probe = socket.socket(family)
    probe.settimeout(2)
    try:
        probe.connect(address)
    except OSError as error:
        print("refused", type(error).__name__)
    else:
        print("CONNECTED", address)
try:
    print("RESOLVED", socket.getaddrinfo("example.com", 80))
except OSError as error:
    print("refused", error)
print(sorted(name for _, name in socket.if_nameindex() if name not in ("lo", "tunl0", "sit0", "ip6tnl0")))
"""


@pytest.fixture
def server_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


async def python(box: Sandbox, code: str) -> str:
    result = await box.run(["python3", "-c", code])
    assert result.exit_code == 0, result.stderr.text
    return result.stdout.text


async def test_there_is_no_network(box: Sandbox, server_port: int) -> None:
    said = await python(box, _CONNECT.format(port=server_port))
    assert "CONNECTED" not in said
    assert "RESOLVED" not in said
    assert said.count("refused") == 3
    assert said.splitlines()[-1] == "[]"


async def test_host_files_are_not_there(box: Sandbox, tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    planted.write_text("secret")
    code = f"""
import os
def reads(path):
    try: return bool(open(path).read(1))
    except OSError: return False
def lists(path):
    try: return sorted(os.listdir(path))
    except OSError: return []
paths = ({str(planted)!r}, {str(Path(__file__))!r}, "/etc/shadow")
print([path for path in paths if reads(path)])
print([name for name in lists("/home") + lists("/root") if name not in {Path(sys.base_prefix).parts!r}])
print(os.path.exists("/var/run/docker.sock"), os.path.exists("/run/docker.sock"))
"""
    assert (await python(box, code)).splitlines() == ["[]", "[]", "False False"]


async def test_only_the_work_folder_and_tmp_are_writable(box: Sandbox) -> None:
    code = """
import os
def writes(folder):
    try: open(folder + "/probe", "w").close()
    except OSError: return False
    return True
folders = "/ /usr /usr/bin /etc /opt /root /dev /proc/sys/kernel /work /tmp".split()
print([folder for folder in folders if writes(folder)])
"""
    assert (await python(box, code)).strip() == "['/work', '/tmp']"


async def test_commands_have_no_rights(box: Sandbox) -> None:
    status = await python(box, "print(open('/proc/self/status').read())")
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    capabilities = {
        name: int(fields[name], 16) for name in fields if name.startswith("Cap") and name != "CapBnd"
    }
    assert set(capabilities.values()) == {0}
    assert fields["NoNewPrivs"].strip() == "1"
    assert (
        await python(box, "import os; print(0 in {os.getuid(), os.geteuid(), os.getgid()})")
    ).strip() == "False"


async def test_no_set_user_id_program_helps(box: Sandbox) -> None:
    said = await box.run(["sh", "-c", "su -c id root </dev/null; mount -t tmpfs none /mnt; chroot / id"])
    assert "uid=0" not in said.stdout.text


async def test_the_box_has_its_own_name_and_processes(box: Sandbox) -> None:
    code = """
import os, socket
print(socket.gethostname(), len([name for name in os.listdir("/proc") if name.isdecimal()]) < 10)
"""
    assert (await python(box, code)).split() == ["sandbox", "True"]


async def test_only_the_standard_streams_are_open(box: Sandbox) -> None:
    assert (
        await python(box, "import os; print(sorted(os.listdir('/proc/self/fd'))[:-1])")
    ).strip() == "['0', '1', '2']"


async def test_pytest_is_there_and_our_own_libraries_are_not(box: Sandbox) -> None:
    code = """
import importlib.util
names = ["pytest", "openai", "typer", "docker", "pydantic", "sandbox", "pipelines", "bot"]
print([name for name in names if importlib.util.find_spec(name)])
"""
    assert (await python(box, code)).strip() == "['pytest']"


@pytest.mark.parametrize("argv", [["python", "--version"], ["python3", "--version"], ["pytest", "--version"]])
async def test_the_python_commands_are_on_the_path(box: Sandbox, argv: list[str]) -> None:
    result = await box.run(argv)
    assert result.ok, result.stderr.text


async def test_temporary_files_do_not_outlive_a_command_or_fill_the_host(box: Sandbox) -> None:
    filled = await box.run(["sh", "-c", "head -c 100000000 /dev/zero > /tmp/big || rm /tmp/big; exit 0"])
    assert filled.exit_code in (0, 153)
    await box.run(["rm", "-f", "/tmp/big"])
    assert (await box.run(["sh", "-c", "echo x > /tmp/x"])).ok


async def test_programs_may_use_processes_that_share_memory(box: Sandbox) -> None:
    code = """
import multiprocessing as m
with m.Pool(2) as pool: print(pool.map(abs, [-1, 2]))
from multiprocessing.shared_memory import SharedMemory
block = SharedMemory(create=True, size=1000); block.close(); block.unlink()
"""
    assert (await python(box, code)).strip() == "[1, 2]"
