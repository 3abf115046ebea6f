"""The filter refuses what it names and lets programs live; run here by a small interpreter of its format."""

import errno
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.seccomp import seccomp_programs

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
X86_64, AARCH64 = 0xC000003E, 0xC00000B7
ENOSYS, EPERM, EAFNOSUPPORT = (ERRNO | code for code in (errno.ENOSYS, errno.EPERM, errno.EAFNOSUPPORT))


def decide(machine: str, architecture: int, number: int, *arguments: int) -> int:
    """What the kernel would do, by the rules of classic BPF."""
    program = seccomp_programs()[machine]
    filled = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, architecture, 0, *(value & 2**64 - 1 for value in filled))
    instructions = list(struct.iter_unpack("<HBBI", program))
    accumulator, place = 0, 0
    while True:
        code, on_true, on_false, value = instructions[place]
        place += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("<I", data, value)
            case 0x06:
                return int(value)
            case 0x15:
                place += on_true if accumulator == value else on_false
            case 0x35:
                place += on_true if accumulator >= value else on_false
            case 0x45:
                place += on_true if accumulator & value else on_false
            case _:
                raise AssertionError(f"unknown instruction {code:#x}")


def x86(number: int, *arguments: int) -> int:
    return decide("x86_64", X86_64, number, *arguments)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(165, id="mount"),
        pytest.param(155, id="pivot_root"),
        pytest.param(161, id="chroot"),
        pytest.param(101, id="ptrace"),
        pytest.param(250, id="keyctl"),
        pytest.param(272, id="unshare"),
        pytest.param(308, id="setns"),
        pytest.param(321, id="bpf"),
        pytest.param(298, id="perf_event_open"),
        pytest.param(323, id="userfaultfd"),
        pytest.param(425, id="io_uring_setup"),
        pytest.param(175, id="init_module"),
        pytest.param(246, id="kexec_load"),
        pytest.param(169, id="reboot"),
        pytest.param(227, id="clock_settime"),
        pytest.param(103, id="syslog"),
        pytest.param(304, id="open_by_handle_at"),
    ],
)
def test_calls_that_no_program_here_needs_are_refused(number: int) -> None:
    assert x86(number) == EPERM


@pytest.mark.parametrize(
    "number", [0, 1, 2, 9, 12, 57, 58, 59, 61, 62, 105, 157, 202, 257, 302, 318, 332, 334, 439, 449]
)
def test_ordinary_calls_are_allowed(number: int) -> None:
    assert x86(number) == ALLOW


@given(st.integers(0, 2**32 - 1))
def test_no_number_runs_off_the_program_and_unknown_ones_do_not_exist(number: int) -> None:
    decision = x86(number)
    assert decision in {ALLOW, EPERM, ENOSYS, EAFNOSUPPORT}
    if number > 462:
        assert decision == ENOSYS


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1))
def test_calls_of_another_architecture_kill(number: int, argument: int) -> None:
    assert decide("x86_64", 0x40000003, number, argument) == KILL  # 32-bit x86
    assert decide("x86_64", AARCH64, number, argument) == KILL


@pytest.mark.parametrize(
    "flag", [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
)
def test_clone_makes_processes_but_no_namespaces(flag: int) -> None:
    thread = 0x3D0F00
    assert x86(56, 17) == ALLOW
    assert x86(56, thread) == ALLOW
    assert x86(56, thread | flag) == EPERM
    assert x86(435, flag) == ENOSYS


@pytest.mark.parametrize(
    ("family", "protocol", "expected"),
    [
        (1, 0, ALLOW),
        (2, 6, ALLOW),
        (10, 17, ALLOW),
        (16, 0, ALLOW),
        (16, 15, EAFNOSUPPORT),
        (17, 0, EAFNOSUPPORT),
        (38, 0, EAFNOSUPPORT),
        (40, 0, EAFNOSUPPORT),
    ],
)
def test_sockets_are_local_or_internet_ones(family: int, protocol: int, expected: int) -> None:
    assert x86(41, family, 1, protocol) == expected


@pytest.mark.parametrize(("request_", "expected"), [(0x5412, EPERM), (0x541C, EPERM), (0x5401, ALLOW)])
def test_a_terminal_takes_no_typing_from_inside(request_: int, expected: int) -> None:
    assert x86(16, 0, request_) == expected
    assert x86(16, 0, request_ | 1 << 32) == expected  # the kernel looks at the low half only


@pytest.mark.parametrize(("persona", "expected"), [(0, ALLOW), (0xFFFFFFFF, ALLOW), (0x0040000, EPERM)])
def test_address_space_randomisation_cannot_be_switched_off(persona: int, expected: int) -> None:
    assert x86(135, persona) == expected


def test_the_other_machine_type_has_its_own_numbers() -> None:
    assert decide("aarch64", AARCH64, 40) == EPERM  # mount
    assert decide("aarch64", AARCH64, 220, 0x10000000) == EPERM  # clone of a user namespace
    assert decide("aarch64", AARCH64, 220, 17) == ALLOW
    assert decide("aarch64", AARCH64, 198, 40) == EAFNOSUPPORT
    assert decide("aarch64", AARCH64, 64) == ALLOW  # write
    assert decide("aarch64", X86_64, 64) == KILL


def test_both_machine_types_and_no_other_have_a_filter() -> None:
    assert set(seccomp_programs()) == {"x86_64", "aarch64"}
