import pytest

from tests.pipelines.requirement.issue_text import fenced, found, parse

_JOINTS = ["==", "===", "->", "-->", "=>", "==>", "→", "⇒", "➞", "="]


@pytest.mark.parametrize("joint", _JOINTS)
def test_every_symbol_joins_a_call_and_its_result(joint: str) -> None:
    assert found(f"Add `dup`.\n\ndup([1, 2]) {joint} [1, 1, 2, 2]\n") == [
        ("value", "dup([1, 2])", "[1, 1, 2, 2]")
    ]
    assert found(f"Add it: `dup(3)` {joint} `[3, 3]`.") == [("value", "dup(3)", "[3, 3]")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`f(1)` returns `2`", "2"),
        ("`f(1)` should return `2`.", "2"),
        ("f(1) must be 2, always", "2"),
        ("`f(1)` gives 2", "2"),
        ("`f(1)` yields the value `2`", "2"),
        ("f(1) is 2.", "2"),
        ("`f(1)` becomes `'x'`", "'x'"),
        ("`f(1)` evaluates to `{'a': [1, 2]}`", "{'a': [1, 2]}"),
        ("f(1)  # 2", "2"),
        ("f(1)  # => 2", "2"),
        ("f(1) # returns 'db'", "'db'"),
        ("f(1) // 2", "2"),
        ("```\nf(1)\n# => 2\n```", "2"),
        ("f(1) == 1 + 1 = 2", "2"),
        ("f(1) -> 10 - 8 = 2", "2"),
        ("f(1) => 'No' (the name starts with a digit)", "'No'"),
        ("f(1) -> 1, 2", "(1, 2)"),
        ("f(1) should return 16.", "16"),
        ("f(1) == 6.00", "6.00"),
        ("f(1) => true", "True"),
        ('`f(1)` returns `{"a": null, "b": [true]}`', "{'a': None, 'b': [True]}"),
        ("f(1) == [\n  1,\n  2,\n]", "[\n  1,\n  2,\n]"),
        ("`f(1)` returns `set([1])`", "set([1])"),
        ("f(1) -> “a b”", '"a b"'),
        ("`f(1)` is expected to be `2`", "2"),
    ],
)
def test_results_in_words_and_comments(text: str, expected: str) -> None:
    assert found(f"Add it.\n\n{text}\n") == [("value", "f(1)", expected)]


@pytest.mark.parametrize(
    "text",
    [
        "`f(-1)` raises `ValueError`",
        "`f(-1)` should raise a ValueError.",
        "f(-1) throws ValueError",
        "f(-1) -> ValueError",
        "f(-1)  # raises ValueError",
        "`f(-1)` => `ValueError('negative')`",
        "`f(-1)` soll einen `ValueError` auslösen",
        "`f(-1)` wirft `ValueError`",
        "`f(-1)` lève `ValueError`",
        "`f(-1)` debe lanzar `ValueError`",
        "`f(-1)` lança `ValueError`",
        "`f(-1)` solleva `ValueError`",
        "`f(-1)` は `ValueError` を送出する",
        "`f(-1)` 应该抛出 `ValueError`",
        "`f(-1)`은 `ValueError`를 발생시킨다",
        "`f(-1)` вызывает `ValueError`",
    ],
)
def test_errors_in_ten_languages(text: str) -> None:
    assert found(f"f\n\n{text}\n") == [("raises", "f(-1)", "ValueError")]


@pytest.mark.parametrize(
    "text",
    [
        "`f(1)` soll `2` ergeben",
        "`f(1)` muss `2` liefern",
        "`f(1)` ergibt `2`",
        "`f(1)` gibt `2` zurück",
        "`f(1)` doit retourner `2`",
        "`f(1)` renvoie `2`",
        "`f(1)` devuelve `2`",
        "`f(1)` debe devolver `2`",
        "`f(1)` deve retornar `2`",
        "`f(1)` restituisce `2`",
        "`f(1)` は `2` を返す",
        "「`f(1)` は `2` になる」",
        "`f(1)`の結果は`2`です",
        "`f(1)` 返回 `2`",
        "`f(1)`应该返回`2`。",
        "`f(1)`은 `2`를 반환한다",
        "`f(1)` возвращает `2`",
        "`f(1)` должна вернуть `2`",
    ],
)
def test_results_in_ten_languages(text: str) -> None:
    assert found(f"f\n\n{text}\n") == [("value", "f(1)", "2")]


@pytest.mark.parametrize(
    "text",
    [
        "f(1) returns the number of words",
        "`f(1)` is `fast`",
        "f(1) is 5 characters long",
        "`f(x)` returns `2`",
        "`f(1)` does not return `2`",
        "`f(1)` should not return `2`",
        "`sorted([2, 1])` returns `[1, 2]`",
        "math.sqrt(4) == 2",
        "`def f(a) -> None`",
        "f(a: int) -> str",
        "`f(1)` returns `other`",
        "f(1) -> int",
        "currently `f(1)` returns `2`",
        "`f(1)` returns `2` instead of an error",
        "the f(1), g(2) pair",
        "stack.push(1) returns None",
    ],
)
def test_what_is_no_example(text: str) -> None:
    assert found(f"# Title\n\n{text}\n") == []


