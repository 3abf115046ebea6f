import pytest

from pipelines.requirement.contradictions import contradictions
from pipelines.requirement.types import Example
from tests.pipelines.requirement.issue_text import fenced, parse


def names(text: str) -> list[tuple[str, str, tuple[str, ...], str]]:
    return [(s.name, s.kind, s.parameters, s.origin) for s in parse(text).signatures]


@pytest.mark.parametrize(
    "body", ["...", "pass", "raise NotImplementedError", "raise NotImplementedError('later')", '"""Add."""']
)
def test_stubs_in_fences_are_declared(body: str) -> None:
    (signature,) = parse(fenced(f"def add(a: int, b: int = 0) -> int:\n    {body}")).signatures
    assert (signature.name, signature.parameters) == ("add", ("a", "b"))
    assert signature.stub == f"def add(a: int, b: int = 0) -> int:\n    {body}"


def test_a_lone_header_is_a_stub() -> None:
    (signature,) = parse("# T\n\n" + fenced("def add(a, b):")).signatures
    assert signature.stub == "def add(a, b):\n    ..."


def test_existing_code_is_no_stub_but_a_code_block() -> None:
    requirement = parse("# Bug\n\nThis is wrong today:\n\n" + fenced("def add(a, b):\n    return a - b"))
    assert requirement.signatures == ()
    assert requirement.code_blocks[0].code == "def add(a, b):\n    return a - b\n"


def test_classes_with_stub_methods() -> None:
    code = (
        'class Cart:\n    """Holds items."""\n    limit: int = 3\n'
        "    def __init__(self, owner): ...\n    def total(self) -> int: ..."
    )
    assert names(fenced(code)) == [("Cart", "class", ("owner",), "issue")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Add `def area(w: int, h: int) -> int`.", ("area", ("w", "h"))),
        ("Add a function `area(w, h)`.", ("area", ("w", "h"))),
        ("Implement area(w, h=2) please", ("area", ("w", "h"))),
        ("Eine Funktion `area(w, h)` schreiben", ("area", ("w", "h"))),
        ("関数 `area(w, h)` を追加", ("area", ("w", "h"))),
        ("实现函数 `area(w, h)`", ("area", ("w", "h"))),
        ("Add a function called `area`", ("area", ())),
    ],
)
def test_functions_named_in_prose(text: str, expected: tuple[str, tuple[str, ...]]) -> None:
    assert names(f"# T\n\n{text}\n") == [(expected[0], "function", expected[1], "issue")]


def test_classes_named_in_prose_and_names_from_examples() -> None:
    assert names("# T\n\nAdd a class `Cart`.\n\n`Cart().total()` returns `0`\nf(1) == 2\n") == [
        ("Cart", "class", (), "issue"),
        ("f", "function", (), "example"),
    ]


def test_calls_with_values_declare_nothing_and_tests_are_no_stubs() -> None:
    assert names("# T\n\nAdd it, e.g. print('x').\n\n" + fenced("def test_it():\n    ...")) == []


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Put it in `src/foo/bar.py`.", ("src/foo/bar.py",)),
        ("Create src/foo/bar.py and `src/foo/baz.py`", ("src/foo/bar.py", "src/foo/baz.py")),
        ("Create module `foo.bar`", ("foo/bar.py",)),
        ("Im Modul `roman` soll", ("roman.py",)),
        ("`foo.bar` module", ("foo/bar.py",)),
        ("モジュール `text.slug` を作成", ("text/slug.py",)),
        ("Write ../evil.py and /etc/evil.py", ("../evil.py", "/etc/evil.py")),
        ("Tests go to tests/test_bar.py, `bar_test.py` and tests/data.py", ()),
        ("Read `data/input.csv` and `config.json`", ()),
        ("See `src/old/thing.py`; similar to lib/other.py", ()),
        ("### Target path\n\nsrc/foo/bar\n\n### More\n\nmaybe x.py", ("src/foo/bar",)),
        ("### Zielpfad\n\n`src/a.py`\n`src/b.py`\n", ("src/a.py", "src/b.py")),
        ("### Target path\n\nfoo.bar\n", ("foo/bar.py",)),
        (fenced("# src/made.py\ndef f(x): ..."), ("src/made.py",)),
        ("Visit https://example.org/a.py", ()),
    ],
)
def test_target_paths(text: str, paths: tuple[str, ...]) -> None:
    assert parse(f"# T\n\n{text}\n").target_paths == paths


