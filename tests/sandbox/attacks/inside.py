"""What every hostile Python program begins with; runs inside the box, never on the host.

Arguments: the token that marks the attack, and the bait as JSON.
"""

import ctypes
import errno
import json
import os
import platform
import sys
from collections.abc import Callable
from typing import Any

TOKEN = sys.argv[1]
BAIT = json.loads(sys.argv[2])

_X86_64 = dict(
    clone=56, ptrace=101, syslog=103, setgroups=116, personality=135, pivot_root=155,
    adjtimex=159, chroot=161, acct=163, settimeofday=164, mount=165, umount2=166, swapon=167, swapoff=168,
    reboot=169, sethostname=170, setdomainname=171, iopl=172, ioperm=173, init_module=175,
    delete_module=176, quotactl=179, clock_settime=227, kexec_load=246, add_key=248, request_key=249,
    keyctl=250, ioprio_set=251, migrate_pages=256, unshare=272, move_pages=279, perf_event_open=298,
    fanotify_init=300, name_to_handle_at=303, open_by_handle_at=304, clock_adjtime=305, setns=308,
    process_vm_readv=310, process_vm_writev=311, kcmp=312, finit_module=313, kexec_file_load=320, bpf=321,
    userfaultfd=323,
)  # fmt: skip
_AARCH64 = dict(
    clone=220, ptrace=117, syslog=116, setgroups=159, personality=92, pivot_root=41, adjtimex=171,
    chroot=51, acct=89, settimeofday=170, mount=40, umount2=39, swapon=224, swapoff=225, reboot=142,
    sethostname=161, setdomainname=162, init_module=105, delete_module=106, quotactl=60,
    clock_settime=112, kexec_load=104, add_key=217, request_key=218, keyctl=219, ioprio_set=30,
    migrate_pages=238, unshare=97, move_pages=239, perf_event_open=241, fanotify_init=262,
    name_to_handle_at=264, open_by_handle_at=265, clock_adjtime=266, setns=268, process_vm_readv=270,
    process_vm_writev=271, kcmp=272, finit_module=273, kexec_file_load=294, bpf=280, userfaultfd=282,
)  # fmt: skip
_EVERYWHERE = dict(
    pidfd_send_signal=424, io_uring_setup=425, open_tree=428, move_mount=429, fsopen=430, fsmount=432,
    pidfd_open=434, clone3=435, pidfd_getfd=438, mount_setattr=442,
)  # fmt: skip
NUMBERS = {**(_X86_64 if platform.machine() == "x86_64" else _AARCH64), **_EVERYWHERE}

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def syscall(name: str, *args: Any) -> int:
    """Call the kernel by number, so that no library stands between; raises OSError as `os` does."""
    words = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    ctypes.set_errno(0)
    result = int(libc.syscall(ctypes.c_long(NUMBERS[name]), *words))
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result


def attempt(what: str, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Try a forbidden thing and say what came of it; gives its result, None where it was denied."""
    try:
        result = call(*args, **options)
    except OSError as error:
        code = error.errno or 0
        print(f"{what} DENIED {errno.errorcode.get(code, str(error))}", flush=True)
        return None
    print(f"{what} ALLOWED", flush=True)
    return result


def open_close(path: str, flags: int = os.O_RDONLY) -> None:
    """Open a file and close it again; never changes what is in it."""
    os.close(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o644))


print("STARTED", flush=True)
