"""Real git repositories to try things on."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.git.repository import CommitDetails, GitRepository

WHEN = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
_IDENTITY = ("-c", "user.name=Maintainer", "-c", "user.email=maintainer@example.org")


@dataclass(frozen=True)
class Scratch:
    """A repository as its maintainer has it, driven by the git command."""

    path: Path

    def git(self, *args: str, stdin: bytes = b"") -> str:
        command = ["git", "-C", str(self.path), *_IDENTITY, *args]
        done = subprocess.run(command, input=stdin, capture_output=True, check=False)
        assert done.returncode == 0, (args, done.returncode, done.stdout, done.stderr)
        return done.stdout.decode(errors="surrogateescape").strip()

    def write(self, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def add_commit(self, files: Mapping[str, bytes], message: str = "Change") -> str:
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def files_at(self, revision: str) -> dict[str, bytes]:
        names = self.git("ls-tree", "-r", "-z", "--name-only", revision).split("\0")
        show = ["git", "-C", str(self.path), "cat-file", "blob"]
        return {
            name: subprocess.run([*show, f"{revision}:{name}"], capture_output=True, check=True).stdout
            for name in names
            if name
        }

    def state(self) -> tuple[str, ...]:
        """All that a person sees of their repository: changes, HEAD, index and the files on the disk."""
        on_disk = sorted(
            f"{path.relative_to(self.path)} {path.lstat().st_mode} {path.lstat().st_mtime_ns}"
            for path in self.path.rglob("*")
            if ".git" not in path.relative_to(self.path).parts
        )
        head = (self.path / ".git/HEAD").read_text()
        index = self.git("ls-files", "--stage", "-z")
        return (self.git("status", "--porcelain", "-z"), head, index, self.git("stash", "list"), *on_disk)

    def git_files(self) -> set[str]:
        """Files in git's own directory except objects, which nothing may refer to."""
        inside = self.path / ".git"
        found = {str(path.relative_to(inside)) for path in inside.rglob("*") if path.is_file()}
        return {name for name in found if not name.startswith("objects/")}


def use_own_configuration(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep git away from the configuration and the repositories around the test."""
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(home.parent))


def new_scratch(path: Path, files: Mapping[str, bytes] | None = None) -> Scratch:
    path.mkdir(parents=True)
    scratch = Scratch(path)
    scratch.git("init", "--quiet", "--initial-branch=main")
    scratch.add_commit({"README.md": b"hello\n"} if files is None else files, "Start")
    return scratch


def commit_files(
    repository: GitRepository, files: Mapping[str, bytes], *, branch: str = "issuewright/new", base: str = ""
) -> str:
    return repository.commit(
        base=base or repository.base().commit,
        branch=branch,
        files=files,
        details=CommitDetails(
            message="Add a module\n\nCloses #1\n",
            author_name="issuewright",
            author_email="issuewright@example.org",
            when=WHEN,
        ),
    )


def git_program(folder: Path, script: str) -> str:
    """A program that runs before, or instead of, the real git; `$REAL` is that one."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "git"
    real = next(
        candidate
        for entry in os.environ["PATH"].split(os.pathsep)
        if (candidate := Path(entry) / "git").is_file()
    )
    program.write_text(f"#!/bin/sh\nREAL='{real}'\n{script}\n")
    program.chmod(0o755)
    return str(program)
