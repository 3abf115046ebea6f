"""A repository's own test command, run in a fresh box: only its exit code and last words are known."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from pipelines.candidate import Record
from pipelines.checks.job import REPOSITORY_LIMITS
from pipelines.run import Run
from pipelines.task import Task, overlay
from sandbox import WORK_DIR, ExecResult, Limits, Sandbox

_TAIL = 1500


class CommandVerdict(Record):
    """How the command ended."""

    exit_code: int
    limit: str = ""
    """The resource limit that ended it, or ''."""
    tail: str = ""
    """The end of what it printed, errors last."""
    blocked_hosts: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with exit code 0."""
        return self.exit_code == 0 and not self.limit


@dataclass(frozen=True)
class CommandJob:
    """Run one command over files in a box."""

    label: str
    tree: str
    base: Mapping[str, bytes]
    files: Mapping[str, str]
    command: tuple[str, ...]
    pythonpath: tuple[str, ...]
    limits: Limits = REPOSITORY_LIMITS

    @property
    def result_type(self) -> type[CommandVerdict]:
        """What is stored."""
        return CommandVerdict

    def digest(self) -> str:
        """Hash of tree, files, command and limits."""
        parts = [self.tree, *self.command, *self.pythonpath, repr(self.limits)]
        parts += [f"{path}\0{text}" for path, text in sorted(self.files.items())]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    async def run(self, box: Sandbox) -> CommandVerdict:
        """Put the files, run the command."""
        await box.put_files(overlay(self.base, self.files))
        path = ":".join(str(WORK_DIR / entry) for entry in self.pythonpath)
        return _verdict(await box.run(self.command, env={"PYTHONPATH": path}))


async def run_test_command(run: Run, task: Task, files: Mapping[str, str], *, label: str) -> CommandVerdict:
    """What the repository's own test command does with these files on top."""
    job = CommandJob(
        label=label,
        tree=task.snapshot.tree,
        base=task.snapshot.files,
        files=files,
        command=task.rules.test_command,
        pythonpath=task.layout.pythonpath,
    )
    return await run.execute(job)


def _verdict(result: ExecResult) -> CommandVerdict:
    output = f"{result.stdout.text[-_TAIL:]}\n{result.stderr.text[-_TAIL:]}".strip()
    return CommandVerdict(
        exit_code=result.exit_code,
        limit=result.limit or "",
        tail=output[-_TAIL:],
        blocked_hosts=result.blocked_hosts,
    )
