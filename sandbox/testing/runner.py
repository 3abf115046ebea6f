"""Runs pytest in a box and says what each test did, even when the code under test does not want it said."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files

from sandbox.paths import split
from sandbox.protocol import WORK_DIR, Limits, Sandbox
from sandbox.testing.outcome import TestReport
from sandbox.testing.reading import read_coverage, read_records, summarize

_FOLDER = ".issuewright"
_MODULES = (*("integrity", "files", "stack", "trials", "writer", "seal", "judge", "plugin", "coverage"),)
"""What the boot program loads in the box, each after those that it imports."""
_NO_COVERAGE = "there are no coverage figures: coverage is not installed in the box, or the run did not end"
_OPTIONS = (
    *("-p", "no:cacheprovider"),
    f"--rootdir={WORK_DIR}",
    "--continue-on-collection-errors",
    "--tb=long",
    "--color=no",
    "-q",
)


async def run_pytest(
    box: Sandbox,
    paths: Sequence[str],
    *,
    limits: Limits | None = None,
    pythonpath: Sequence[str] = (),
    options: Sequence[str] = (),
    random_order_seed: int | None = None,
    coverage_of: Sequence[str] = (),
) -> TestReport:
    """Run tests at paths (or node ids) under `/work`; raises ValueError for one that leaves it.

    Imports are found in the `pythonpath` folders and in `/work`. The repository's own pytest configuration
    applies; `options` such as `-c FILE` or `-o addopts=` override it. With a seed, files, the classes in them
    and the tests in those run in random order. `coverage_of` names files or folders whose line and branch
    coverage is measured. Everything that goes wrong inside is in the report.
    """
    folder = f"{_FOLDER}/{secrets.token_hex(8)}"
    report, coverage = f"{folder}/report.jsonl", f"{folder}/coverage.json"
    key = secrets.token_bytes(32)
    arguments = [*_OPTIONS, *options, "--", *paths]
    orders = {
        "sources": {name: _source(name) for name in _MODULES},
        "event": secrets.token_hex(8),
        "key": key.hex(),
        "report": str(WORK_DIR / report),
        "coverage": str(WORK_DIR / coverage),
        "paths": [_absolute(path.split("::")[0]) for path in paths],
        "python_path": [_absolute(path) for path in (*pythonpath, ".")],
        "random_order_seed": random_order_seed,
        "coverage_of": [_absolute(path) for path in coverage_of],
    }
    result = await box.run(
        # -P, -s: files of the repository, or of an earlier run, must not stand in for what pytest imports.
        ["python", "-P", "-s", "-c", _source("boot"), *arguments],
        stdin=json.dumps(orders).encode(),
        limits=limits,
    )
    collected = (await box.get_files([report, coverage])).files
    summary = summarize(read_records(collected.get(report, b""), key), result)
    figures = read_coverage(collected.get(coverage), str(WORK_DIR)) if coverage_of else None
    missing = "" if figures is not None or not coverage_of else _NO_COVERAGE
    return replace(
        summary,
        diagnosis="\n".join(filter(None, (summary.diagnosis, missing))),
        random_order_seed=random_order_seed,
        coverage=figures,
    )


def _source(name: str) -> str:
    return (files("sandbox.testing") / f"{name}.py").read_text()


def _absolute(path: str) -> str:
    return str(WORK_DIR.joinpath(*([] if path in (".", "") else split(path))))
