from pipelines.requirement.types import Example
from tests.pipelines.requirement.issue_text import fenced, found, parse


def test_sessions_in_prose_fences_and_docstrings() -> None:
    session = ">>> f(1)\n2\n>>> f('a')\n'b'"
    wanted = [("value", "f(1)", "2"), ("value", "f('a')", "'b'")]
    indented = session.replace("\n", "\n    ")
    assert found(f"# T\n\n{session}\n\nMore words.") == wanted
    assert found(fenced(session, "pycon")) == wanted
    assert found(fenced(f'def f(x):\n    """Do.\n\n    {indented}\n    """')) == wanted


def test_statements_become_the_setup_of_what_uses_them() -> None:
    examples = parse(fenced(">>> s = Stack()\n>>> s.push(3)\n>>> s.pop()\n3\n>>> other(1)\n2")).examples
    assert [(e.setup, e.expression) for e in examples] == [
        (("s = Stack()", "s.push(3)"), "s.pop()"),
        ((), "other(1)"),
    ]


def test_a_raising_line_is_no_setup_of_the_next() -> None:
    text = (
        ">>> s = Stack()\n>>> s.pop()\nTraceback (most recent call last):\n"
        "  ...\nIndexError: empty\n>>> s.size()\n0"
    )
    raised, size = parse(fenced(text)).examples
    assert (raised.kind, raised.expected, raised.setup) == ("raises", "IndexError", ("s = Stack()",))
    assert size.setup == ("s = Stack()",)


def test_multi_line_statements_and_wants() -> None:
    text = (
        ">>> table(\n...     [1, 2],\n...     width=3)\n[[1, 2],\n [3, 4]]\n"
        ">>> def inc(x):\n...     return x + 1\n...\n>>> apply(inc, 1)\n2"
    )
    first, second = parse(fenced(text)).examples
    assert first.expected == "[[1, 2],\n [3, 4]]"
    assert second.setup == ("def inc(x):\n    return x + 1",)


def test_forgotten_continuation_dots_are_forgiven() -> None:
    assert found(fenced(">>> f([\n  1,\n  2])\n3", "")) == [("value", "f([\n  1,\n  2])", "3")]


def test_an_equation_at_the_prompt_needs_no_output() -> None:
    text = fenced(">>> f(1) == 2\n>>> f(2) == 3\nTrue\n>>> f(3) == 3\nFalse")
    assert found(text) == [
        ("value", "f(1)", "2"),
        ("value", "f(2)", "3"),
        ("value", "(f(3) == 3)", "False"),
    ]


def test_printed_text_is_kept_line_by_line() -> None:
    example = parse(fenced(">>> print(box('a'))\n+-+\n|a|\n<BLANKLINE>\n+-+")).examples[0]
    assert (example.printed, example.expected) == (True, "+-+\n|a|\n\n+-+")


def test_no_output_means_none_only_where_the_function_shows_others() -> None:
    assert found(fenced(">>> longest([])\n\n>>> longest(['a'])\n'a'")) == [
        ("value", "longest([])", "None"),
        ("value", "longest(['a'])", "'a'"),
    ]
    assert found(fenced(">>> configure(3)\n>>> f(1)\n2")) == [("value", "f(1)", "2")]


def test_comments_and_prose_after_the_output_are_left_out() -> None:
    text = "# T\n\n>>> f(1)  # g(x) = 1\n2\nThis is the value.\n"
    assert found(text) == [("value", "f(1)", "2")]


def test_representations_of_objects_are_compared_as_text() -> None:
    assert found(fenced(">>> origin()\nPoint(x=0, y=0)")) == [
        ("value", "repr(origin())", "'Point(x=0, y=0)'")
    ]


def test_an_error_without_traceback_and_an_omission() -> None:
    text = fenced(">>> f('x')\nValueError: bad\n>>> f(9)\n[1, 2, ...]")
    assert found(text) == [("raises", "f('x')", "ValueError")]
    assert any("[1, 2, ...]" in note for note in parse(text).notes)


def test_escapes_in_docstrings_are_read_as_written() -> None:
    text = fenced('def f(s):\n    """\n    >>> f("a\\nb")\n    \'ab\'\n    """')
    assert found(text) == [("value", 'f("a\\nb")', "'ab'")]


def test_line_numbers_and_verbatim_text() -> None:
    example = parse("# T\n\n" + fenced('def f(s):\n    """\n    >>> f(1)\n    2\n    """')).examples[0]
    assert isinstance(example, Example)
    assert (example.line, example.text) == (6, ">>> f(1)\n    2")
