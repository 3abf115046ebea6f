"""What a candidate's functions give for shared inputs: the raw material of the vote."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from pipelines.candidate import Candidate, Record
from pipelines.checks.given import free_names
from pipelines.checks.render import name_homes, standard_import
from pipelines.run import Run
from pipelines.task import Task, overlay
from sandbox import Limits, Sandbox

CALL_SECONDS = 2.0
_LIMITS = Limits(wall_seconds=30)
_SCRIPT_PATH = ".issuewright/observer.py"


class Observation(Record):
    """What one call gave."""

    kind: Literal["value", "raised", "timeout", "none"]
    text: str = ""
    """Canonical text of the value, or the exception's type."""


class Observations(Record):
    """What each call gave, in the order of the calls."""

    items: tuple[Observation, ...]


@cache
def _script() -> str:
    return Path(__file__).with_name("observer_script.py").read_text(encoding="utf-8")


@dataclass(frozen=True)
class ObserveJob:
    """Evaluate calls against files in a box."""

    label: str
    tree: str
    base: Mapping[str, bytes]
    files: Mapping[str, str]
    imports: tuple[str, ...]
    calls: tuple[str, ...]
    pythonpath: tuple[str, ...]
    limits: Limits = _LIMITS

    @property
    def result_type(self) -> type[Observations]:
        """Observations are what is stored."""
        return Observations

    def digest(self) -> str:
        """Hash of tree, files, imports and calls."""
        parts = [self.tree, _script(), *self.imports, *self.calls, *self.pythonpath]
        parts += [f"{path}\0{text}" for path, text in sorted(self.files.items())]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    async def run(self, box: Sandbox) -> Observations:
        """Put the files, evaluate, read one line per call; calls that never answered are `none`."""
        await box.put_files(overlay(self.base, dict(self.files) | {_SCRIPT_PATH: _script()}))
        job = {"imports": self.imports, "calls": self.calls, "seconds": CALL_SECONDS}
        path = ":".join(str(entry) for entry in self.pythonpath)
        result = await box.run(
            ["python", _SCRIPT_PATH], stdin=json.dumps(job).encode(), env={"PYTHONPATH": path}
        )
        return Observations(items=read_observations(result.stdout.text, len(self.calls)))


def read_observations(text: str, count: int) -> tuple[Observation, ...]:
    """Exactly `count` observations from the script's lines, whatever the code under test printed."""
    found: list[Observation] = []
    for line in text.splitlines():
        try:
            found.append(Observation.model_validate_json(line))
        except ValidationError:
            continue
    return tuple((found + [Observation(kind="none")] * count)[:count])


async def observe(
    run: Run, task: Task, candidate: Candidate, calls: Sequence[str], *, label: str
) -> tuple[Observation, ...]:
    """What each call gives with this candidate."""
    if not calls:
        return ()
    homes = name_homes(candidate, task.modules)
    default = task.targets[0].module
    names = sorted({name for call in calls for name in free_names([call])})
    job = ObserveJob(
        label=label,
        tree=task.snapshot.tree,
        base=task.snapshot.files,
        files=task.complete_files(candidate),
        imports=tuple(_import(name, homes, default) for name in names),
        calls=tuple(calls),
        pythonpath=task.layout.pythonpath,
    )
    return (await run.execute(job)).items


def _import(name: str, homes: Mapping[str, str], default: str) -> str:
    if name in homes:
        return f"from {homes[name]} import {name}"
    return standard_import(name) or f"from {default} import {name}"
