import pytest

from tests.pipelines.requirement.issue_text import fenced, found, parse

_STUB = fenced("def top(nums: list[int], k: int) -> int: ...")
_ONE = "# Add `half(n)`\n\nImplement the function `half(n)`.\n\n"


@pytest.mark.parametrize(
    "text",
    [
        "Input: nums = [1, 2], k = 3\nOutput: 5",
        "Input: k = 3, nums = [1, 2]\nOutput: 5",
        "Input:\n  nums : [1, 2]\n  k : 3\nOutput: 5",
        "Input: numbers = [1, 2], count = 3\nOutput: 5",
        "**Input:** `nums = [1, 2], k = 3`\n**Output:** `5`",
        "Input: [1, 2], 3\nOutput: 5 # the sum",
        "Input: [1, 2], 3 -> Output: 5",
        "Eingabe: [1, 2], 3\nAusgabe: 5",
        "入力: [1, 2], 3\n出力: 5",
        "输入：nums = [1, 2], k = 3\n输出：5",
        "Entrada: [1, 2], 3\nSalida: 5",
        "For nums = [1, 2], k = 3, the output should be 5",
        "When nums = [1, 2] and k = 3 the result is 5.",
        "### Input\n\n```\n[1, 2], 3\n```\n\n### Output\n\n```\n5\n```",
        "| nums | k | Output |\n|---|---|---|\n| [1, 2] | 3 | 5 |",
        "| Input | Output |\n|---|---|\n| [1, 2], 3 | 5 |",
        "| Call | Expected |\n|---|---|\n| `top([1, 2], 3)` | `5` |",
        "| Eingabe | Ausgabe |\n|---|---|\n| nums = [1, 2], k = 3 | 5 |",
        "| 入力 | 出力 |\n|---|---|\n| `[1, 2], 3` | `5` |",
    ],
)
def test_inputs_are_mapped_to_the_parameters(text: str) -> None:
    assert found(f"# T\n\n{_STUB}\n{text}\n") == [("value", "top([1, 2], 3)", "5")]


def test_several_pairs_with_explanations_between() -> None:
    text = (
        "Example 1:\n  Input: 4\n  Output: 2\n  Explanation: half of it\n\n"
        "Example 2:\n  Input: 6\n  Output: 3\n"
    )
    assert found(_ONE + text) == [("value", "half(4)", "2"), ("value", "half(6)", "3")]


def test_a_result_given_some_lines_below_the_assignment() -> None:
    text = fenced(
        'def names(arr):\n    """\n      arr = [2, 1]\n'
        '            -> sort arr -> [1, 2]\n      return ["One", "Two"]\n'
        '    """'
    )
    assert found(text) == [("value", "names([2, 1])", '["One", "Two"]')]


def test_tables_with_literals_errors_and_unreadable_cells() -> None:
    rows = '| 4 | 2 |\n| "x" | raises `TypeError` |\n| 5 | about two |\n'
    requirement = parse(f"{_ONE}| n | Expected result |\n|---|---|\n{rows}")
    assert [(e.kind, e.expression, e.expected) for e in requirement.examples] == [
        ("value", "half(4)", "2"),
        ("raises", "half('x')", "TypeError"),
    ]
    assert any("about two" in note for note in requirement.notes)


def test_columns_of_plain_words_are_text() -> None:
    table = "| Input | Output |\n|---|---|\n| Hello World | hello-world |\n| Über uns | ueber-uns |\n"
    assert found(f"# T\n\nImplement `slugify(text)`.\n\n{table}") == [
        ("value", "slugify('Hello World')", "'hello-world'"),
        ("value", "slugify('Über uns')", "'ueber-uns'"),
    ]


def test_tables_about_something_else_are_left_alone() -> None:
    assert found(f"{_ONE}| Name | Role |\n|---|---|\n| half | function |\n") == []


def test_a_wrong_number_of_arguments_is_noted() -> None:
    requirement = parse(f"# T\n\n{_STUB}\nInput: [1, 2]\nOutput: 5\n")
    assert requirement.examples == ()
    assert any("does not fit" in note for note in requirement.notes)


def test_parameters_with_defaults_may_be_left_out() -> None:
    stub = fenced("def pad(s, width=3): ...")
    assert found(f"# T\n\n{stub}\nInput: 'a'\nOutput: 'a  '\n") == [("value", "pad('a')", "'a  '")]


_PROGRAM = "# Sum\n\nWrite a program that reads numbers from stdin and prints their sum.\n\n"


@pytest.mark.parametrize(
    "text",
    [
        "## Sample Input\n\n```\n2\n3 4\n```\n\n## Sample Output\n\n```\n7\n```\n",
        "Input:\n```\n2\n3 4\n```\nOutput:\n```\n7\n```\n",
        "-----Sample Input-----\n2\n3 4\n\n-----Sample Output-----\n7\n",
        "Input\n2\n3 4\n\nOutput\n7\n",
        "**Beispieleingabe**\n\n```\n2\n3 4\n```\n\n**Beispielausgabe**\n\n```\n7\n```\n",
        "入力例 1\n```\n2\n3 4\n```\n出力例 1\n```\n7\n```\n",
    ],
)
def test_programs_have_sample_input_and_output(text: str) -> None:
    (example,) = parse(_PROGRAM + text).examples
    assert (example.kind, example.stdin, example.expected) == ("stdio", "2\n3 4\n", "7\n")


def test_no_program_asked_for_means_no_program_run() -> None:
    assert found("# Explain\n\nInput:\n```\n2\n```\nOutput:\n```\n7\n```\n") == []
