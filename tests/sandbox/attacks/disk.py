"""Disk and inodes, openly and through every back door."""

from dataclasses import replace

from sandbox import LimitKind

from .attack import NO_OWN_DISK, QUICK, Attack

_LIMITS = replace(QUICK, wall_seconds=4)
_DISK: frozenset[LimitKind | None] = frozenset({LimitKind.DISK})
_UNTIL_STOPPED = "\nimport time\ntime.sleep(60)"

ATTACKS = (
    Attack(
        name="disk-one-file",
        program="""
with open("big", "wb") as file:
    while True:
        file.write(bytes(1 << 20))
""",
        limits=_LIMITS,
        named=_DISK,
    ),
    Attack(
        name="disk-one-file-by-the-shell",
        shell=True,
        program="head -c 100000000 /dev/zero > big",
        limits=_LIMITS,
        named=_DISK,
    ),
    Attack(
        name="disk-many-files",
        program="""
for number in range(100):
    with open(f"f{number}", "wb") as file:
        file.write(bytes(1 << 20))
"""
        + _UNTIL_STOPPED,
        limits=_LIMITS,
        named=_DISK,
    ),
    Attack(
        name="disk-allocated-without-writing",
        program="""
for number in range(20):
    with open(f"f{number}", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 6 << 20)
"""
        + _UNTIL_STOPPED,
        limits=_LIMITS,
        named=_DISK,
    ),
    Attack(
        name="disk-in-files-without-a-name",
        beyond_ordinary=NO_OWN_DISK,
        program="""
held = []
for number in range(20):
    held.append(open("f", "wb", buffering=0))
    os.unlink("f")
    for _ in range(6):
        held[-1].write(bytes(1 << 20))
"""
        + _UNTIL_STOPPED,
        limits=_LIMITS,
        named=_DISK,
    ),
    Attack(
        name="disk-in-a-file-that-never-had-a-name",
        beyond_ordinary=NO_OWN_DISK,
        program="""
held = []
for number in range(20):
    held.append(os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600))
    for _ in range(6):
        os.write(held[-1], bytes(1 << 20))
"""
        + _UNTIL_STOPPED,
        limits=_LIMITS,
        named=_DISK,
    ),
    Attack(
        name="disk-in-a-folder-that-nobody-may-read",
        program="""
os.mkdir("closed")
os.chdir("closed")
for number in range(20):
    with open(f"f{number}", "wb") as file:
        if number == 0:
            os.chmod(".", 0o300)
        file.write(bytes(1 << 20))
"""
        + _UNTIL_STOPPED,
        limits=_LIMITS,
        named=_DISK,
    ),
    Attack(
        name="disk-full-and-silent",
        program="""
for number in range(400):
    try:
        with open(f"f{number}", "wb", buffering=0) as file:
            file.write(bytes(1 << 20))
    except OSError:
        pass
print("survived")
""",
        limits=_LIMITS,
        named=frozenset({None, LimitKind.DISK}),
    ),
    Attack(
        name="inodes-by-empty-files",
        program="for number in range(30_000): open(f'f{number}', 'w').close()" + _UNTIL_STOPPED,
        limits=_LIMITS,
        named=_DISK,
    ),
    Attack(
        name="inodes-by-folders",
        program="for number in range(30_000): os.mkdir(f'd{number}')" + _UNTIL_STOPPED,
        limits=_LIMITS,
        named=_DISK,
    ),
    Attack(
        name="inodes-by-symbolic-links",
        program="for number in range(30_000): os.symlink('x' * 200, f'l{number}')" + _UNTIL_STOPPED,
        limits=_LIMITS,
        named=_DISK,
    ),
    Attack(
        name="inodes-by-hard-links",
        program="""
open("one", "w").close()
for number in range(30_000):
    os.link("one", f"l{number}")
"""
        + _UNTIL_STOPPED,
        limits=_LIMITS,
        named=_DISK,
    ),
    Attack(
        name="inodes-by-a-very-deep-folder",
        program="""
for _ in range(20_000):
    os.mkdir("d")
    os.chdir("d")
"""
        + _UNTIL_STOPPED,
        limits=_LIMITS,
        named=_DISK,
    ),
    Attack(
        name="disk-writes-to-a-full-device",
        program="""
for _ in range(300):
    attempt("write", os.write, os.open("/dev/full", os.O_WRONLY | os.O_CLOEXEC), bytes(1 << 20))
    os.closerange(3, 16)
""",
        limits=QUICK,
        named=frozenset({None}),
        denied=frozenset({"ENOSPC"}),
    ),
    Attack(
        name="disk-gigabytes-into-nowhere",
        shell=True,
        program="head -c 2000000000 /dev/zero > /dev/null; echo through",
        said=("through",),
        exit_codes=frozenset({0}),
    ),
    Attack(
        name="core-dump",
        program="""
import resource, signal
print("core", resource.getrlimit(resource.RLIMIT_CORE))
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGSEGV)
""",
        said=("core (0, 0)",),
        exit_codes=frozenset({139}),
    ),
)
