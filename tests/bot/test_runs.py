import logging
from pathlib import Path

import pytest

from bot.runs import RunStore, read_manifest
from pipelines.errors import InfrastructureError, RefusalError
from pipelines.ledger import Ledger
from tests.bot.speech.test_pull_request import MANIFEST


@pytest.fixture
def store(data_dir: Path) -> RunStore:
    return RunStore(data_dir)


def test_a_run_that_began_is_found_by_the_same_work_until_it_ended(store: RunStore) -> None:
    run_id, ledger = store.begin(MANIFEST, "add-f")
    later = MANIFEST.model_copy(update={"started": MANIFEST.started.replace(year=2027)})
    assert store.unfinished(later) == run_id
    ledger.set_meta("state", "draft")
    assert store.unfinished(MANIFEST) is None


@pytest.mark.parametrize(
    "changed",
    [
        {"seed": 4},
        {"issue_text": b"# Add g"},
        {"base": "c" * 40},
        {"models": {"executor": "x"}},
        {"branch": "b"},
    ],
)
def test_other_work_is_another_run(store: RunStore, changed: dict[str, object]) -> None:
    store.begin(MANIFEST, "add-f")
    assert store.unfinished(MANIFEST.model_copy(update=changed)) is None


def test_the_manifest_comes_back_as_it_was_also_with_bytes_that_are_no_text(store: RunStore) -> None:
    odd = MANIFEST.model_copy(update={"issue_text": b"# caf\xe9 \x00\xff"})
    run_id, ledger = store.begin(odd, "odd")
    ledger.close()
    assert read_manifest(store.ledger(run_id)) == odd


def test_a_damaged_record_is_passed_over_and_named(store: RunStore, caplog: pytest.LogCaptureFixture) -> None:
    run_id, ledger = store.begin(MANIFEST, "add-f")
    ledger.close()
    _, other = store.begin(MANIFEST, "from-another-version")
    other.set_meta("manifest", '{"of": "another version"}')
    other.close()
    broken = store.folder / "broken" / "ledger.sqlite3"
    broken.parent.mkdir()
    broken.write_bytes(b"no database at all, far from it" * 50)
    empty = Ledger(store.folder / "empty" / "ledger.sqlite3")
    empty.close()
    with caplog.at_level(logging.WARNING):
        assert [item.run_id for item in store.summaries()] == [run_id]
    assert "broken" in caplog.text
    assert store.unfinished(MANIFEST) == run_id


def test_a_record_without_a_run_is_refused(store: RunStore) -> None:
    empty = Ledger(store.folder / "empty" / "ledger.sqlite3")
    with pytest.raises(RefusalError, match="not the record of a run"):
        read_manifest(empty)


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden"])
def test_names_that_leave_the_folder_are_refused(store: RunStore, name: str) -> None:
    with pytest.raises(RefusalError, match="issuewright runs"):
        store.path(name)


def test_a_body_that_cannot_be_kept_is_told(store: RunStore) -> None:
    run_id, _ = store.begin(MANIFEST, "add-f")
    store.write_body(run_id, "text")
    assert store.read_body(run_id) == "text"
    with pytest.raises(InfrastructureError, match=r"PULL_REQUEST\.md"):
        store.write_body("never-began", "text")
    with pytest.raises(InfrastructureError, match=r"PULL_REQUEST\.md"):
        store.read_body("never-began")
