"""extract_code: every decoration seen in the field, and properties over made-up modules."""

import ast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipelines.errors import ModelError
from pipelines.model.code_blocks import extract_code

F = "def f(x):\n    return x + 1\n"
G = "def g(x):\n    return x - 1\n"
INNER_FENCES = "    ```python\n    f(1)\n    ```\n\n```\nf(2)\n```\n"
FENCED_DOCSTRING = f'def f(x):\n    """Add one.\n\n{INNER_FENCES}    """\n    return x + 1\n'


def fenced(code: str, *, label: str = "python", marks: str = "```") -> str:
    return f"{marks}{label}\n{code}{marks}\n"


@pytest.mark.parametrize(
    "answer",
    [
        fenced(F),
        fenced(F, label=""),
        fenced(F, label="py"),
        fenced(F, label=" Python3"),
        fenced(F, label="python title=f.py"),
        fenced(F, label="src/f.py"),
        fenced(F, label="{.python}"),
        fenced(F, label="text"),
        fenced(F, marks="~~~"),
        fenced(F, marks="`````"),
        fenced(F).replace("\n", "\r\n"),
        fenced(F).removesuffix("```\n"),
        "\ufeff" + fenced(F),
        fenced("# src/f.py\n" + F),
        fenced("# filename: f.py\n" + F),
        fenced("f.py\n" + F),
        fenced("\n\n" + F + "\n\n\n"),
        "Here is the function:\n\n" + fenced(F) + "\nIt adds one. Let me know!\n",
        "Run this first:\n" + fenced("pip install x\n", label="bash") + "Then:\n" + fenced(F),
        fenced('{"a": 1}\n', label="json") + fenced(F),
        fenced(F) + "Output:\n" + fenced("f(1) is 2\n", label="text"),
        "   ```python\n   def f(x):\n       return x + 1\n   ```\n",
        "1. Like this:\n```python\n    def f(x):\n        return x + 1\n```\n",
        "<think>Let me see. ```python\nbad(\n```\n</think>\n" + fenced(F),
        "Let me see.\n</think>\n\n" + fenced(F),
        "<think>\nI never stop thinking.\n" + fenced(F),
        F,
        "Sure! Here it is:\n\n" + F + "\nThis adds one to x.\n",
        F + "```\n\nThis adds one to x.\n",
    ],
)
def test_decorated_function_comes_back_bare(answer: str) -> None:
    assert extract_code(answer, prefilled=False) == F


@pytest.mark.parametrize(
    "answer",
    [
        F,
        F.rstrip("\n"),
        F + "```",
        F + "```\nThis adds one.\n",
        F + "\nThis adds one, as asked.\n",
        F + "```\nUse it:\n" + fenced("print(f(1), f(2), f(3), f(4), f(5))\n", label="console"),
        fenced(F),
        "Sure:\n" + fenced(F),
        F.replace("\n", "\r\n") + "```",
    ],
)
def test_answer_behind_a_prefilled_fence(answer: str) -> None:
    assert extract_code(answer, prefilled=True) == F


def test_fences_in_a_docstring_do_not_end_the_block() -> None:
    assert extract_code(fenced(FENCED_DOCSTRING), prefilled=False) == FENCED_DOCSTRING
    assert extract_code(FENCED_DOCSTRING + "```\nDone.", prefilled=True) == FENCED_DOCSTRING


def test_consecutive_parts_of_one_module_are_joined() -> None:
    answer = "First:\n" + fenced("import math\n") + "Then:\n" + fenced(F) + "And:\n" + fenced(G)
    assert extract_code(answer, prefilled=False) == f"import math\n\n\n{F}\n\n{G}"


def test_of_two_versions_the_larger_is_taken() -> None:
    better = F + "\n\n" + G
    assert extract_code(f"Draft:\n{fenced(F)}Final:\n{fenced(better)}", prefilled=False) == better
    assert extract_code(f"Final:\n{fenced(better)}Shorter:\n{fenced(F)}", prefilled=False) == better


def test_a_usage_example_is_not_part_of_the_module() -> None:
    assert extract_code(fenced(F) + "Usage:\n" + fenced("print(f(1))\n"), prefilled=False) == F


def test_broken_block_gives_way_to_a_good_one() -> None:
    assert extract_code(fenced("def f(:\n") + "I meant:\n" + fenced(F), prefilled=False) == F


def test_a_program_without_definitions_is_code_when_fenced() -> None:
    assert extract_code(fenced("print(input())\n"), prefilled=False) == "print(input())\n"


