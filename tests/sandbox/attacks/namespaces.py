"""Mounts, namespaces and other people's processes: the walls of the box itself."""

from .attack import NOT_PERMITTED, NOT_WRITABLE, SAME_USER, Attack

_FLAGS = """
FLAGS = {"mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000,
         "pid": 0x20000000, "net": 0x40000000, "time": 0x80}
"""

ATTACKS = (
    Attack(
        name="mount",
        program="""
os.mkdir("/tmp/m")
attempt("tmpfs", syscall, "mount", b"none", b"/tmp/m", b"tmpfs", 0, None)
attempt("proc", syscall, "mount", b"proc", b"/tmp/m", b"proc", 0, None)
attempt("bind", syscall, "mount", b"/usr", b"/tmp/m", None, 4096, None)
attempt("writable", syscall, "mount", None, b"/usr", None, 32 | 4096, None)
attempt("device", syscall, "mount", b"/dev/vda", b"/tmp/m", b"ext4", 0, None)
attempt("cgroup", syscall, "mount", b"none", b"/tmp/m", b"cgroup", 0, b"memory")
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="mount-by-the-new-calls",
        program="""
attempt("fsopen", syscall, "fsopen", b"tmpfs", 0)
attempt("open-tree", syscall, "open_tree", -100, b"/usr", 1)
attempt("move", syscall, "move_mount", -1, b"", -100, b"/tmp", 4)
attempt("attributes", syscall, "mount_setattr", -100, b"/usr", 0, ctypes.create_string_buffer(32), 32)
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="mount-programs",
        shell=True,
        program="""
mkdir /tmp/m
mount -t tmpfs none /tmp/m && echo ESCAPED; mount -o remount,rw / && echo ESCAPED
umount /proc && echo ESCAPED; umount -l /usr && echo ESCAPED; unshare -r true && echo ESCAPED
unshare -m true && echo ESCAPED; nsenter -t 1 -m true && echo ESCAPED; chroot / true && echo ESCAPED
echo through
""",
        unsaid=("ESCAPED",),
        said=("through",),
    ),
    Attack(
        name="unmount",
        program="""
for path in (b"/proc", b"/usr", b"/etc/passwd", b"/work", b"/"):
    attempt(path.decode(), syscall, "umount2", path, 2)
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="root-changed",
        program="""
os.makedirs("/work/root/old")
attempt("pivot", syscall, "pivot_root", b"/work/root", b"/work/root/old")
attempt("chroot", os.chroot, "/work/root")
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="namespaces-by-unshare",
        program=_FLAGS
        + """
for name, flag in FLAGS.items():
    attempt(name, syscall, "unshare", flag)
""",
        denied=NOT_PERMITTED | {"EUSERS", "ENOSPC"},
    ),
    Attack(
        name="namespaces-by-clone",
        program=_FLAGS
        + """
import signal
def cloned(flag):
    child = syscall("clone", flag | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
for name, flag in FLAGS.items():
    if name != "time":
        attempt(name, cloned, flag)
        attempt("user+" + name, cloned, flag | FLAGS["user"])
""",
        denied=NOT_PERMITTED | {"EUSERS", "ENOSPC"},
    ),
    Attack(
        name="namespaces-by-the-new-clone",
        program=_FLAGS
        + """
import signal, struct
def cloned(flag):
    order = struct.pack("8Q", flag, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    child = syscall("clone3", ctypes.create_string_buffer(order, 64), 64)
    if child == 0:
        os._exit(0)
for name, flag in FLAGS.items():
    attempt(name, cloned, flag | FLAGS["user"])
""",
        denied=NOT_PERMITTED | {"EUSERS", "ENOSPC"},
    ),
    Attack(
        name="namespaces-nested-until-rights",
        program="""
user = os.getuid()
def nested():
    syscall("unshare", 0x10000000 | 0x20000 | 0x40000000)
    with open("/proc/self/uid_map", "w") as file:
        file.write(f"0 {user} 1")
    syscall("mount", b"none", b"/tmp", b"tmpfs", 0, None)
attempt("nested", nested)
""",
        denied=NOT_PERMITTED | {"EUSERS", "ENOSPC"},
    ),
    Attack(
        name="namespaces-of-others",
        program="""
for name in ("mnt", "net", "pid", "user", "ipc", "uts", "cgroup"):
    def enter(path):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            syscall("setns", descriptor, 0)
        finally:
            os.close(descriptor)
    attempt("first-" + name, enter, "/proc/1/ns/" + name)
    attempt("own-" + name, enter, "/proc/self/ns/" + name)
""",
        denied=NOT_PERMITTED | {"EINVAL"},
    ),
    Attack(
        name="first-process-traced",
        program="""
attempt("attach", syscall, "ptrace", 16, 1, None, None)
attempt("seize", syscall, "ptrace", 0x4206, 1, None, None)
""",
        denied=NOT_PERMITTED | {"ESRCH"},
    ),
    Attack(
        name="first-process-read",
        beyond_ordinary=SAME_USER,
        program="""
import struct
block = ctypes.create_string_buffer(64)
local = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(block), 64), 16)
remote = ctypes.create_string_buffer(struct.pack("QQ", 0x400000, 64), 16)
attempt("read", syscall, "process_vm_readv", 1, local, 1, remote, 1, 0)
attempt("write", syscall, "process_vm_writev", 1, local, 1, remote, 1, 0)
for name in ("mem", "maps", "environ", "fd/0", "root/etc/passwd", "cwd/.", "exe"):
    attempt(name, open_close, "/proc/1/" + name)
""",
        denied=NOT_PERMITTED | {"ESRCH", "ENOENT"},
    ),
    Attack(
        name="descriptors-of-others",
        program="""
def stolen(pid, number):
    descriptor = syscall("pidfd_open", pid, 0)
    try:
        return syscall("pidfd_getfd", descriptor, number, 0)
    finally:
        os.close(descriptor)
for number in range(12):
    attempt(f"first-{number}", stolen, 1, number)
attempt("compare", syscall, "kcmp", os.getpid(), 1, 0, 0, 0)
""",
        denied=NOT_PERMITTED | {"EBADF"},
    ),
    Attack(
        name="memory-of-others-moved",
        program="""
word = ctypes.create_string_buffer(8)
attempt("migrate", syscall, "migrate_pages", 1, 64, word, word)
attempt("move", syscall, "move_pages", 1, 1, word, None, None, 0)
""",
        denied=NOT_PERMITTED | {"ESRCH", "EINVAL"},
    ),
    Attack(
        name="own-root-written",
        program="""
for path in ("/", "/proc", "/dev", "/etc", "/opt", "/var", "/run", "/home", "/root", "/mnt", "/srv"):
    attempt(path, open_close, path + "/" + TOKEN, os.O_WRONLY | os.O_CREAT)
    attempt(path + "/", os.mkdir, path + "/" + TOKEN + "d")
""",
        denied=NOT_WRITABLE,
    ),
)