def criteria(text: str) -> list[tuple[str, str]]:
    return [(c.id, c.text) for c in parse(text).criteria]


def test_items_under_a_criteria_heading_win() -> None:
    text = (
        "# T\n\n- loose item\n\n## Acceptance criteria\n\n- [ ] It must add\n"
        "- [x] It returns\n  an int\n1. Third\n"
    )
    assert criteria(text) == [("C1", "It must add"), ("C2", "It returns an int"), ("C3", "Third")]


def test_items_of_the_prose_come_next_without_examples() -> None:
    text = (
        "# T\n\nDo this:\n\n- lower case the words\n- `f(1)` returns `2`\n\n"
        "## Examples\n\n- not a criterion\n"
    )
    assert criteria(text) == [("C1", "lower case the words")]


@pytest.mark.parametrize(
    "sentence",
    [
        "It must ignore case.",
        "Es soll Leerzeichen ignorieren.",
        "Elle doit ignorer la casse.",
        "Debe ignorar mayúsculas.",
        "Deve ignorar maiúsculas.",
        "大文字を無視すること。",
        "它必须忽略大小写。",
        "대소문자를 무시해야 합니다.",
        "Она должна игнорировать регистр.",
    ],
)
def test_else_sentences_that_oblige(sentence: str) -> None:
    assert [text for _, text in criteria(f"# T\n\nHello there! {sentence}\n")][-1] == sentence


def test_the_docstring_is_the_last_source() -> None:
    code = 'def f(x):\n    """Hello.\n    The function returns the double.\n\n    >>> f(1)\n    2\n    """'
    assert criteria(fenced(code)) == [("C1", "The function returns the double.")]


def test_constraints_from_sections_and_docstrings() -> None:
    text = "# T\n\n## Constraints\n\n- only the standard library\n\n" + fenced(
        'def f(x):\n    """Do.\n\n    Constraints:\n      * 1 <= x <= 10\n    """'
    )
    assert parse(text).constraints == ("only the standard library", "1 <= x <= 10")


def example(kind: str, expected: str, line: int, expression: str = "f(1)") -> Example:
    return Example.model_validate(
        {"kind": kind, "expression": expression, "expected": expected, "line": line, "text": ""}
    )


def test_two_results_of_one_call_contradict() -> None:
    assert contradictions((example("value", "2", 3), example("value", "3", 9, "f( 1 )"))) == (
        "line 3 says that f(1) gives 2, but line 9 says 3",
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("value", "2"), ("value", "2.0")),
        (("value", "[1,2]"), ("value", "[1, 2]")),
        (("raises", "a.E"), ("raises", "E")),
    ],
)
def test_equal_results_do_not(first: tuple[str, str], second: tuple[str, str]) -> None:
    assert contradictions((example(*first, 1), example(*second, 2))) == ()


def test_a_result_and_an_error_contradict() -> None:
    (text,) = contradictions((example("value", "2", 1), example("raises", "ValueError", 2)))
    assert "an error ValueError" in text


@pytest.mark.parametrize(
    "text",
    [
        "`chunk_list(items, size)` takes a list and cuts it into pieces.",
        "Something is missing here. `chunk_list(items, size)` cuts a list into pieces.",
        "We need `chunk_list(items, size)` for the export.",
    ],
)
def test_code_that_is_the_subject_of_a_sentence_is_declared(text: str) -> None:
    (signature,) = parse(f"# Cut lists\n\n{text}\n").signatures
    assert (signature.name, signature.parameters) == ("chunk_list", ("items", "size"))


def test_code_that_is_only_compared_with_is_not_declared() -> None:
    text = "# Cut lists\n\nIt should be as quick as `split_fast(items, size)` is today.\n"
    assert parse(text).signatures == ()