def test_code_about_think_tags_is_left_alone() -> None:
    code = 'OPEN = "<think>"\nCLOSE = """\n</think>\n"""\n'
    assert extract_code(fenced(code), prefilled=False) == code
    assert extract_code("OPEN = '<think>'\n", prefilled=True) == "OPEN = '<think>'\n"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " \n\t\n",
        "Hello",
        "I cannot do that.",
        fenced(""),
        fenced("# only a comment\n"),
        fenced('{"a": 1}\n', label="json"),
        fenced("def f(:\n    pass\n"),
        fenced("x = 1\x00\n"),
        "<think>I wonder how",
        "def f(x):\n    return x\n\ndef g(",
        "```",
        "(" * 5000,
    ],
)
@pytest.mark.parametrize("prefilled", [False, True])
def test_nothing_usable_is_a_model_error(answer: str, prefilled: bool) -> None:
    with pytest.raises(ModelError, match="code"):
        extract_code(answer, prefilled=prefilled)


def test_prose_that_reads_as_a_call_is_no_code_without_a_fence() -> None:
    with pytest.raises(ModelError):
        extract_code("Sure (maybe)", prefilled=False)


def test_the_error_tells_the_syntax_problem_and_its_line() -> None:
    with pytest.raises(ModelError, match=r"\(line 3\)"):
        extract_code(fenced("import re\n\ndef f(:\n    pass\n"), prefilled=False)


@pytest.mark.parametrize(
    "tail",
    [
        "def g(x",
        "def g(x):\n    if x:\n        return [1,\n",
        'def g(x):\n    """Unfinished',
        "@cache\ndef g(x):",
        "try:\n    import a\nexcept Imp",
        "class G:\n    def h(self):\n        return (",
        "TABLE = [\n    1,\n    2,\n",
    ],
)
def test_salvage_cuts_back_to_the_last_complete_statement(tail: str) -> None:
    answer = f"{F}\n\n{tail}"
    assert extract_code(answer, prefilled=True, salvage=True) == F
    assert extract_code("```python\n" + answer, prefilled=False, salvage=True) == F
    with pytest.raises(ModelError):
        extract_code("```python\n" + answer, prefilled=False)


def test_salvage_of_nothing_is_still_an_error() -> None:
    with pytest.raises(ModelError):
        extract_code("def f(x", prefilled=True, salvage=True)


name = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).map(lambda text: text + "_")
docstring = st.lists(
    st.sampled_from(["Adds.", "```", "```python", "~~~", "    ```", "x = 1", "def z():", ""]), max_size=6
).map("\n".join)
function = st.builds('def {}(x):\n    """{}\n    """\n    return x\n'.format, name, docstring)
constant = st.builds("{} = {}\n".format, name, st.integers() | st.text("ab `~#中\\", max_size=9).map(repr))
class_ = st.builds("class {}:\n    def {}(self):\n        pass\n".format, name, name)
module = st.lists(function | constant | class_, min_size=1, max_size=5).map("\n\n".join)
prose = st.sampled_from(
    ["", "Sure, here is the module:", "This should work.\n\nIt adds one.", "好的，代码如下："]
)


@given(
    module=module,
    before=prose,
    after=prose,
    label=st.sampled_from(["python", "", "py", "Python"]),
    marks=st.sampled_from(["```", "````", "~~~"]),
    thinking=st.sampled_from(["", "<think>\nHm, ```\nwhat?\n</think>\n", "Hm.\n</think>\n"]),
    newline=st.sampled_from(["\n", "\r\n"]),
    comment=st.sampled_from(["", "# app/main.py\n"]),
)
def test_fenced_module_comes_back_equal(
    module: str,
    before: str,
    after: str,
    label: str,
    marks: str,
    thinking: str,
    newline: str,
    comment: str,
) -> None:
    answer = f"{thinking}{before}\n{fenced(comment + module, label=label, marks=marks)}{after}"
    assert extract_code(answer.replace("\n", newline), prefilled=False) == module


@given(module=module, closed=st.booleans(), after=prose)
def test_prefilled_module_comes_back_equal(module: str, closed: bool, after: str) -> None:
    answer = f"{module}```\n{after}" if closed else module
    assert extract_code(answer, prefilled=True) == module


@given(module=module, before=prose, after=prose)
def test_bare_module_amid_prose_comes_back_equal(module: str, before: str, after: str) -> None:
    if "```" not in module and "~~~" not in module:
        assert extract_code(f"{before}\n\n{module}\n{after}", prefilled=False) == module


pieces = st.sampled_from(
    [
        "```",
        "```python\n",
        "~~~\n",
        "<think>",
        "</think>",
        F,
        "\n",
        "    ",
        "(",
        '"""',
        "'",
        "# a.py\n",
        "\x00",
        "\\",
    ]
)


@given(
    answer=st.lists(pieces | st.text(max_size=8), max_size=25).map("".join),
    prefilled=st.booleans(),
    salvage=st.booleans(),
)
@example(answer="\ud800", prefilled=True, salvage=True)
@example(answer="\x0c\x0c```\x0c", prefilled=False, salvage=True)
def test_any_answer_is_python_or_a_model_error(answer: str, prefilled: bool, salvage: bool) -> None:
    try:
        code = extract_code(answer, prefilled=prefilled, salvage=salvage)
    except ModelError:
        return
    assert code.endswith("\n")
    assert not code.endswith("\n\n")
    assert ast.parse(code).body
