"""Which limit is named for which end."""

import pytest

from sandbox import LimitKind, Output
from sandbox.verdict import Counters, limit_of


def named(
    exit_code: int, *, stopped: LimitKind | None = None, counters: Counters | None = None, said: str = ""
) -> LimitKind | None:
    return limit_of(
        exit_code,
        stopped=stopped,
        counters=counters or Counters(),
        stdout=Output(),
        stderr=Output(tail=said.encode()),
    )


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("MemoryError", LimitKind.MEMORY),
        ("terminate called after throwing an instance of 'std::bad_alloc'", LimitKind.MEMORY),
        ("fork: Cannot allocate memory", LimitKind.MEMORY),
        ("fork: retry: Resource temporarily unavailable", LimitKind.PROCESSES),
        ("BlockingIOError: [Errno 11] Resource temporarily unavailable", LimitKind.PROCESSES),
        ("RuntimeError: can't start new thread", LimitKind.PROCESSES),
        ("OSError: [Errno 28] No space left on device", LimitKind.DISK),
        ("OSError: [Errno 27] File too large", LimitKind.DISK),
        ("AssertionError", None),
        ("", None),
    ],
)
def test_what_a_failed_command_says_names_its_limit(said: str, limit: LimitKind | None) -> None:
    assert named(1, said=said) is limit
    assert named(0, said=said) is None


def test_only_the_last_words_count() -> None:
    assert named(1, said="MemoryError" + " " * 5000) is None


@pytest.mark.parametrize("limit", [LimitKind.OUTPUT, LimitKind.DISK, LimitKind.WALL])
def test_the_limit_for_which_it_was_killed_is_named(limit: LimitKind) -> None:
    assert named(137, stopped=limit, said="MemoryError") is limit


def test_what_the_kernel_counted_explains_a_hang_and_an_exit_code_of_zero() -> None:
    assert named(137, stopped=LimitKind.WALL, counters=Counters(refused_processes=1)) is LimitKind.PROCESSES
    assert named(0, counters=Counters(out_of_memory=1)) is LimitKind.MEMORY
    assert named(137, stopped=LimitKind.OUTPUT, counters=Counters(out_of_memory=1)) is LimitKind.OUTPUT


def test_a_file_size_signal_is_the_disk_limit() -> None:
    assert named(153) is LimitKind.DISK
