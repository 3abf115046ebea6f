"""The system calls that a command may not make, as a filter for the kernel; the same in every backend.

What serves no program of the kind that runs here is refused, so that less of the kernel is within reach.
Calls newer than this list do not exist for a box. Docker's own filter stands in front of it there.
Format: seccomp(2), BPF over the fields of `struct seccomp_data`.
"""

import errno
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_X32_BIT = 0x40000000
_NEWEST_KNOWN = 462

_NEW_NAMESPACE = 0x7E020080
"""All CLONE_NEW… flags: namespaces of mounts, cgroups, names, processes, users, IPC, network and time."""
_SOCKET_FAMILIES = {"unix": 1, "inet": 2, "inet6": 10}
_NETLINK, _NETLINK_ROUTE = 16, 0
_TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_PLAIN_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)

_ARCHITECTURES: Mapping[str, int] = MappingProxyType({"x86_64": 0xC000003E, "aarch64": 0xC00000B7})
_CHECKED: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "x86_64": {"clone": 56, "socket": 41, "personality": 135, "ioctl": 16, "prlimit64": 302},
        "aarch64": {"clone": 220, "socket": 198, "personality": 92, "ioctl": 29, "prlimit64": 261},
    }
)
_CLONE3 = 435  # its flags lie in memory, where no filter can look; the C library falls back to clone

