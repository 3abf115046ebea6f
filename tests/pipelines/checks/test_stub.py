from typing import Any

import pytest

from pipelines.candidate import Candidate
from pipelines.checks.stub import raising_stub, stub_module

SOURCE = '''
"""Doc."""
import os
LIMIT = 3
def f(a, *, b=1) -> int:
    return a
async def g():
    return 1
class C:
    def __init__(self): self.x = 1
    def plain(self): return 1
    @staticmethod
    def make(): return C()
    @classmethod
    def of(cls, x): return cls()
'''


def load(source: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(stub_module(source), namespace)
    return namespace


def test_every_use_raises_something_that_no_test_expects() -> None:
    names = load(SOURCE)
    error: type[BaseException] = names["NotBuiltYet"]
    assert not issubclass(error, Exception)
    thing = names["C"]
    for use in (lambda: names["f"](1, b=2), thing, lambda: thing.make(), lambda: thing.of(1)):
        with pytest.raises(error):
            use()


def test_constants_and_imports_are_gone() -> None:
    names = load(SOURCE)
    assert "LIMIT" not in names
    assert "os" not in names


def test_source_that_does_not_parse_gives_an_empty_module() -> None:
    assert stub_module("def f(:") == ""


def test_only_python_files_are_replaced() -> None:
    stub = raising_stub(Candidate(files={"a.py": "def f(): return 1", "a.txt": "data"}, origin="greedy"))
    assert stub.files["a.txt"] == "data"
    assert "return 1" not in stub.files["a.py"]
