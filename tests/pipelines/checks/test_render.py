import ast
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.candidate import Candidate, TestCase
from pipelines.checks.given import free_names
from pipelines.checks.render import name_homes, render_test_file, standard_import


def case(name: str, *body: str, title: str = "as written", **facts: object) -> TestCase:
    return TestCase.model_validate(
        {"name": name, "trust": "given", "body": body, "names": free_names(body), "title": title} | facts
    )


def render(*cases: TestCase, homes: dict[str, str] | None = None) -> str:
    text = render_test_file(cases, title="Add f", homes=homes or {}, default_module="pkg.mod")
    ast.parse(text)
    return text


def test_names_come_from_the_module_that_defines_them() -> None:
    text = render(case("test_a", "assert f(g(1)) == 2"), homes={"g": "pkg.other", "f": "pkg.mod"})
    assert "from pkg.mod import f\n" in text
    assert "from pkg.other import g\n" in text


def test_a_name_that_nobody_defines_fails_only_the_tests_that_use_it() -> None:
    text = render(
        case("test_a", "assert f(1) == 2"), case("test_b", "assert g(1) == 2"), homes={"f": "pkg.mod"}
    )
    head, _, rest = text.partition("def test_a")
    assert "from pkg.mod import f\n" in head
    assert "import g" not in head
    assert '"""Given: as written"""\n    from pkg.mod import g\n    assert g(1) == 2' in rest


def test_the_code_under_test_is_imported_even_where_no_name_is_used() -> None:
    assert "import pkg.mod\n" in render(case("test_a", "assert 1 == 1"))


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("assert f(date(2020, 1, 2)) == 1", "from datetime import date"),
        ("assert f(datetime.date(2020, 1, 2)) == 1", "import datetime"),
        ("assert f(datetime(2020, 1, 2)) == 1", "from datetime import datetime"),
        ("assert f(Decimal('1')) == 1", "from decimal import Decimal"),
        ("assert f(math.pi) == 1", "import math"),
        ("assert f(np.zeros(3)) == 1", "import numpy as np"),
        ("with pytest.raises(ValueError):\n    f(1)", "import pytest"),
    ],
)
def test_well_known_names_are_imported_from_their_home(statement: str, line: str) -> None:
    text = render(case("test_a", statement))
    assert f"{line}\n" in text
    assert "from pkg.mod import f\n" in text


def test_the_candidate_may_define_a_well_known_name_itself() -> None:
    text = render(case("test_a", "assert date('x') == 1"), homes={"date": "pkg.mod"})
    assert "from pkg.mod import date\n" in text
    assert "datetime" not in text


def test_strings_of_several_lines_keep_their_value(tmp_path: Path) -> None:
    body = 'text = """one\n  two\n"""', "assert text == 'one\\n  two\\n'"
    path = tmp_path / "check.py"
    text = render(case("test_a", *body)).replace("import pkg.mod", "")
    path.write_text(text + "\n\ntest_a()\n")
    subprocess.run([sys.executable, str(path)], check=True)


def test_long_titles_are_cut_to_fit_a_line() -> None:
    text = render(case("test_a", "assert f(1) == 2", title="word " * 60))
    assert max(len(line) for line in text.splitlines()) < 100


@pytest.mark.parametrize("title", ['ends in a quote"', 'has """ inside', "back\\slash \\", "line\nbreak"])
def test_any_title_makes_a_docstring(title: str) -> None:
    text = render(case("test_a", "assert f(1) == 2", title=title))
    (function,) = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert ast.get_docstring(function)


def test_homes_are_read_from_files_that_parse() -> None:
    candidate = Candidate(
        files={
            "a.py": "def f(): ...\ndef _g(): ...\n",
            "b.py": "class C: ...\ndef f(): ...\n",
            "c.py": "def (",
        },
        origin="greedy",
    )
    modules = {"a.py": "a", "b.py": "b", "c.py": "c"}
    assert name_homes(candidate, modules) == {"f": "a", "C": "b"}


def test_unknown_names_have_no_standard_home() -> None:
    assert standard_import("slugify") is None
