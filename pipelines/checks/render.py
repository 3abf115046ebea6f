"""Test files from test cases."""

import ast
import re
import sys
from collections.abc import Iterable, Mapping, Sequence

from pipelines.candidate import Candidate, TestCase
from pipelines.errors import ModelError
from pipelines.merge import public_names

_WELL_KNOWN = {
    "Counter": "from collections import Counter",
    "Decimal": "from decimal import Decimal",
    "Fraction": "from fractions import Fraction",
    "OrderedDict": "from collections import OrderedDict",
    "Path": "from pathlib import Path",
    "date": "from datetime import date",
    "defaultdict": "from collections import defaultdict",
    "deque": "from collections import deque",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "cv2": "import cv2",
    "pytest": "import pytest",
    "time": "from datetime import time",
    "timedelta": "from datetime import timedelta",
    "timezone": "from datetime import timezone",
}

_DOCSTRING = 80
"""Characters; whole lines then fit what most repositories allow."""

_DATETIME_CLASS = re.compile(r"\bdatetime(\(|\.(now|strptime|fromisoformat|combine|fromtimestamp)\b)")
"""Uses of the class `datetime`, as opposed to the module."""


def render_test_file(
    cases: Sequence[TestCase], *, title: str, homes: Mapping[str, str], default_module: str
) -> str:
    """A pytest file of the cases; `homes` gives the module of each name.

    A name without a home is asked of the default module by the very tests that use it, so that one missing
    name does not keep the other tests from running.
    """
    names = {name for case in cases for name in case.names}
    # Imported at the top, a function called test_... would be collected as a test of its own.
    hidden = {name for name in names if name.lower().startswith("test")}
    homes = {name: home for name, home in homes.items() if name in names}
    standard = {name: line for name in names - homes.keys() if (line := standard_import(name, cases))}
    known = (homes.keys() | standard.keys()) - hidden
    head = f'"""{_docstring(f"Tests for the issue: {title}")}"""\n\n' + _imports(
        standard.values(), {name: home for name, home in homes.items() if name in known}, default_module
    )
    functions = [
        _function(
            case,
            [
                f"from {homes.get(name, default_module)} import {name}"
                for name in case.names
                if name not in known
            ],
        )
        for case in cases
    ]
    return "\n\n\n".join([head, *functions]).rstrip() + "\n"


def name_homes(candidate: Candidate, modules: Mapping[str, str]) -> dict[str, str]:
    """Which module of the candidate defines which public name; `modules` gives the module of each path."""
    homes: dict[str, str] = {}
    for path, module in modules.items():
        for name in _public_names_if_readable(candidate.files.get(path, "")):
            homes.setdefault(name, module)
    return homes


def _public_names_if_readable(source: str) -> tuple[str, ...]:
    try:
        return public_names(source)
    except ModelError:
        return ()


def standard_import(name: str, cases: Sequence[TestCase] = ()) -> str | None:
    """The import statement for a well-known name or standard module, or None."""
    if name == "datetime" and any(_DATETIME_CLASS.search(line) for case in cases for line in case.body):
        return "from datetime import datetime"
    if name in _WELL_KNOWN:
        return _WELL_KNOWN[name]
    return f"import {name}" if name in sys.stdlib_module_names else None


def _imports(standard: Iterable[str], homes: Mapping[str, str], default_module: str) -> str:
    """Standard imports, then those of the code under test; a program is started by its tests instead."""
    own: dict[str, list[str]] = {}
    for name in sorted(homes):
        own.setdefault(homes[name], []).append(name)
    imported = [f"from {module} import {', '.join(names)}" for module, names in sorted(own.items())]
    first = sorted(set(standard), key=lambda line: line.split()[1])
    if not imported and "import subprocess" not in first:
        imported = [f"import {default_module}"]
    return "\n".join([*first, "", *imported]).strip()


def _function(case: TestCase, imports: Sequence[str]) -> str:
    lines = [line for statement in case.body for line in _indentable(statement).splitlines()]
    head = f"def {case.name}({', '.join(case.arguments)}) -> None:"
    note = f'    """{_docstring(f"{case.trust.capitalize()}: {case.title}")}"""'
    return "\n".join([head, note, *(f"    {line}" if line else "" for line in (*imports, *lines))])


def _indentable(statement: str) -> str:
    """The same statement, its string constants on one line each so that indenting cannot change them."""
    return ast.unparse(ast.parse(statement)) if "\n" in statement else statement


def _docstring(text: str) -> str:
    line = " ".join(text.split())
    line = line if len(line) <= _DOCSTRING else line[: _DOCSTRING - 1] + "…"
    safe = line.replace("\\", "\\\\").replace('"""', "'''")
    return safe + " " if safe.endswith('"') else safe
