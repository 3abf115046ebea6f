"""Memory in every shape that a limit could overlook."""

from dataclasses import replace

from sandbox import LimitKind
from sandbox.protocol import MIB

from .attack import NO_CGROUP, QUICK, Attack

_LIMITS = replace(QUICK, memory_bytes=128 * MIB)
_MEMORY: frozenset[LimitKind | None] = frozenset({LimitKind.MEMORY})
_MEMORY_OR_DISK: frozenset[LimitKind | None] = frozenset({LimitKind.MEMORY, LimitKind.DISK})

_MANY = """
children = []
for _ in range(10):
    child = os.fork()
    if child == 0:
        block = bytearray(48 << 20)
        for page in range(0, len(block), 4096):
            block[page] = 1
        import time
        time.sleep(1.5)
        os._exit(0)
    children.append(child)
ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
print("ends", sorted(ends))
"""

ATTACKS = (
    Attack(
        name="memory-gradual",
        program="held = []\nwhile True: held.append(bytearray(b'x') * (1 << 20))",
        limits=_LIMITS,
        named=_MEMORY,
        exit_codes=frozenset({1, 137}),
    ),
    Attack(
        name="memory-sudden",
        program="bytearray(8 << 30)",
        limits=_LIMITS,
        named=_MEMORY,
        exit_codes=frozenset({1, 137}),
    ),
    Attack(
        name="memory-in-many-small-processes",
        beyond_ordinary=NO_CGROUP,
        program=_MANY + "sys.exit(1)",
        limits=_LIMITS,
        named=_MEMORY,
    ),
    Attack(
        name="memory-in-many-small-processes-that-end-well",
        beyond_ordinary=NO_CGROUP,
        program=_MANY,
        limits=_LIMITS,
        named=_MEMORY,
    ),
    Attack(
        name="memory-shared-by-mmap",
        program="""
import mmap
held = []
for _ in range(40):
    area = mmap.mmap(-1, 32 << 20)
    for page in range(0, len(area), 4096):
        area[page] = 1
    held.append(area)
print("HELD ALL")
""",
        limits=_LIMITS,
        named=_MEMORY,
        unsaid=("HELD ALL",),
    ),
    Attack(
        name="memory-in-anonymous-files",
        beyond_ordinary=NO_CGROUP,
        program="""
held = []
for number in range(100):
    held.append(os.memfd_create(f"m{number}"))
    for _ in range(6):
        os.write(held[-1], bytes(1 << 20))
print("HELD ALL")
""",
        limits=_LIMITS,
        named=_MEMORY_OR_DISK,
        unsaid=("HELD ALL",),
    ),
    Attack(
        name="memory-in-shared-memory-files",
        program="""
for number in range(100):
    with open(f"/dev/shm/{number}", "wb") as file:
        for _ in range(6):
            file.write(bytes(1 << 20))
print("HELD ALL")
""",
        limits=_LIMITS,
        named=_MEMORY_OR_DISK | {None},
        unsaid=("HELD ALL",),
        exit_codes=frozenset({1, 137}),
    ),
    Attack(
        name="memory-in-temporary-files",
        program="""
for number in range(200):
    with open(f"/tmp/{number}", "wb") as file:
        for _ in range(6):
            file.write(bytes(1 << 20))
print("HELD ALL")
""",
        limits=_LIMITS,
        named=_MEMORY_OR_DISK,
        unsaid=("HELD ALL",),
        exit_codes=frozenset({1, 137}),
    ),
    Attack(
        name="memory-in-pipes-and-sockets",
        program="""
import socket
held = []
try:
    while True:
        pair = socket.socketpair()
        pair[0].setblocking(False)
        held.append(pair)
        try:
            while True:
                pair[0].send(bytes(65536))
        except BlockingIOError:
            pass
except OSError as error:
    print("refused", errno.errorcode[error.errno])
""",
        limits=_LIMITS,
        named=_MEMORY | {None},
    ),
    Attack(
        name="memory-locked",
        program="""
import mmap
area = mmap.mmap(-1, 64 << 20)
held = libc.mlock(ctypes.byref(ctypes.c_char.from_buffer(area)), ctypes.c_size_t(len(area)))
print("LOCKED" if held == 0 else "refused")
""",
        limits=_LIMITS,
        named=_MEMORY | {None},
        unsaid=("LOCKED",),
        said=("refused",),
    ),
)
