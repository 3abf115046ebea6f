"""Runs pytest in a box and says what each test did, even when the code under test does not want it said."""

import json
import secrets
from collections.abc import Sequence
from pathlib import Path

from sandbox import report_plugin
from sandbox.paths import split
from sandbox.protocol import WORK_DIR, Limits, Sandbox
from sandbox.pytest_report import TestReport, read_records, summarize

_FOLDER = ".issuewright"
_PLUGIN = "issuewright_report"
_OPTIONS = (
    *("-p", "no:cacheprovider"),
    *("-p", _PLUGIN),
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
) -> TestReport:
    """Run tests at paths (or node ids) under `/work`; raises ValueError for one that leaves it.

    Imports are found in the `pythonpath` folders and in `/work`. The repository's own pytest configuration
    applies; `options` such as `-c FILE` or `-o addopts=` override it. Everything that goes wrong inside is
    in the report.
    """
    folder = f"{_FOLDER}/{secrets.token_hex(8)}"
    key = secrets.token_bytes(32)
    plugin_path = str(WORK_DIR / folder)
    orders = {
        "key": key.hex(),
        "report": str(WORK_DIR / folder / "report.jsonl"),
        "plugin_path": plugin_path,
        "python_path": [str(WORK_DIR.joinpath(*_parts(path))) for path in (*pythonpath, ".")],
    }
    for path in paths:
        _parts(path.split("::")[0])
    await box.put_files({f"{folder}/{_PLUGIN}.py": _plugin_source()})
    result = await box.run(
        # -P: files of the repository must not stand in for modules that pytest itself imports.
        ["python", "-P", "-m", "pytest", *_OPTIONS, *options, "--", *paths],
        env={"PYTHONPATH": plugin_path},
        stdin=json.dumps(orders).encode() + b"\n",
        limits=limits,
    )
    collected = await box.get_files([f"{folder}/report.jsonl"])
    report = collected.files.get(f"{folder}/report.jsonl", b"")
    return summarize(read_records(report, key), result)


def _plugin_source() -> bytes:
    return Path(report_plugin.__file__).read_bytes()


def _parts(path: str) -> list[str]:
    return [] if path in (".", "") else split(path)
