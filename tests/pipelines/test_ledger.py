import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.errors import InfrastructureError, RefusalError
from pipelines.ledger import EntryKey, Ledger, Stored

KEY = EntryKey("model", "root/greedy", "abc", 0)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "run" / "ledger.sqlite3")


def test_a_call_that_was_never_stored_is_not_found(ledger: Ledger) -> None:
    assert ledger.find(KEY) is None


def test_a_stored_call_is_found_by_its_exact_key_only(ledger: Ledger) -> None:
    ledger.store(KEY, Stored("answer", 1.5), label="greedy", request="{}")
    assert ledger.find(KEY) == Stored("answer", 1.5)
    for other in (
        KEY._replace(kind="sandbox"),
        KEY._replace(branch="root/sample-1"),
        KEY._replace(digest="abd"),
        KEY._replace(occurrence=1),
    ):
        assert ledger.find(other) is None


def test_one_key_is_stored_once(ledger: Ledger) -> None:
    ledger.store(KEY, Stored("first", 0), label="", request="")
    with pytest.raises(InfrastructureError, match="UNIQUE"):
        ledger.store(KEY, Stored("second", 0), label="", request="")
    assert ledger.find(KEY) == Stored("first", 0)


def test_facts_and_decisions_are_kept(ledger: Ledger) -> None:
    ledger.set_meta("state", "unfinished")
    ledger.set_meta("state", {"now": [1, "é"]})
    ledger.decide("root", 1, "later", "why")
    ledger.decide("root", 0, "first", "why")
    ledger.decide("root", 0, "first", "said again by a repetition")
    assert ledger.meta("state") == {"now": [1, "é"]}
    assert ledger.meta("other") is None
    assert [(d.number, d.what, d.why) for d in ledger.decisions()] == [
        (0, "first", "said again by a repetition"),
        (1, "later", "why"),
    ]


def test_entries_come_in_the_order_they_were_stored(ledger: Ledger) -> None:
    for number, branch in enumerate(["b", "a", "c"]):
        ledger.store(KEY._replace(branch=branch), Stored("", number), label=f"call {number}", request="")
    assert [entry.label for entry in ledger.entries()] == ["call 0", "call 1", "call 2"]


def test_what_was_stored_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    program = (
        "import os, signal, sys; from pathlib import Path; from pipelines.ledger import *;"
        "ledger = Ledger(Path(sys.argv[1]));"
        "ledger.store(EntryKey('model', 'root/greedy', 'abc', 0), Stored('kept', 0.0), label='', request='');"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    assert done.returncode == -9
    assert Ledger.open_existing(path).find(KEY) == Stored("kept", 0.0)


def test_a_missing_ledger_is_refused_with_where_to_look(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match="issuewright runs"):
        Ledger.open_existing(tmp_path / "none.sqlite3")


def test_a_file_that_is_no_ledger_is_an_infrastructure_error(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(b"not a database, but long enough to be taken for one" * 40)
    with pytest.raises(InfrastructureError, match=r"ledger\.sqlite3"):
        Ledger(path)


def test_another_format_is_refused(ledger: Ledger) -> None:
    ledger.close()
    with sqlite3.connect(ledger.path) as db:
        db.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    db.close()
    with pytest.raises(RefusalError, match="format 99"):
        Ledger.open_existing(ledger.path)
