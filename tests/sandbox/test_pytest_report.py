"""Reading the authenticated records, without a box."""

import json
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import ExecResult, LimitKind, TestReport, Usage
from sandbox.testing.reading import read_coverage, read_records, summarize
from sandbox.testing.writer import open_report

KEY = b"k" * 32
A, B = "t.py::a", "t.py::b"
RECORDS: list[list[Any]] = [
    ["collecting", "t.py"],
    ["collected", "t.py", "passed", ""],
    ["items", [A, B]],
    ["start", 0],
    ["phase", "setup", "passed", 0.25, ""],
    ["phase", "call", "passed", 0.5, ""],
    ["phase", "teardown", "passed", 0.125, ""],
    ["end"],
    ["start", 1],
    ["phase", "setup", "passed", 0.0, ""],
    ["phase", "call", "failed", 0.0, "assert 1 == 2"],
    ["phase", "teardown", "passed", 0.0, ""],
    ["end"],
    ["finish", 1],
]


def written(records: Sequence[list[Any]], key: bytes = KEY) -> list[bytes]:
    """One block for each record."""
    lines, mac = [], b""
    for record in records:
        data = json.dumps([record]).encode()
        mac = blake2b(mac + data, key=key, digest_size=16).hexdigest().encode()
        lines.append(mac + b" " + data + b"\n")
    return lines


def ended(exit_code: int = 0, limit: LimitKind | None = None) -> ExecResult:
    return ExecResult(exit_code=exit_code, limit=limit, usage=Usage(wall_seconds=1.0), blocked_hosts=("a.b",))


def statuses(report: TestReport) -> dict[str, str]:
    return {outcome.node_id: outcome.status for outcome in report.outcomes}


def without(*removed: int) -> list[list[Any]]:
    return [record for index, record in enumerate(RECORDS) if index not in removed]


def test_what_was_written_is_read() -> None:
    assert read_records(b"".join(written(RECORDS)), KEY) == RECORDS
    assert read_records(b"".join(written(RECORDS, b"other key")), KEY) == []
    assert read_records(b"", KEY) == []


@given(st.integers(min_value=0, max_value=len(RECORDS) - 1))
def test_a_dropped_block_ends_the_report(position: int) -> None:
    lines = written(RECORDS)
    del lines[position]
    assert read_records(b"".join(lines), KEY) == RECORDS[:position]


@given(st.permutations(range(len(RECORDS))))
def test_blocks_are_read_in_their_order_only(order: Sequence[int]) -> None:
    lines = written(RECORDS)
    in_place = next((place for place, index in enumerate(order) if place != index), len(order))
    assert read_records(b"".join(lines[index] for index in order), KEY) == RECORDS[:in_place]


@given(st.data())
def test_one_changed_byte_ends_the_report_before_it(data: st.DataObject) -> None:
    report = bytearray(b"".join(written(RECORDS)))
    position = data.draw(st.integers(min_value=0, max_value=len(report) - 1))
    report[position] ^= data.draw(st.integers(min_value=1, max_value=255))
    intact = bytes(report)[:position].count(b"\n")
    assert read_records(bytes(report), KEY) in (RECORDS[:intact], RECORDS[: intact + 1])


@given(st.binary(max_size=300))
def test_no_bytes_raise_or_are_believed(report: bytes) -> None:
    assert read_records(report, KEY) == []
    assert read_records(b"[1]\nnull null\n{}\n" + report, KEY) == []


def test_the_writer_is_understood(tmp_path: Path) -> None:
    emit = open_report(str(tmp_path / "report"), KEY)
    for number, record in enumerate(RECORDS):
        emit(list(record), number % 3 == 1 or record[0] == "finish")
    assert read_records((tmp_path / "report").read_bytes(), KEY) == RECORDS
    with pytest.raises(FileExistsError):
        open_report(str(tmp_path / "report"), KEY)


def test_what_is_not_flushed_is_not_written(tmp_path: Path) -> None:
    emit = open_report(str(tmp_path / "report"), KEY)
    emit(["end"], False)
    assert (tmp_path / "report").read_bytes() == b""


@pytest.mark.parametrize("text", ["\x00\n\r\u2028 \udc80 é 日本 \U0001f600", '"]] ["finish",0]'])
def test_any_text_is_written_on_one_line(tmp_path: Path, text: str) -> None:
    emit = open_report(str(tmp_path / "report"), KEY)
    emit(["phase", "call", "failed", 0.0, text], True)
    assert (tmp_path / "report").read_bytes().count(b"\n") == 1
    assert read_records((tmp_path / "report").read_bytes(), KEY) == [["phase", "call", "failed", 0.0, text]]


@pytest.mark.parametrize(("outcome", "message"), [("passed", ""), ("failed", "x" * 2000)])
def test_the_report_of_20000_tests_fits(tmp_path: Path, outcome: str, message: str) -> None:
    emit = open_report(str(tmp_path / "report"), KEY)
    nodes = [
        f"tests/unit/package/test_some_module.py::TestSome::test_case[{n}-parameter]" for n in range(20_000)
    ]
    emit(["items", nodes], True)
    for index in range(len(nodes)):
        emit(["start", index], True)
        for when, what in (("setup", "passed"), ("call", outcome), ("teardown", "passed")):
            emit(["phase", when, what, 0.000123, message if what == "failed" else ""], False)
        emit(["end"], False)
    emit(["finish", 0], True)
    report = (tmp_path / "report").read_bytes()
    assert len(report) < 8 * 1024 * 1024
    summary = summarize(read_records(report, KEY), ended())
    assert {outcome.status for outcome in summary.outcomes} == {outcome}
    assert summary.outcomes[0].message == message
    assert len(summary.outcomes) == 20_000
    assert summary.complete


