"""What a strategy works on: the requirement, in its place in the repository."""

from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.candidate import Candidate, TestCase
from pipelines.repository import Layout, RepositorySnapshot, Target
from pipelines.repository.conventions import conventions
from pipelines.repository.rules import NO_RULES, RepositoryRules
from pipelines.requirement.types import Requirement
from sandbox.paths import why_refused


@dataclass(frozen=True)
class Task:
    """A requirement with its place in a repository and its given tests."""

    requirement: Requirement
    snapshot: RepositorySnapshot
    layout: Layout
    targets: tuple[Target, ...]
    given: tuple[TestCase, ...]
    written: tuple[TestCase, ...] = ()
    """Tests that the model wrote beforehand, where the issue gives none: their calls feed the vote."""
    rules: RepositoryRules = NO_RULES

    @property
    def modules(self) -> dict[str, str]:
        """Import name of each target by its path."""
        return {target.path: target.module for target in self.targets}

    @property
    def test_path(self) -> str:
        """Where the new tests are written."""
        return self.targets[0].test_path

    @property
    def planned_paths(self) -> tuple[str, ...]:
        """Every file that the Run may write."""
        inits = [] if self.requirement.is_program else [i for t in self.targets for i in t.new_package_inits]
        return (*(target.path for target in self.targets), *inits, self.test_path)

    def conventions(self, path: str) -> str:
        """What the repository's `AGENTS.md` files say about code at this path, or ''."""
        return conventions(self.snapshot, path)

    def existing(self, path: str) -> str:
        """The text that a target has on the base, or ''."""
        return self.snapshot.files.get(path, b"").decode("utf-8", errors="replace")

    def complete_files(self, candidate: Candidate) -> dict[str, str]:
        """The candidate's files and the `__init__.py` files that new packages need; a program needs none."""
        if self.requirement.is_program:
            return dict(candidate.files)
        inits = {init: "" for target in self.targets for init in target.new_package_inits}
        return inits | dict(candidate.files)


def overlay(base: Mapping[str, bytes], files: Mapping[str, str]) -> dict[str, bytes]:
    """The base's files with these on top, without names that no sandbox takes, such as `Icon\\r`."""
    held = {path: content for path, content in base.items() if why_refused(path) is None}
    return held | {path: text.encode() for path, text in files.items()}