def test_a_correction_is_read_as_the_wanted_result() -> None:
    assert found("# T\n\n`f(9)` returns 8 but should return 9.") == [("value", "f(9)", "9")]


def test_results_that_cannot_be_used_are_noted_with_their_line() -> None:
    notes = parse("# T\n\nslug('A B') -> a dash-joined word\n").notes
    assert any("line 3" in note and "slug('A B')" in note for note in notes)


def test_several_examples_share_a_sentence() -> None:
    assert found("# T\n\n`f(1)` returns `2`, `f(2)` returns `3` and `f(3)` is `4`.") == [
        ("value", "f(1)", "2"),
        ("value", "f(2)", "3"),
        ("value", "f(3)", "4"),
    ]


def test_multi_line_calls_and_wrappers_and_chains() -> None:
    text = fenced(
        "grid([\n    [1, 2],\n    [3, 4],\n], 2) == 7\n"
        "round(mean([1, 2]), 2) == 1.5\nStack().push(1).size() == 1"
    )
    assert [e[1] for e in found(text)] == [
        "grid([\n    [1, 2],\n    [3, 4],\n], 2)",
        "round(mean([1, 2]), 2)",
        "Stack().push(1).size()",
    ]


def test_code_before_a_call_becomes_its_setup() -> None:
    (example,) = parse("# T\n\n" + fenced("import json\nrows = [1, 2]\nlast(rows)  # => 2")).examples
    assert (example.setup, example.expression, example.expected) == (("rows = [1, 2]",), "last(rows)", "2")


def test_library_values_bring_their_import() -> None:
    text = "# T\n\n`day(1)` returns `datetime.date(2020, 1, 2)`\n`cost(1)` returns `Decimal('1.20')`"
    assert [e.setup for e in parse(text).examples] == [
        ("import datetime",),
        ("from decimal import Decimal",),
    ]


def test_equal_examples_are_kept_once_with_the_first_line() -> None:
    requirement = parse("# T\n\nf( 1 ) == 2\nf(1) -> 2\n")
    assert [(e.line, e.text) for e in requirement.examples] == [(3, "f( 1 ) == 2")]


def unread(text: str) -> str:
    """The notes of an issue in which no example is read."""
    requirement = parse(text)
    assert requirement.examples == ()
    return "\n".join(requirement.notes)


def test_the_equations_of_a_recurrence_are_mathematics() -> None:
    definition = "t(1) = 3\n    t(n) = 1 + t(n - 1)\n    t(2) = 4"
    notes = unread(fenced(f'def t(n):\n    """{definition}\n    """'))
    assert notes.count("recurrence") == 2
    assert found(f"# T\n\n{definition}\n\nt(3) == 5\n") == [("value", "t(3)", "5")]


def test_words_without_quotes_are_not_made_strings() -> None:
    notes = unread(fenced('def happy(s):\n    """\n    happy(aa) => False\n    happy(abc) => True\n    """'))
    assert "it uses aa" in notes
    assert "it uses abc" in notes


def test_a_call_of_another_name_in_a_docstring_is_not_renamed() -> None:
    notes = unread(fenced('def sort_all(items):\n    """\n    list_sort([2, 1]) => [1, 2]\n    """'))
    assert "docstring of sort_all but calls another name" in notes


def test_a_bracketed_word_may_be_a_tuple_of_one() -> None:
    requirement = parse(fenced('between(1, 3) ==> ("b", "c")\nbetween(1, 2) ==> ("b")'))
    assert [e.expected for e in requirement.examples] == ['("b", "c")']
    assert "tuple of one" in requirement.notes[0]


def test_another_function_in_a_docstring_with_own_examples_is_left_out() -> None:
    text = fenced('def odd(n):\n    """Collatz(1) is [1].\n    odd(5) returns [1, 5]\n    """')
    assert found(text) == [("value", "odd(5)", "[1, 5]")]


def test_results_that_bind_weaker_than_equality_are_bracketed() -> None:
    text = fenced(">>> f(1) > 3\nFalse\n>>> f(2)\n1, 2")
    assert found(text) == [("value", "(f(1) > 3)", "False"), ("value", "f(2)", "(1, 2)")]


def test_the_section_on_todays_behaviour_gives_no_examples() -> None:
    text = "# Bug\n\n## Actual behavior\n\nf(1) == 3\n\n## Expected behavior\n\nf(1) == 2\n"
    assert found(text) == [("value", "f(1)", "2")]
