import hashlib

import pytest

from pipelines.requirement.headings import heading_kind
from pipelines.requirement.language import language_of
from pipelines.requirement.markdown import parse_document
from pipelines.requirement.parse import parse_issue
from tests.pipelines.requirement.issue_text import fenced, parse


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Description", "description"),
        ("✅ Acceptance Criteria (3):", "criteria"),
        ("**EXAMPLES**", "examples"),
        ("Target path", "target"),
        ("Akzeptanzkriterien", "criteria"),
        ("Beispiele:", "examples"),
        ("Critères d'acceptation", "criteria"),
        ("Criterios de aceptación", "criteria"),
        ("Restrições", "constraints"),
        ("Vincoli", "constraints"),
        ("受け入れ条件", "criteria"),
        ("例：", "examples"),
        ("验收标准", "criteria"),
        ("예제", "examples"),
        ("Ограничения", "constraints"),
        ("Вложения", "attachments"),
        ("Current behavior", "actual"),
        ("Sample Input 2", "input"),
        ("入力例 1", "input"),
        ("Ausgabe", "output"),
        ("How it works", None),
        ("", None),
    ],
)
def test_headings_in_ten_languages(heading: str, kind: str | None) -> None:
    assert heading_kind(heading) == kind


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Please add a function that returns the sum of the numbers", "en"),
        ("Bitte eine Funktion schreiben, die die Summe der Zahlen liefert", "de"),
        ("Ajouter une fonction qui doit renvoyer la somme des nombres", "fr"),
        ("Añadir una función que debe devolver la suma de los números", "es"),
        ("Adicionar uma função que deve devolver a soma dos números não negativos", "pt"),
        ("Aggiungere una funzione che deve restituire la somma dei numeri", "it"),
        ("数の合計を返す関数を追加してください", "ja"),
        ("请添加一个返回数字总和的函数", "zh"),
        ("숫자의 합을 반환하는 함수를 추가해 주세요", "ko"),
        ("Добавьте функцию, которая возвращает сумму чисел", "ru"),
        ("Додайте функцію, яка повертає суму чисел і її середнє", "uk"),
        ("", "en"),
        ("12345 !!!", "en"),
    ],
)
def test_language_by_script_and_stop_words(text: str, language: str) -> None:
    assert language_of(text) == language


def test_code_does_not_decide_the_language() -> None:
    code = fenced("def the_of_and_to(is_in): ...")
    assert (
        parse(
            f"# Summe\n\nDie Funktion `the_of(is_in)` soll eine Zahl liefern und nicht mehr.\n\n{code}"
        ).language
        == "de"
    )


def test_blocks_keep_language_code_and_line() -> None:
    text = "# T\n\n```python title=x\na = 1\n\nb = 2\n```\n\n~~~\nplain\n~~~\n\n    indented\n"
    assert [(b.language, b.code, b.line) for b in parse(text).code_blocks] == [
        ("python", "a = 1\n\nb = 2\n", 3),
        ("", "plain\n", 9),
        ("", "indented\n", 13),
    ]


def test_fences_in_lists_and_quotes_keep_their_line_numbers() -> None:
    document = parse_document("- item\n\n  ```python\n  f(1) == 2\n  ```\n\n> ```\n> g(1) == 2\n> ```\n")
    assert [line for block in document.blocks for line in block.lines] == [(4, "f(1) == 2"), (8, "g(1) == 2")]


def test_form_fields_without_response_are_empty() -> None:
    text = (
        "### Description\n\nAdd `f(x)`.\n\n### Constraints\n\n_No response_\n\n"
        "### Target path\n\n_No response_\n"
    )
    requirement = parse(text)
    assert "No response" not in requirement.body + requirement.summary
    assert (requirement.constraints, requirement.target_paths) == ((), ())


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Add a parser\n\nText", "Add a parser"),
        ("Add a parser\n\nText", "Add a parser"),
        ("Add a parser\n============\n\nText", "Add a parser"),
        ('---\ntitle: "Add: a parser"\nlabels: [x]\n---\n\n# Other\n', "Add: a parser"),
        ("intro line\n\n# Real title\n", "Real title"),
        ("### Description\n\nAdd a parser\n", "Add a parser"),
        (
            "# Fix `f('x')`, <class 'ValueError'> & \"quotes\"\n",
            "Fix `f('x')`, <class 'ValueError'> & \"quotes\"",
        ),
        ("```python\ndef f(x): ...\n```\n", "def f(x): ..."),
        ("***\n\nText first\n", "Text first"),
    ],
)
def test_title_from_front_matter_heading_or_first_line(text: str, title: str) -> None:
    assert parse(text).title == title


def test_front_matter_is_no_text_and_lines_keep_their_numbers() -> None:
    requirement = parse("---\ntitle: T\n---\n\nf(1) == 2\n")
    assert requirement.examples[0].line == 5
    assert "title:" not in requirement.body


def test_summary_is_prose_without_examples_and_stubs() -> None:
    text = (
        "# T\n\nAdd a nice function.\n\n- `f(1)` returns `2`\n\n"
        "It has to be fast: `f(2)` returns `3` within a second.\n\n"
    ) + fenced("def f(x): ...")
    assert parse(text).summary == (
        "Add a nice function.\n\nIt has to be fast: `f(2)` returns `3` within a second."
    )


def test_body_is_the_whole_text_without_the_title_heading() -> None:
    assert parse("# T\n\nWords.\n\n```\nx\n```\n").body == "Words.\n\n```\nx\n```"


def test_source_has_the_hash_of_the_exact_bytes() -> None:
    source = parse_issue(b"# T\r\n", path="a/b.md").source
    assert (source.path, source.sha256) == ("a/b.md", hashlib.sha256(b"# T\r\n").hexdigest())
