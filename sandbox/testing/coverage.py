"""Measures line and branch coverage in the box, with coverage.py, where it is installed."""

from collections.abc import Generator, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest


def plugins(files: Sequence[str], path: str) -> list[object]:
    """A plugin that measures these files from now on and writes coverage's JSON report to `path`."""
    return [_Measurement(files, path)] if files and find_spec("coverage") else []


class _Measurement:
    def __init__(self, files: Sequence[str], path: str) -> None:
        import coverage  # not there in every box

        self._path = path
        self._files = [str(file) for path in files for file in _python_files(Path(path))]
        self._coverage = coverage.Coverage(
            data_file=None, branch=True, config_file=False, include=self._files
        )
        self._coverage.start()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: pytest.Config) -> Generator[None, Any, None]:
        """Two measurements at a time spoil each other: the repository's own gives way."""
        for options in (early_config.known_args_namespace, early_config.option):
            options.no_cov = True
        yield

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        from coverage.exceptions import CoverageException

        self._coverage.stop()
        try:
            self._coverage.json_report(morfs=self._files, outfile=self._path, ignore_errors=True)
        except CoverageException:
            return  # there is no such file


def _python_files(path: Path) -> Iterable[Path]:
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]