def test_each_test_has_its_outcome_and_its_times() -> None:
    report = summarize(RECORDS, ended())
    assert statuses(report) == {A: "passed", B: "failed"}
    first, second = report.outcomes
    assert (first.setup_seconds, first.call_seconds, first.teardown_seconds) == (0.25, 0.5, 0.125)
    assert first.seconds == 0.875
    assert second.message == "assert 1 == 2"
    assert (report.complete, report.passed, report.diagnosis) == (True, False, "")
    assert report.blocked_hosts == ("a.b",)


def test_all_passed_is_passed() -> None:
    good = [
        ["phase", "call", "passed", 0.0, ""] if record[2:3] == ["failed"] else record for record in RECORDS
    ]
    assert summarize([*good[:-1], ["finish", 0]], ended()).passed


def test_a_collected_test_that_did_not_run_makes_the_report_incomplete() -> None:
    report = summarize([*RECORDS[:8], ["finish", 0]], ended())
    assert statuses(report) == {A: "passed", B: "not_run"}
    assert not report.complete
    assert B in report.diagnosis


def test_without_a_finish_the_report_is_not_complete() -> None:
    report = summarize(RECORDS[:-1], ended())
    assert not report.complete
    assert "exit code 0" in report.diagnosis


def test_a_test_without_its_call_did_not_pass() -> None:
    assert statuses(summarize(without(5), ended()))[A] == "not_run"


def test_only_the_last_attempt_at_a_test_counts() -> None:
    attempt = RECORDS[9:12]
    again = [["phase", "setup", "passed", 0.0, ""], ["phase", "call", "passed", 0.0, ""]]
    assert statuses(summarize([*RECORDS[:9], *attempt, *again, *RECORDS[12:]], ended()))[B] == "passed"


def test_of_two_tests_with_one_name_the_worse_counts() -> None:
    twice: list[list[Any]] = [["items", [A, A]] if record[0] == "items" else record for record in RECORDS]
    backwards = [["start", 1 - record[1]] if record[0] == "start" else record for record in twice]
    for records in (twice, backwards):
        assert statuses(summarize(records, ended())) == {A: "failed"}
    lost = summarize([*twice[:8], ["finish", 0]], ended())
    assert statuses(lost) == {A: "not_run"}
    assert not lost.complete


@pytest.mark.parametrize("when", ["setup", "call", "teardown"])
def test_a_failure_is_an_error_unless_the_test_itself_failed(when: str) -> None:
    position = next(n for n, record in enumerate(RECORDS) if record[:2] == ["phase", when])
    records = list(RECORDS)
    records[position] = ["phase", when, "failed", 0.0, "why"]
    outcome = summarize(records, ended()).outcomes[0]
    assert (outcome.status, outcome.message) == ("failed" if when == "call" else "error", "why")


def test_tampering_is_an_error_of_its_test_and_of_all_that_follow() -> None:
    bad = ["phase", "call", "tampered", 0.0, ""]
    report = summarize([*RECORDS[:5], ["tampered", "isinstance was replaced"], bad, *RECORDS[6:]], ended())
    assert report.outcomes[0].status == "error"
    assert report.outcomes[0].message == "tampered with pytest: isinstance was replaced"
    assert not report.complete
    assert report.diagnosis == "tampered with pytest: isinstance was replaced"


def test_tampering_during_a_collection_is_an_error_of_its_file() -> None:
    report = summarize([RECORDS[0], ["tampered", "x"], *RECORDS[1:]], ended())
    assert report.outcomes[0].node_id == "t.py"
    assert report.outcomes[0].status == "error"


@pytest.mark.parametrize(
    ("result", "status", "message"),
    [
        (ended(137, LimitKind.WALL), "timeout", "ran until the time limit"),
        (ended(137, LimitKind.MEMORY), "error", "hit the memory limit"),
        (ended(139), "error", "the process ended here, with exit code 139"),
    ],
)
def test_the_test_in_progress_gets_the_reason_of_the_end(
    result: ExecResult, status: str, message: str
) -> None:
    outcome = summarize(RECORDS[:4], result).outcomes[0]
    assert (outcome.status, outcome.message) == (status, message)


def test_statuses_of_pytest_that_are_no_result_are_not_complete() -> None:
    for status in (2, 3, 4):
        report = summarize([*RECORDS[:-1], ["finish", status]], ended(status))
        assert not report.complete
        assert f"status {status}" in report.diagnosis


def coverage_json() -> Iterator[tuple[bytes | None, bool]]:
    figures = {
        "executed_lines": [1, 2],
        "missing_lines": [3],
        "missing_branches": [[2, 3], [2, -1]],
        "summary": {"percent_covered": 60.0},
    }
    yield json.dumps({"files": {"/work/a.py": figures, "b.py": figures}}).encode(), True
    for spoiled in (
        None,
        b"",
        b"[]",
        b'{"files": []}',
        b'{"files": {"a.py": {}}}',
        b"\xff",
        b'{"files": {"a": 1}}',
    ):
        yield spoiled, False
    yield json.dumps({"files": {"a.py": {**figures, "missing_branches": [1]}}}).encode(), False


@pytest.mark.parametrize(("measured", "good"), list(coverage_json()))
def test_coverage_is_read_or_is_none(measured: bytes | None, good: bool) -> None:
    coverage = read_coverage(measured, "/work")
    if not good:
        assert coverage is None
        return
    assert coverage is not None
    assert set(coverage) == {"a.py", "b.py"}
    assert coverage["a.py"].executed == (1, 2)
    assert coverage["a.py"].missing == (3,)
    assert coverage["a.py"].missing_branches == ((2, 3), (2, -1))
    assert coverage["a.py"].percent == 60.0
