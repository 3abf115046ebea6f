import ast

import pytest

from pipelines.analysis import Completed
from pipelines.candidate import Outcome, Verdict
from pipelines.coding import (
    bare_stub,
    contract_text,
    failure_text,
    files_digest,
    finish_file,
    without_self_tests,
)
from pipelines.pipeline import place
from pipelines.requirement.types import Requirement
from pipelines.rule_repair import is_stub, supply_names
from pipelines.task import Task
from tests.pipelines.scenes import ISSUE, RIGHT, requirement, snapshot

STUB = (
    "from typing import List\n\n\ndef total(xs: List[int]) -> int:\n"
    '    """Sum.\n\n    >>> total([1, 2])\n    3\n    """\n'
)
BARE = f"# Implement total\n\n```python\n{STUB}```\n"


def task(wanted: Requirement, **files: str) -> Task:
    return place(Completed(requirement=wanted), snapshot(**files))


def test_an_issue_of_one_stub_is_asked_as_plain_completion() -> None:
    assert bare_stub(task(requirement(BARE))).strip() == STUB.strip()


def test_prose_an_existing_file_or_a_second_block_is_not() -> None:
    assert (
        bare_stub(task(requirement(BARE.replace("# Implement total", "# T\n\nIt must be fast and exact."))))
        == ""
    )
    assert bare_stub(task(requirement(BARE + "\n```python\ndef other(): ...\n```\n"))) == ""
    assert bare_stub(task(requirement(ISSUE))) == ""


def test_names_that_only_examples_use_are_demanded() -> None:
    text = "# Slugs\n\nTurn titles into slugs.\n\n```python\nassert slugify('A b') == 'a-b'\n```\n"
    wanted = task(requirement(text))
    assert "`slugify`" in contract_text(wanted, wanted.targets[0])


def test_self_tests_and_demonstrations_are_taken_out() -> None:
    source = (
        "X = 1\ndef f(x):\n    assert x\n    print(f(x - 1))\n    return x\n\n"
        "assert f(1) == 1\nprint(f(2))\nf(3)\nregister(X)\nprint('kept')\n"
    )
    left = without_self_tests(source)
    assert "assert f(1)" not in left
    assert "print(f(2))" not in left
    assert "f(3)" not in left
    assert "    assert x\n    print(f(x - 1))" in left
    assert "register(X)" in left


def test_line_ends_that_only_str_knows_do_not_move_the_cut() -> None:
    source = 'SEP = "a\u2028b\x0c"\n\n\ndef f(x):\n    return x\n\n\nassert f(1) == 1\n'
    assert without_self_tests(source) == 'SEP = "a\u2028b\x0c"\n\n\ndef f(x):\n    return x\n'


def test_a_program_keeps_the_call_of_its_main() -> None:
    text = (
        "# Sum\n\nWrite a program `tools/total.py`.\n\nSample Input\n\n```\n1\n2\n```\n\n"
        "Sample Output\n\n```\n3\n```\n"
    )
    wanted = task(requirement(text))
    program = "import sys\n\n\ndef main():\n    print(sum(map(int, sys.stdin)))\n\n\nmain()\n"
    assert finish_file(wanted, wanted.targets[0], program) == program
    assert "started as `python tools/total.py`" in contract_text(wanted, wanted.targets[0])


@pytest.mark.parametrize("source", ["def f(:", "x = 1\n", ""])
def test_source_without_self_tests_is_returned_as_it_is(source: str) -> None:
    assert without_self_tests(source) == source


def test_missing_imports_come_from_the_issue_first_then_from_common_knowledge() -> None:
    source = "def f(x: List[int], y: Optional[int]) -> float:\n    return math.sqrt(helper(x)) + poly(x)\n"
    hints = ["from mylib import helper\n\ndef poly(x):\n    return x[0]\n\ndef stub(x):\n    '''doc'''\n"]
    done = supply_names(source, hints)
    ast.parse(done)
    for line in (
        "from typing import List",
        "from typing import Optional",
        "import math",
        "from mylib import helper",
        "def poly(x):",
    ):
        assert done.count(line) == 1
    assert done.endswith(source)
    assert done.index("import math") < done.index("def poly")


def test_future_imports_stay_first() -> None:
    done = supply_names("from __future__ import annotations\nx = math.pi\n", [])
    compile(done, "m", "exec")
    assert "import math" in done


def test_stubs_of_the_issue_are_never_offered_as_definitions() -> None:
    source = "def g(x):\n    return f(x)\n"
    assert supply_names(source, ["def f(x):\n    '''doc'''\n    ...\n"]) == source


def test_unknown_names_and_broken_source_are_left_alone() -> None:
    for source in ("def f():\n    return mystery\n", "def f(:"):
        assert supply_names(source, []) == source


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("pass", True),
        ("...", True),
        ("'''doc'''", True),
        ("raise NotImplementedError", True),
        ("return 1", False),
    ],
)
def test_what_counts_as_a_stub(body: str, expected: bool) -> None:
    (node,) = ast.parse(f"def f():\n    {body}\n").body
    assert isinstance(node, ast.FunctionDef)
    assert is_stub(node) is expected


def test_an_existing_file_keeps_what_it_has() -> None:
    wanted = task(requirement(), src__pkg__numbers_="")
    place_of = wanted.targets[0]
    existing = "LIMIT = 9\n\n\ndef half(x):\n    return x / 2\n"
    wanted = task(requirement(), **{"src__pkg__numbers_.py": existing})
    merged = finish_file(wanted, place_of, RIGHT)
    assert merged.startswith(existing)
    assert "def double" in merged


def failing(**messages: str) -> Verdict:
    return Verdict(
        outcomes={name: Outcome(status="failed", seconds=0, message=text) for name, text in messages.items()},
        complete=True,
    )


def test_names_syntax_and_types_are_shown_before_values_and_each_once() -> None:
    text = failure_text(failing(a="assert 1 == 2", b="NameError: twice", c="NameError: twice"))
    assert text.index("NameError") < text.index("assert 1 == 2")
    assert text.count("NameError") == 1


def test_long_failures_are_cut() -> None:
    assert len(failure_text(failing(**{f"t{n}": f"{n}" + "x" * 9999 for n in range(9)}))) < 5000


def test_spacing_and_comments_do_not_make_a_new_candidate() -> None:
    assert files_digest({"a.py": "x=1"}) == files_digest({"a.py": "x = 1  # one\n"})
    assert files_digest({"a.py": "x=1"}) != files_digest({"a.py": "x=2"})
    assert files_digest({"a.py": "def ("}) != files_digest({"a.py": "def (("})
