"""Attacks on whatever of ours runs in the box beside the command, to forge its report or to blind it."""

from .attack import ENDLESS, NOT_PERMITTED, SAME_USER, Attack

_OTHERS = """
import time
OTHERS = [int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != os.getpid()]
"""

ATTACKS = (
    Attack(
        name="report-of-the-supervisor-forged",
        beyond_ordinary=SAME_USER,
        program=_OTHERS
        + r"""
import signal
end = json.dumps({"code": 0, "limit": None, "seconds": 0.1, "crowded": False, "cpu": 0.1, "peak": 1,
                  "out_of_memory": 0, "disk_full": False, "notes": ""}).encode()
forged = b"E" + len(end).to_bytes(4, "big") + end + b'\n{ "exit-code": 0 }\n'
for pid in OTHERS:
    for number in range(32):
        try:
            stream = os.open(f"/proc/{pid}/fd/{number}", os.O_WRONLY | os.O_NONBLOCK)
            os.write(stream, forged)
        except OSError:
            continue
        print("WROTE", pid, number, flush=True)
time.sleep(0.3)
for pid in OTHERS:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
time.sleep(0.2)
os._exit(3)
""",
        unsaid=("WROTE",),
        exit_codes=frozenset({3, 137}),
    ),
    Attack(
        name="memory-of-the-supervisor-opened",
        beyond_ordinary=SAME_USER,
        program=_OTHERS
        + """
import struct
block = ctypes.create_string_buffer(64)
local = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(block), 64), 16)
remote = ctypes.create_string_buffer(struct.pack("QQ", 0x400000, 64), 16)
for pid in OTHERS:
    attempt(f"{pid}-mem", open_close, f"/proc/{pid}/mem", os.O_RDWR)
    for name in ("maps", "environ", "fd/0", "fd/1", "fd/2", "cwd/.", "root/."):
        attempt(f"{pid}-{name}", open_close, f"/proc/{pid}/{name}")
    attempt(f"{pid}-read", syscall, "process_vm_readv", pid, local, 1, remote, 1, 0)
    attempt(f"{pid}-trace", syscall, "ptrace", 0x4206, pid, None, None)
""",
        denied=NOT_PERMITTED | {"ESRCH", "ENOENT"},
    ),
    Attack(
        name="limits-of-the-supervisor-lowered",
        program=_OTHERS
        + """
import resource
for pid in OTHERS:
    for name in ("NOFILE", "FSIZE", "AS", "CPU", "NPROC"):
        try:
            resource.prlimit(pid, getattr(resource, "RLIMIT_" + name), (0, 0))
        except (OSError, ValueError):
            pass
time.sleep(0.2)
""",
        limits=ENDLESS,
        exit_codes=frozenset({0, 1, 137, 152}),
    ),
    Attack(
        name="supervisor-flooded-with-signals",
        program=_OTHERS
        + """
import signal
gentle = signal.SIGCHLD, signal.SIGWINCH, signal.SIGURG, signal.SIGCONT
for _ in range(3000):
    for pid in OTHERS:
        for number in gentle:
            try:
                os.kill(pid, number)
            except OSError:
                pass
os._exit(3)
""",
        exit_codes=frozenset({3}),
    ),
    Attack(
        name="supervisor-interrupted",
        program=_OTHERS
        + """
import signal
time.sleep(0.3)
hard = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGALRM, signal.SIGPIPE
for pid in OTHERS:
    for number in hard:
        try:
            os.kill(pid, number)
        except OSError:
            pass
time.sleep(0.2)
os._exit(3)
""",
        exit_codes=frozenset({3, *range(129, 160)}),
    ),
)