_EVERYWHERE = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "process_madvise": 440,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "memfd_secret": 447,
    "set_mempolicy_home_node": 450,
}
_DENIED: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "x86_64": {
            **_EVERYWHERE,
            **{"ptrace": 101, "syslog": 103, "uselib": 134, "ustat": 136, "sysfs": 139, "vhangup": 153},
            **{"modify_ldt": 154, "pivot_root": 155, "_sysctl": 156, "adjtimex": 159, "chroot": 161},
            **{"acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168},
            **{"reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173},
            **{"create_module": 174, "init_module": 175, "delete_module": 176, "get_kernel_syms": 177},
            **{"query_module": 178, "quotactl": 179, "nfsservctl": 180, "lookup_dcookie": 212},
            **{"clock_settime": 227, "mbind": 237, "set_mempolicy": 238, "get_mempolicy": 239},
            **{"kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "migrate_pages": 256},
            **{"unshare": 272, "move_pages": 279, "perf_event_open": 298, "fanotify_init": 300},
            **{"name_to_handle_at": 303, "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308},
            **{"process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "finit_module": 313},
            **{"kexec_file_load": 320, "bpf": 321, "userfaultfd": 323},
        },
        "aarch64": {
            **_EVERYWHERE,
            **{"lookup_dcookie": 18, "umount2": 39, "mount": 40, "pivot_root": 41, "nfsservctl": 42},
            **{"chroot": 51, "vhangup": 58, "quotactl": 60, "acct": 89, "unshare": 97, "kexec_load": 104},
            **{"init_module": 105, "delete_module": 106, "clock_settime": 112, "syslog": 116, "ptrace": 117},
            **{"reboot": 142, "sethostname": 161, "setdomainname": 162, "settimeofday": 170},
            **{"adjtimex": 171, "add_key": 217, "request_key": 218, "keyctl": 219, "swapon": 224},
            **{"swapoff": 225, "mbind": 235, "get_mempolicy": 236, "set_mempolicy": 237},
            **{"migrate_pages": 238, "move_pages": 239, "perf_event_open": 241, "fanotify_init": 262},
            **{"name_to_handle_at": 264, "open_by_handle_at": 265, "clock_adjtime": 266, "setns": 268},
            **{"process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "finit_module": 273},
            **{"bpf": 280, "userfaultfd": 282, "kexec_file_load": 294},
        },
    }
)


@cache
def seccomp_programs() -> Mapping[str, bytes]:
    """The filter for each machine type that is known, such as `x86_64`."""
    return MappingProxyType({machine: b"".join(_program(machine)) for machine in _ARCHITECTURES})


def _program(machine: str) -> Iterator[bytes]:
    checked = _CHECKED[machine]
    yield _load(_ARCHITECTURE)
    yield from _unless(_JUMP_EQUAL, _ARCHITECTURES[machine], _KILL_PROCESS)
    yield _load(_NUMBER)
    # On x86-64 this refuses the x32 calls too, whose numbers would slip past the list.
    yield from _when(_JUMP_AT_LEAST, min(_NEWEST_KNOWN + 1, _X32_BIT), _ERRNO | errno.ENOSYS)
    yield from _when(_JUMP_EQUAL, _CLONE3, _ERRNO | errno.ENOSYS)
    for number in _DENIED[machine].values():
        yield from _when(_JUMP_EQUAL, number, _ERRNO | errno.EPERM)
    yield from _only_for(checked["clone"], _clone())
    yield from _only_for(checked["socket"], _socket())
    yield from _only_for(checked["ioctl"], _ioctl())
    yield from _only_for(checked["personality"], _personality())
    yield from _only_for(checked["prlimit64"], _limits_of_others())
    yield _return(_ALLOW)


def _clone() -> Iterator[bytes]:
    yield _load(_FIRST_ARGUMENT)
    yield from _when(_JUMP_ANY_BIT, _NEW_NAMESPACE, _ERRNO | errno.EPERM)
    yield _return(_ALLOW)


def _socket() -> Iterator[bytes]:
    yield _load(_FIRST_ARGUMENT)
    for family in _SOCKET_FAMILIES.values():
        yield from _when(_JUMP_EQUAL, family, _ALLOW)
    yield from _unless(_JUMP_EQUAL, _NETLINK, _ERRNO | errno.EAFNOSUPPORT)
    yield _load(_FIRST_ARGUMENT + 16)
    yield from _when(_JUMP_EQUAL, _NETLINK_ROUTE, _ALLOW)
    yield _return(_ERRNO | errno.EAFNOSUPPORT)


def _ioctl() -> Iterator[bytes]:
    yield _load(_FIRST_ARGUMENT + 8)
    for request in _TERMINAL_INJECTION:
        yield from _when(_JUMP_EQUAL, request, _ERRNO | errno.EPERM)
    yield _return(_ALLOW)


def _personality() -> Iterator[bytes]:
    yield _load(_FIRST_ARGUMENT)
    for plain in _PLAIN_PERSONALITIES:
        yield from _when(_JUMP_EQUAL, plain, _ALLOW)
    yield _return(_ERRNO | errno.EPERM)


def _limits_of_others() -> Iterator[bytes]:
    """A process sets its own limits only: lower ones of another would be a way to end it."""
    yield _load(_FIRST_ARGUMENT)
    yield from _when(_JUMP_EQUAL, 0, _ALLOW)
    yield _load(_FIRST_ARGUMENT + 16)
    yield from _when(_JUMP_EQUAL, 0, _ALLOW)
    yield _return(_ERRNO | errno.EPERM)


def _only_for(number: int, body: Iterator[bytes]) -> Iterator[bytes]:
    """The body, which must end with a return, for one call; every other call jumps over it."""
    block = list(body)
    yield _instruction(_JUMP_EQUAL, number, on_true=0, on_false=len(block))
    yield from block


def _when(jump: int, value: int, action: int) -> Iterator[bytes]:
    yield _instruction(jump, value, on_true=0, on_false=1)
    yield _return(action)


def _unless(jump: int, value: int, action: int) -> Iterator[bytes]:
    yield _instruction(jump, value, on_true=1, on_false=0)
    yield _return(action)


def _load(offset: int) -> bytes:
    """Load the low 32 bits at an offset of the call's data; both machine types are little-endian."""
    return _instruction(_LOAD, offset)


def _return(action: int) -> bytes:
    return _instruction(_RETURN, action)


def _instruction(code: int, value: int, *, on_true: int = 0, on_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, on_true, on_false, value)
