"""Reading the authenticated records, without a box."""

import hmac
import json
from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from sandbox import ExecResult, LimitKind, Usage
from sandbox.pytest_report import read_records, summarize

KEY = b"k" * 32
RECORDS: list[dict[str, object]] = [
    {"kind": "items", "nodes": ["t.py::a", "t.py::b"]},
    {"kind": "start", "node": "t.py::a"},
    {"kind": "phase", "node": "t.py::a", "when": "call", "outcome": "passed", "seconds": 0.5, "message": ""},
    {"kind": "end", "node": "t.py::a"},
    {"kind": "finish", "status": 0},
]


def written(records: Sequence[Mapping[str, object]], key: bytes = KEY) -> list[bytes]:
    lines, mac = [], ""
    for record in records:
        data = json.dumps(record)
        mac = hmac.new(key, (mac + data).encode(), "sha256").hexdigest()
        lines.append(json.dumps([mac, data]).encode() + b"\n")
    return lines


def ended(exit_code: int = 0, limit: LimitKind | None = None) -> ExecResult:
    return ExecResult(exit_code=exit_code, limit=limit, usage=Usage(wall_seconds=1.0))


def test_what_was_written_is_read() -> None:
    assert read_records(b"".join(written(RECORDS)), KEY) == RECORDS
    assert read_records(b"".join(written(RECORDS, b"other key")), KEY) == []
    assert read_records(b"", KEY) == []


@given(st.integers(min_value=0, max_value=len(RECORDS) - 1))
def test_a_dropped_record_ends_the_report(position: int) -> None:
    lines = written(RECORDS)
    del lines[position]
    assert read_records(b"".join(lines), KEY) == RECORDS[:position]


@given(st.data())
def test_one_changed_byte_ends_the_report_before_it(data: st.DataObject) -> None:
    report = bytearray(b"".join(written(RECORDS)))
    position = data.draw(st.integers(min_value=0, max_value=len(report) - 1))
    report[position] ^= data.draw(st.integers(min_value=1, max_value=255))
    intact = bytes(report)[:position].count(b"\n")
    assert len(read_records(bytes(report), KEY)) <= len(RECORDS)
    assert read_records(bytes(report), KEY)[:intact] == RECORDS[:intact]
    assert all(record in RECORDS for record in read_records(bytes(report), KEY))


@given(st.binary(max_size=300))
def test_no_bytes_raise_or_pass(report: bytes) -> None:
    assert read_records(report, KEY) == []
    assert read_records(b"[1]\n[null, null]\n{}\n" + report, KEY) == []


def test_a_test_without_an_end_is_not_run() -> None:
    report = summarize(RECORDS, ended())
    assert [(outcome.node_id, outcome.status) for outcome in report.outcomes] == [
        ("t.py::a", "passed"),
        ("t.py::b", "not_run"),
    ]
    assert report.outcomes[0].seconds == 0.5
    assert report.complete
    assert not report.passed


def test_without_a_finish_the_report_is_not_complete() -> None:
    report = summarize(RECORDS[:-1], ended())
    assert not report.complete
    assert "exit code 0" in report.diagnosis


def test_a_test_without_its_call_did_not_pass() -> None:
    setup = {**RECORDS[2], "when": "setup"}
    report = summarize([*RECORDS[:2], setup, *RECORDS[3:]], ended())
    assert report.outcomes[0].status == "not_run"


def test_the_test_in_progress_gets_the_reason_of_the_end() -> None:
    assert summarize(RECORDS[:2], ended(137, LimitKind.WALL)).outcomes[0].status == "timeout"
    assert summarize(RECORDS[:2], ended(137, LimitKind.MEMORY)).outcomes[0].message == "hit the memory limit"
    assert "139" in summarize(RECORDS[:2], ended(139)).outcomes[0].message


def test_statuses_of_pytest_that_are_no_result_are_not_complete() -> None:
    for status in (2, 3, 4):
        report = summarize([*RECORDS[:-1], {"kind": "finish", "status": status}], ended(status))
        assert not report.complete
        assert f"status {status}" in report.diagnosis
