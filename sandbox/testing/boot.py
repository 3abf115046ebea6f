"""The program of a test run: pytest with the report plugin, both told by one JSON object on standard input.

It is given to `python -c`, so nothing of it lies in a file that code in the box could change.
"""

import builtins
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

_PR_SET_DUMPABLE = 4


def start() -> int:
    """Set up the plugin by its orders and run pytest; returns pytest's exit status."""
    orders = json.loads(sys.stdin.buffer.read())
    _make_folder(Path(orders["report"]).parent)
    sys.argv[0] = "pytest"
    if find_spec("xdist") is not None:
        sys.argv.insert(1, "-n0")  # its workers would run the tests where nothing is recorded
    _close_memory()
    # What stays in this frame and its globals can be seen by every test: only the plugins themselves.
    plugins = _prepare(orders)
    return int(pytest.main(sys.argv[1:], plugins))


def _make_folder(folder: Path) -> None:
    """Where the report goes; git and pytest are to overlook it."""
    folder.mkdir(parents=True)
    (folder / ".gitignore").write_text("*\n")


def _close_memory() -> None:
    """Let no other process of this user read the memory of this one, as it otherwise could in /proc."""
    try:
        from ctypes import CDLL
    except ImportError:
        return
    CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _prepare(orders: dict[str, Any]) -> list[object]:
    modules = _load(orders.pop("sources"))
    plugin = modules["plugin"]
    plugin.require_pytest()
    event = modules["judge"].appoint(orders, plugin)
    measurement = modules["coverage"].plugins(orders["coverage_of"], orders["coverage"])
    return [*plugin.plugins(event, orders), *measurement]


def _load(sources: dict[str, str]) -> dict[str, ModuleType]:
    """Execute the modules in their order, each with its own builtins; `sys.modules` keeps none of them."""
    names = ["sandbox", "sandbox.testing", *(f"sandbox.testing.{name}" for name in sources)]
    modules = {name: ModuleType(name) for name in names}
    sys.modules.update(modules)
    for name, source in sources.items():
        space = vars(modules[f"sandbox.testing.{name}"])
        space["__builtins__"] = dict(vars(builtins))
        exec(compile(source, f"<{name}>", "exec"), space)  # noqa: S102 - this is how they are loaded
    for name in names:
        del sys.modules[name]
    return {name: modules[f"sandbox.testing.{name}"] for name in sources}


if __name__ == "__main__":
    sys.exit(start())
