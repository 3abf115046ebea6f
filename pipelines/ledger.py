"""The durable record of a Run: every model call and sandbox execution, stored before its result is used.

One SQLite file per Run. Entries are keyed by the branch of the Run, the hash of the exact request and its
occurrence, so a Run that repeats its code after a crash finds each finished call again (design section 3).
"""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pipelines.errors import InfrastructureError, RefusalError

EntryKind = Literal["model", "sandbox"]

SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS entries (
    kind TEXT NOT NULL, branch TEXT NOT NULL, digest TEXT NOT NULL, occurrence INTEGER NOT NULL,
    label TEXT NOT NULL, request TEXT NOT NULL, result TEXT NOT NULL, seconds REAL NOT NULL,
    failure TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (kind, branch, digest, occurrence)
);
CREATE TABLE IF NOT EXISTS decisions (
    branch TEXT NOT NULL, number INTEGER NOT NULL, what TEXT NOT NULL, why TEXT NOT NULL,
    PRIMARY KEY (branch, number)
);
"""


class EntryKey(NamedTuple):
    """What identifies an entry."""

    kind: EntryKind
    branch: str
    digest: str
    occurrence: int


class Entry(NamedTuple):
    """One finished call."""

    key: EntryKey
    label: str
    request: str
    result: str
    seconds: float
    created: str


class Stored(NamedTuple):
    """A finished call's result and how long it took, or why there is none."""

    result: str
    seconds: float
    failure: Literal["", "budget", "model"] = ""
    """Who refused: the Budget, or the model whose answer could not be used; `result` then says why."""


class Decision(NamedTuple):
    """A choice that a strategy made, with its reason."""

    branch: str
    number: int
    what: str
    why: str


class Ledger:
    """The record of one Run, in one SQLite file."""

    def __init__(self, path: Path) -> None:
        """Open or create the file; raises InfrastructureError when it cannot be written or read."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise InfrastructureError(f"the ledger {path} cannot be opened: {error}") from error
        self._check_version()

    @classmethod
    def open_existing(cls, path: Path) -> "Ledger":
        """Open a finished or interrupted Run's record; raises RefusalError when there is none."""
        if not path.is_file():
            raise RefusalError(
                f"there is no ledger at {path}; `issuewright runs` lists the runs of this machine"
            )
        return cls(path)

    def _check_version(self) -> None:
        version = self.meta("schema_version")
        if version is None:
            self.set_meta("schema_version", SCHEMA_VERSION)
        elif version != SCHEMA_VERSION:
            raise RefusalError(
                f"the ledger {self.path} has format {version}, this issuewright reads {SCHEMA_VERSION}: "
                "use the version that wrote it"
            )

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def meta(self, key: str) -> Any:
        """A stored fact about the Run, or None."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None

    def set_meta(self, key: str, value: Any) -> None:
        """Store a fact about the Run."""
        self._write("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))

    def find(self, key: EntryKey) -> Stored | None:
        """The stored result of a finished call, or None."""
        row = self._db.execute(
            "SELECT result, seconds, failure FROM entries"
            " WHERE kind = ? AND branch = ? AND digest = ? AND occurrence = ?",
            key,
        ).fetchone()
        return Stored(*row) if row else None

    def store(self, key: EntryKey, stored: Stored, *, label: str, request: str) -> None:
        """Store a finished call; it is on disk when this returns."""
        self._write(
            "INSERT INTO entries (kind, branch, digest, occurrence, label, request, result, seconds, failure)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*key, label, request, *stored),
        )

    def decide(self, branch: str, number: int, what: str, why: str) -> None:
        """Record a decision; a repeated run writes the same one again."""
        self._write("INSERT OR REPLACE INTO decisions VALUES (?, ?, ?, ?)", (branch, number, what, why))

    def entries(self) -> Iterator[Entry]:
        """All finished calls in the order they were stored."""
        rows = self._db.execute(
            "SELECT kind, branch, digest, occurrence, label, request, result, seconds, created"
            " FROM entries ORDER BY rowid"
        )
        for kind, branch, digest, occurrence, *rest in rows:
            yield Entry(EntryKey(kind, branch, digest, occurrence), *rest)

    def decisions(self) -> list[Decision]:
        """All decisions, by branch and number."""
        return [Decision(*row) for row in self._db.execute("SELECT * FROM decisions ORDER BY branch, number")]

    def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        try:
            self._db.execute(statement, values)
        except sqlite3.Error as error:
            raise InfrastructureError(f"the ledger {self.path} cannot be written: {error}") from error
