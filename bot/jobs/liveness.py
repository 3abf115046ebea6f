"""Which workers are alive: each holds a lock under its own name, which falls with its process.

DBOS leaves the workflows of a dead worker to whoever comes with its name; nothing takes them over by itself.
So names are slots that a restarted worker takes again, and whoever can take another's lock knows it dead.
"""

import fcntl
import hashlib
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Protocol

import psycopg

from pipelines.errors import InfrastructureError


class Liveness(Protocol):
    """Locks by the name of a worker."""

    def hold(self, name: str) -> AbstractContextManager[bool]:
        """Take the lock while the context lasts; False where a living process has it."""
        ...


class FileLiveness:
    """Locks on files, for workers of one machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def hold(self, name: str) -> Iterator[bool]:
        """As `Liveness.hold`."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            file = (self._folder / f"{name}.lock").open("w")
        except OSError as error:
            raise InfrastructureError(f"{self._folder} cannot be written: {error.strerror}") from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True


class PostgresLiveness:
    """Advisory locks, each on a connection of its own, for workers anywhere."""

    def __init__(self, url: str) -> None:
        self._url = url

    @contextmanager
    def hold(self, name: str) -> Iterator[bool]:
        """As `Liveness.hold`."""
        with ExitStack() as stack:
            try:
                connection = stack.enter_context(psycopg.connect(self._url, autocommit=True))
                row = connection.execute("SELECT pg_try_advisory_lock(%s)", (_lock_number(name),)).fetchone()
            except psycopg.Error as error:
                raise InfrastructureError(
                    "the database of the jobs cannot be reached: check ISSUEWRIGHT_SERVICE__DATABASE_URL"
                ) from error
            yield bool(row and row[0])


@contextmanager
def own_name(liveness: Liveness, *, host: str | None = None) -> Iterator[str]:
    """The first free slot of this machine, `host-0`, `host-1`, ..., held while the context lasts."""
    machine = host or socket.gethostname()
    for number in count():
        name = f"{machine}-{number}"
        with liveness.hold(name) as held:
            if held:
                yield name
                return


def is_dead(liveness: Liveness, name: str) -> bool:
    """Whether no living process has this name."""
    with liveness.hold(name) as held:
        return held


def _lock_number(name: str) -> int:
    digest = hashlib.sha256(f"issuewright-worker:{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
