"""Runs git as a subprocess: argument lists only, no prompts, no hooks, no pager, English messages."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, cast

from pipelines.errors import InfrastructureError, RefusalError

MINIMUM_VERSION = (2, 31)
_TIMEOUT_SECONDS = 300
_OPTIONS = (
    "--no-pager",
    "--literal-pathspecs",
    *("-c", "core.quotePath=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.splitIndex=false"),
    *("-c", "index.sparse=false"),
    *("-c", "i18n.commitEncoding=UTF-8"),
)
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
    "LANGUAGE": "",
}


@dataclass(frozen=True, slots=True)
class GitResult:
    """How one git command ended."""

    exit_code: int
    stdout: bytes
    message: str
    """What git said on its error stream."""

    @property
    def line(self) -> str:
        """Standard output without its final newline."""
        return os.fsdecode(self.stdout.removesuffix(b"\n"))


@dataclass(frozen=True, slots=True)
class Git:
    """The git program, bound to the directory that its commands work in."""

    directory: Path
    executable: str = "git"

    def run(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> GitResult:
        """Run a command to its end, whatever its exit code.

        Raises RefusalError when git is not installed, InfrastructureError when it does not end.
        """
        with startable():
            try:
                done = subprocess.run(
                    self.argv(*args),
                    input=stdin,
                    env=git_environment(env),
                    capture_output=True,
                    timeout=_TIMEOUT_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired as error:
                raise InfrastructureError(
                    f"git {args[0]} in {self.directory} did not end within {_TIMEOUT_SECONDS} s; "
                    "check the disk and other git processes, then run again"
                ) from error
        return GitResult(done.returncode, done.stdout, error_text(done.stderr))

    def output(self, *args: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> GitResult:
        """Run a command that is expected to succeed; raises InfrastructureError with git's message."""
        result = self.run(*args, stdin=stdin, env=env)
        self.check(result, args[0])
        return result

    def check(self, result: GitResult, command: str) -> None:
        """Raise InfrastructureError with git's message unless the command succeeded."""
        if result.exit_code != 0:
            raise self._failure(command, result.message)

    @contextmanager
    def stream(self, *args: str, stdin: IO[bytes]) -> Iterator[IO[bytes]]:
        """Standard output of a running command that reads an open file; raises as `output` does."""
        with TemporaryFile() as errors:
            with startable():
                process = subprocess.Popen(
                    self.argv(*args),
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=git_environment(None),
                )
            with process:
                try:
                    yield cast(IO[bytes], process.stdout)
                except BaseException:
                    process.kill()
                    raise
            if process.returncode != 0:
                errors.seek(0)
                raise self._failure(args[0], error_text(errors.read()))

    def argv(self, *args: str) -> list[str]:
        """The whole command line of a git command."""
        return [self.executable, "-C", str(self.directory), *_OPTIONS, *args]

    def _failure(self, command: str, message: str) -> InfrastructureError:
        return InfrastructureError(
            f"git {command} failed in {self.directory}: {message or 'no message'}. "
            "Check that the repository is writable, the disk has room and no other git holds a lock; "
            "then run again"
        )


def check_version(text: str) -> None:
    """Raise RefusalError unless `git version` printed a version that has what we use."""
    found = re.search(r"(\d+)\.(\d+)", text)
    if found is None or (int(found[1]), int(found[2])) < MINIMUM_VERSION:
        wanted = ".".join(map(str, MINIMUM_VERSION))
        raise RefusalError(f"{text.strip() or 'this git'!r} is too old: install git {wanted} or newer")


@contextmanager
def startable() -> Iterator[None]:
    """Raise RefusalError where the block cannot start git."""
    try:
        yield
    except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
        raise RefusalError(
            f"git could not be started ({error.strerror}: {error.filename}): install git, "
            "make sure that it is on the PATH, and run again"
        ) from error


def git_environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    """The caller's environment; of git's own variables only where its configuration lies."""
    kept = ("GIT_CONFIG", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name.startswith(kept)
    }
    return inherited | _ENVIRONMENT | dict(extra or {})


def error_text(stderr: bytes) -> str:
    """What git said on its error stream, without its own prefix."""
    text = stderr.decode(errors="replace").strip()
    return text.removeprefix("fatal: ").removeprefix("error: ")
