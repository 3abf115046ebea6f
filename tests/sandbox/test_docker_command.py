"""The runner's frames are understood however they are cut, and a lost end is no success."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sandbox import LimitKind, Limits
from sandbox.docker.command import RunnerReport, result_of, runner_argv
from sandbox.surroundings import BOX_ENV

LIMITS = Limits(output_bytes=100)
END = {
    "code": 0,
    "limit": None,
    "seconds": 0.5,
    "cpu": 0.25,
    "peak": 1000,
    "crowded": False,
    "disk_full": False,
    "notes": "",
    "out_of_memory": 0,
}


def frame(kind: str, payload: bytes) -> bytes:
    return kind.encode() + len(payload).to_bytes(4, "big") + payload


def fed(*chunks: bytes) -> RunnerReport:
    report = RunnerReport(LIMITS)
    for chunk in chunks:
        report.feed("stdout", chunk)
    return report


def ended(report: RunnerReport, **facts: Any) -> Any:
    told = {"stopped": None, "exit_code": 137, "seconds": 9.0, "out_of_memory": 0}
    return result_of(report, **(told | facts))


def stream(**changes: object) -> bytes:
    return frame("1", b"out") + frame("2", b"err") + frame("E", json.dumps(END | changes).encode())


@given(st.lists(st.integers(0, len(stream())), max_size=6))
def test_frames_may_be_cut_anywhere(cuts: list[int]) -> None:
    whole = stream()
    edges = [0, *sorted(cuts), len(whole)]
    report = fed(*(whole[start:end] for start, end in pairwise(edges)))
    result = ended(report)
    assert (result.exit_code, result.limit, result.ok) == (0, None, True)
    assert (result.stdout.text, result.stderr.text) == ("out", "err")
    assert (result.usage.wall_seconds, result.usage.cpu_seconds) == (0.5, 0.25)
    assert result.usage.peak_memory_bytes == 1000


@given(st.integers(0, len(stream()) - 1))
def test_a_report_that_breaks_off_is_never_a_success(length: int) -> None:
    result = ended(fed(stream()[:length]))
    assert (result.exit_code, result.ok) == (137, False)
    assert result.usage.wall_seconds == 9.0


def test_output_is_handed_on_as_it_comes_until_the_cap() -> None:
    seen: list[tuple[str, bytes]] = []
    report = RunnerReport(LIMITS, lambda name, chunk: seen.append((name, chunk)))
    report.feed("stdout", frame("1", b"a" * 60) + frame("2", b"b"))
    report.feed("stdout", frame("1", b"c" * 41))
    assert seen == [("stdout", b"a" * 60), ("stderr", b"b")]
    assert report.overflowed


def test_the_limit_that_the_runner_names_is_the_limit() -> None:
    result = ended(fed(stream(limit="wall", code=137)))
    assert (result.limit, result.exit_code) == (LimitKind.WALL, 137)


def test_a_full_process_table_tells_a_silent_fork_bomb_from_a_slow_command() -> None:
    assert ended(fed(stream(limit="wall", crowded=True))).limit is LimitKind.PROCESSES


def test_a_full_disk_and_killed_memory_are_named() -> None:
    assert ended(fed(stream(code=1, disk_full=True))).limit is LimitKind.DISK
    assert ended(fed(stream(code=0, disk_full=True))).limit is None
    assert ended(fed(stream(code=1)), out_of_memory=1).limit is LimitKind.MEMORY


def test_hosts_are_taken_from_the_notes() -> None:
    assert ended(fed(stream(notes="example.org\nexample.org\n"))).blocked_hosts == ("example.org",)


def test_a_refused_order_is_told_apart() -> None:
    assert fed(frame("R", b"cwd")).refused == "cwd"


def test_what_the_engine_says_in_the_runners_place_is_kept_short() -> None:
    report = RunnerReport(LIMITS)
    report.feed("stderr", b"x" * 5000)
    assert len(report.diagnosis) == 2000


def test_the_runner_gets_the_whole_order_and_nothing_of_our_environment() -> None:
    argv = runner_argv(["echo", "a b"], env={"X": "1"}, cwd="/work/d", limits=LIMITS)
    assert argv[:4] == ["python3", "-I", "-S", "-c"]
    assert (argv[5], argv[7:]) == ("1", ["echo", "a b"])
    settings = json.loads(argv[6])
    assert settings["env"] == {**BOX_ENV, "X": "1"}
    assert (settings["cwd"], settings["seconds"], settings["output_bytes"]) == ("/work/d", 60.0, 100)
    assert settings["rlimits"]["RLIMIT_NPROC"] == LIMITS.processes + 1


def test_an_order_that_is_too_long_for_one_argument_comes_in_pieces() -> None:
    env = {f"V{number}": "x" * 90_000 for number in range(3)}
    argv = runner_argv(["true"], env=env, cwd="/work", limits=LIMITS)
    pieces = int(argv[5])
    assert max(map(len, argv)) < 128 * 1024
    assert json.loads("".join(argv[6 : 6 + pieces]))["env"]["V2"] == "x" * 90_000
    assert argv[6 + pieces :] == ["true"]
