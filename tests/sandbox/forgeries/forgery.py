"""What a forgery is made of."""

from dataclasses import dataclass, field

_TEST = "import evil\ndef test_victim():\n    evil.run()\n    assert 1 == 2\n"
_FIND = """
import gc, os, sys, types
import pytest

def session_and_item():
    frame = sys._getframe()
    while frame is not None:
        item = frame.f_locals.get("item")
        if item is not None and hasattr(item, "session"):
            return item.session, item
        frame = frame.f_back

def pluggy_plugins():
    session, item = session_and_item()
    return list(session.config.pluginmanager.get_plugins())

def reporters():
    return [p for p in pluggy_plugins() if type(p).__module__.startswith("sandbox.report")]
"""


@dataclass(frozen=True)
class Forgery:
    """`run` is called by the victim before its false assertion."""

    name: str
    evil: str
    files: dict[str, str] = field(default_factory=dict)

    def all_files(self) -> dict[str, str]:
        """The forgery with what it needs, by path."""
        return {"evil.py": _FIND + self.evil, "tests/test_victim.py": _TEST} | self.files


NOTHING = "def run(): pass\n"
