"""System calls in another machine's words, which a filter by number could overlook. x86-64 only."""

from .attack import NOT_PERMITTED, Attack

_IN_A_CHILD = """
import mmap, signal
def in_a_child(call):
    "The outcome of a call in a process of its own, since a filter may answer with its death."
    child = os.fork()
    if child == 0:
        result = call()
        os._exit(0 if result >= 0 else min(-result, 255))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:
        raise OSError(errno.EPERM, f"killed by signal {-code}")
    if code:
        raise OSError(code, "denied")
"""

ATTACKS = (
    Attack(
        name="calls-of-the-32-bit-machine",
        program=_IN_A_CHILD
        + r"""
def made(number, *arguments):
    registers = (b"\xbb", b"\xb9", b"\xba", b"\xbe")  # ebx, ecx, edx, esi
    code = b"\x53" + b"\xb8" + number.to_bytes(4, "little")
    for register, value in zip(registers, arguments):
        code += register + value.to_bytes(4, "little")
    area = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    area.write(code + b"\xcd\x80" + b"\x5b\xc3")  # int 0x80
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(area)))
    return function()
if platform.machine() == "x86_64":
    attempt("unshare", in_a_child, lambda: made(310, 0x10000000))
    attempt("keyctl", in_a_child, lambda: made(288, 0, 0xFFFFFFFD, 1))
    attempt("personality", in_a_child, lambda: made(136, 0x40000))
    attempt("userfaultfd", in_a_child, lambda: made(374, 1))
    attempt("clone", in_a_child, lambda: made(120, 0x10000011))
    attempt("socketcall-vsock", in_a_child, lambda: made(359, 40, 1, 0))
else:
    attempt("none", open_close, "/dev/no-such-device")
""",
        denied=NOT_PERMITTED | {"EAFNOSUPPORT", "ENOENT", "EFAULT"},
    ),
    Attack(
        name="calls-of-the-x32-machine",
        program=_IN_A_CHILD
        + """
def made(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(0x40000000 | number), *map(ctypes.c_long, arguments))
    return result if result >= 0 else -ctypes.get_errno()
if platform.machine() == "x86_64":
    attempt("unshare", in_a_child, lambda: made(272, 0x10000000))
    attempt("keyctl", in_a_child, lambda: made(250, 0, -3, 1))
    attempt("personality", in_a_child, lambda: made(135, 0x40000))
else:
    attempt("none", open_close, "/dev/no-such-device")
""",
        denied=NOT_PERMITTED | {"ENOENT"},
    ),
)
