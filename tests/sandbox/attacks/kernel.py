"""Kernel interfaces that no generated program needs; each was a way out of some container once."""

from .attack import NOT_PERMITTED, NOT_THERE, NOT_WRITABLE, Attack

ATTACKS = (
    Attack(
        name="kernel-log",
        program="""
attempt("read-all", syscall, "syslog", 3, ctypes.create_string_buffer(4096), 4096)
attempt("size", syscall, "syslog", 10, None, 0)
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="kernel-log-device",
        program="attempt('kmsg', open_close, '/dev/kmsg')\nattempt('proc', open_close, '/proc/kmsg')",
        denied=NOT_THERE,
    ),
    Attack(
        name="kernel-log-program",
        shell=True,
        program="dmesg | head -c 200 | sed 's/^/LOG /'; echo through",
        unsaid=("LOG ",),
        said=("through",),
    ),
    Attack(
        name="kernel-modules",
        program="""
image = ctypes.create_string_buffer(64)
attempt("init", syscall, "init_module", image, 64, b"")
with open("module.ko", "wb") as file:
    file.write(bytes(64))
with open("module.ko", "rb") as file:
    attempt("finit", syscall, "finit_module", file.fileno(), b"", 0)
attempt("delete", syscall, "delete_module", b"nothing", os.O_NONBLOCK)
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="kernel-replaced",
        program="""
attempt("kexec", syscall, "kexec_load", 0, 0, None, 0)
attempt("kexec-file", syscall, "kexec_file_load", -1, -1, 0, None, 0)
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="reboot",
        program="attempt('key', syscall, 'reboot', 0xFEE1DEAD - (1 << 32), 672274793, 0, None)",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="bpf",
        program="""
attributes = ctypes.create_string_buffer(128)
attributes[0:16] = bytes([2, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0])
attempt("map", syscall, "bpf", 0, attributes, 72)
attempt("next-program", syscall, "bpf", 11, ctypes.create_string_buffer(128), 72)
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="performance-events",
        program="""
attributes = ctypes.create_string_buffer(128)
attributes[0:8] = bytes([1, 0, 0, 0, 112, 0, 0, 0])
attributes[40:41] = b"\\x60"
attempt("perf", syscall, "perf_event_open", attributes, 0, -1, -1, 0)
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="page-faults-by-the-user",
        program="attempt('userfaultfd', syscall, 'userfaultfd', os.O_CLOEXEC | 1)",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="io-uring",
        program="attempt('setup', syscall, 'io_uring_setup', 4, ctypes.create_string_buffer(120))",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="key-rings",
        program="""
attempt("add", syscall, "add_key", b"user", b"name", b"payload", 7, -4)
attempt("session", syscall, "keyctl", 0, -3, 1)
attempt("join", syscall, "keyctl", 1, None)
attempt("request", syscall, "request_key", b"user", b"name", None, -4)
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="clock-changes",
        program="""
import time
now = (ctypes.c_long * 2)(int(time.time()), 0)
step = ctypes.create_string_buffer(256)
step[0:4] = (0x0100).to_bytes(4, "little")
attempt("set-day", syscall, "settimeofday", now, None)
attempt("set-clock", syscall, "clock_settime", 0, now)
attempt("adjust", syscall, "adjtimex", step)
attempt("adjust-clock", syscall, "clock_adjtime", 0, step)
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="swap",
        program="""
with open("swap", "wb") as file:
    file.write(bytes(65536))
attempt("on", syscall, "swapon", b"swap", 0)
attempt("off", syscall, "swapoff", b"swap")
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="accounting-and-quotas",
        program="""
attempt("accounting", syscall, "acct", b"/work/log")
attempt("quota", syscall, "quotactl", 0x800001 << 8, None, 0, None)
attempt("fanotify", syscall, "fanotify_init", 4, 0)
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="host-name",
        program="""
attempt("host", syscall, "sethostname", TOKEN.encode(), len(TOKEN))
attempt("domain", syscall, "setdomainname", TOKEN.encode(), len(TOKEN))
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="personality",
        program="attempt('no-random', syscall, 'personality', 0x0040000)",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="input-ports",
        program="""
if "iopl" in NUMBERS:
    attempt("level", syscall, "iopl", 3)
    attempt("port", syscall, "ioperm", 0x80, 1, 1)
attempt("port-file", open_close, "/dev/port")
""",
        denied=NOT_THERE | {"ENOSYS"},
    ),
    Attack(
        name="files-by-handle",
        program="""
handle = ctypes.create_string_buffer((128).to_bytes(4, "little") + bytes(132))
mount = ctypes.c_int()
attempt("open", syscall, "open_by_handle_at", -100, handle, 0)
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="device-nodes",
        program="""
import stat
for name, major, minor in (("mem", 1, 1), ("zero", 1, 5), ("tty", 5, 0)):
    attempt(name, os.mknod, f"/work/{name}", stat.S_IFCHR | 0o666, os.makedev(major, minor))
attempt("disk", os.mknod, "/tmp/disk", stat.S_IFBLK | 0o666, os.makedev(8, 0))
attempt("root-disk", os.mknod, "/work/root", stat.S_IFBLK | 0o666, os.stat("/usr").st_dev)
""",
        denied=NOT_PERMITTED,
    ),
    Attack(
        name="devices-of-the-host",
        program="""
for name in ("mem", "kmem", "port", "sda", "vda", "nvme0n1", "loop0", "loop-control", "kvm", "fuse",
             "net/tun", "vhost-net", "vsock", "nvidia0", "dri/card0", "tty0", "console", "cpu/0/msr",
             "mapper/control", "uinput", "snd/seq", "vfio/vfio", "userfaultfd", "input/event0"):
    attempt(name, open_close, "/dev/" + name, os.O_RDWR)
""",
        denied=NOT_THERE | {"ENODEV", "ENOTDIR"},
    ),
    Attack(
        name="kernel-settings",
        program="""
for name in ("kernel/core_pattern", "kernel/modprobe", "kernel/hostname", "kernel/yama/ptrace_scope",
             "vm/overcommit_memory", "vm/drop_caches", "fs/binfmt_misc/register", "kernel/sysrq",
             "kernel/randomize_va_space", "net/ipv4/ip_forward", "user/max_user_namespaces"):
    attempt(name, open_close, "/proc/sys/" + name, os.O_WRONLY)
for name in ("sysrq-trigger", "kcore", "irq/default_smp_affinity", "acpi/wakeup"):
    attempt(name, open_close, "/proc/" + name, os.O_RDWR)
""",
        denied=NOT_WRITABLE | {"EISDIR", "EIO"},
    ),
    Attack(
        name="sys-writes",
        program="""
attempt("root", open_close, "/sys/" + TOKEN, os.O_WRONLY | os.O_CREAT)
attempt("uevent", open_close, "/sys/kernel/uevent_helper", os.O_WRONLY)
attempt("power", open_close, "/sys/power/state", os.O_WRONLY)
for folder, folders, files in os.walk("/sys"):
    folders[:] = folders[:20]
    for name in files[:50]:
        path = os.path.join(folder, name)
        if os.access(path, os.W_OK):
            attempt(path, open_close, path, os.O_WRONLY)
    if folder.count("/") > 5:
        folders.clear()
""",
        denied=NOT_WRITABLE | {"EINVAL"},
    ),
    Attack(
        name="control-groups",
        program="""
import glob
found = [path for depth in range(4) for path in glob.glob("/sys/fs/cgroup" + "/*" * depth)]
for name in ("release_agent", "cgroup.procs", "tasks", "memory.max", "memory.limit_in_bytes", "pids.max"):
    attempt(name, open_close, "/sys/fs/cgroup/" + name, os.O_WRONLY)
    for path in found:
        if path.endswith("/" + name):
            attempt(path, open_close, path, os.O_WRONLY)
attempt("new", os.mkdir, "/sys/fs/cgroup/" + TOKEN)
for path in found:
    if os.path.isdir(path):
        attempt(path, os.mkdir, path + "/" + TOKEN)
""",
        denied=NOT_WRITABLE,
    ),
    Attack(
        name="terminal-input-forged",
        program="""
import fcntl, termios
def push(descriptor):
    for byte in b"id\\n":
        fcntl.ioctl(descriptor, termios.TIOCSTI, bytes([byte]))
for number in (0, 1, 2):
    attempt(f"stream-{number}", push, number)
attempt("terminal", open_close, "/dev/tty", os.O_RDWR)
attempt("console", open_close, "/dev/console", os.O_RDWR)
""",
        denied=NOT_THERE | {"ENOTTY", "EIO"},
    ),
)
