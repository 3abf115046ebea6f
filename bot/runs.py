"""The runs of this machine: one folder each, with the Ledger and what was written about it."""

import fcntl
import hashlib
import logging
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from pipelines.budget import Budget
from pipelines.errors import InfrastructureError, PipelineError, RefusalError
from pipelines.ledger import Ledger

_log = logging.getLogger(__name__)


class RunBusy(RefusalError, InfrastructureError):
    """Another process works on the run: a person had better wait, a service tries again later."""


class Manifest(BaseModel):
    """Everything that decides a Run, so that it can be resumed and replayed."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64")

    issue_path: str
    issue_text: bytes
    repository: str
    base: str
    models: dict[str, str]
    """What answers for each role: a server and its model's name, or `embedded`."""
    strategy: str
    parameters: dict[str, object]
    seed: int
    budget: Budget
    author_name: str
    author_email: str
    branch: str | None
    """Asked for on the command line; None lets the title decide."""
    issue: int | None = None
    """The issue's number on GitHub."""
    started: datetime
    version: str
    prompts: str
    """SHA-256 over the prompt files."""

    def identity(self) -> str:
        """Equal for two starts of the same work; when they started does not count."""
        rest = self.model_dump_json(exclude={"started"})
        return hashlib.sha256(rest.encode()).hexdigest()


class RunSummary(BaseModel):
    """A line of `issuewright runs`."""

    run_id: str
    identity: str
    title: str
    state: str
    started: datetime
    branch: str


class RunStore:
    """Folders of runs below `<data>/runs`."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir / "runs"

    def path(self, run_id: str) -> Path:
        """The folder of a run. Raises RefusalError for a name that is not a run's."""
        if not run_id or "/" in run_id or run_id.startswith("."):
            raise RefusalError(f"{run_id!r} is not the name of a run; `issuewright runs` lists them")
        return self.folder / run_id

    def ledger(self, run_id: str) -> Ledger:
        """The Ledger of an existing run."""
        return Ledger.open_existing(self.path(run_id) / "ledger.sqlite3")

    def begin(self, manifest: Manifest, slug: str) -> tuple[str, Ledger]:
        """A new run with its empty Ledger."""
        run_id = f"{manifest.started:%Y%m%d}-{slug[:32]}-{secrets.token_hex(3)}"
        return run_id, self.begin_named(run_id, manifest)

    def begin_named(self, run_id: str, manifest: Manifest) -> Ledger:
        """A new run of this name."""
        ledger = Ledger(self.path(run_id) / "ledger.sqlite3")
        ledger.set_meta("manifest", manifest.model_dump_json())
        ledger.set_meta("identity", manifest.identity())
        ledger.set_meta("state", "unfinished")
        return ledger

    def begun(self, run_id: str) -> bool:
        """Whether there is a run of this name with its manifest."""
        path = self.path(run_id) / "ledger.sqlite3"
        if not path.is_file():
            return False
        with closing(self.ledger(run_id)) as ledger:
            return ledger.meta("state") is not None

    def unfinished(self, manifest: Manifest) -> str | None:
        """The latest run of the same work that did not come to its end."""
        identity = manifest.identity()
        found = (s.run_id for s in self.summaries() if s.identity == identity and s.state == "unfinished")
        return next(found, None)

    def summaries(self) -> list[RunSummary]:
        """All runs, the latest first; a damaged or foreign record must not be in the way of the others."""
        found = []
        for run_id in self._ids():
            try:
                with closing(self.ledger(run_id)) as ledger:
                    found.append(_summary(run_id, ledger))
            except (PipelineError, sqlite3.Error, ValueError) as error:
                _log.warning(
                    "run %s is passed over, its record cannot be read (%s)", run_id, type(error).__name__
                )
        return found

    def write_body(self, run_id: str, body: str) -> None:
        """Keep the pull request's text with the run. Raises InfrastructureError."""
        path = self.path(run_id) / "PULL_REQUEST.md"
        try:
            path.write_text(body, encoding="utf-8")
        except OSError as error:
            raise InfrastructureError(f"{path} cannot be written: {error.strerror}") from error

    def _ids(self) -> list[str]:
        """Names of the runs, the latest first."""
        files = sorted(
            self.folder.glob("*/ledger.sqlite3"), key=lambda path: path.stat().st_mtime, reverse=True
        )
        return [path.parent.name for path in files]

    def read_body(self, run_id: str) -> str:
        """The pull request's text of a finished run. Raises InfrastructureError when it is gone."""
        path = self.path(run_id) / "PULL_REQUEST.md"
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise InfrastructureError(f"{path} cannot be read: {error.strerror}") from error

    @contextmanager
    def lock(self, run_id: str) -> Iterator[None]:
        """Hold a run alone, also one that is about to begin. Raises RunBusy."""
        path = self.path(run_id) / "lock"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("w")
        except OSError as error:
            raise InfrastructureError(f"the run's folder {path.parent} cannot be written: {error}") from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise RunBusy(
                    f"another process is working on run {run_id}; wait for it or stop it"
                ) from error
            yield


def read_manifest(ledger: Ledger) -> Manifest:
    """The manifest of a run. Raises RefusalError when the record holds none."""
    stored = ledger.meta("manifest")
    if stored is None:
        raise RefusalError(f"{ledger.path} is not the record of a run")
    return Manifest.model_validate_json(stored)


def _summary(run_id: str, ledger: Ledger) -> RunSummary:
    manifest = read_manifest(ledger)
    first_line = manifest.issue_text.decode(errors="replace").strip().splitlines()
    return RunSummary(
        run_id=run_id,
        identity=str(ledger.meta("identity")),
        title=(first_line[0] if first_line else "").lstrip("# "),
        state=str(ledger.meta("state")),
        started=manifest.started,
        branch=str(ledger.meta("branch") or ""),
    )


def now() -> datetime:
    """The present second, in UTC."""
    return datetime.now(UTC).replace(microsecond=0)
