import re

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.speech.capping import BODY_LIMIT, NOTE, cap

END = f"\n\n_{NOTE}_\n"
BLOCKS = st.sampled_from(
    [
        "a paragraph of several words\nand lines",
        "```py\nx = 1\ny = 2\n\nz = 3\nprint(x, y, z)\n```",
        "~~~~\n```\nnot the end\n~~~\nstill not\n~~~~",
        "<details><summary>more</summary>\n\n```\ninside\nof it\n```\n\n</details>",
        "<details>\n\n- one\n- two\n\n<details>\n\nnested\n\n</details>\n\n</details>",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |",
        "<!-- hidden\n\n``` still hidden\n-->",
        "- item\n  ```\n  code in it\n  ```\n- <details>in it\n- last",
        "> quoted\n> ```\n> code",
        "# heading",
    ]
)
TEXTS = st.one_of(
    st.lists(BLOCKS, max_size=12).map("\n\n".join),
    st.text(alphabet="ab`~|-<>!d \r\n", max_size=400),
)


def tokens(markdown: str) -> list[str]:
    """Kinds of the top-level blocks."""
    return [t.type for t in MarkdownIt("commonmark").enable("table").parse(markdown) if t.level == 0]


def opened(markdown: str) -> int:
    html = [t for t in MarkdownIt("commonmark").parse(markdown) if t.type == "html_block"]
    inline = [c for t in MarkdownIt("commonmark").parse(markdown) for c in t.children or ()]
    text = "".join(t.content for t in [*html, *inline] if t.type in ("html_block", "html_inline"))
    return len(re.findall("<details", text)) - len(re.findall("</details", text))


def kept(capped: str) -> str:
    """Without note and what the cut closed."""
    return re.sub(r"(\n\n</details>)+$", "", capped.removesuffix(END))


@given(TEXTS, st.integers(80, 400))
@example("```\n" + "x\n" * 100, 100)
def test_the_limit_holds_and_what_stays_is_the_beginning(text: str, limit: int) -> None:
    capped = cap(text, limit)
    assert len(capped) <= limit
    if len(text) <= limit:
        assert capped == text
        return
    start = kept(capped)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    shorter = re.sub(r"\n[`~]{3,}$", "", start)
    assert text.startswith(start) or text.startswith(shorter)


@given(st.lists(BLOCKS, min_size=1, max_size=12).map("\n\n".join), st.integers(80, 400))
def test_nothing_stays_open_so_the_note_is_a_paragraph_of_its_own(text: str, limit: int) -> None:
    if len(text) <= limit:
        return
    capped = cap(text, limit)
    assert opened(capped) == 0
    assert tokens(capped)[-2:] == ["paragraph_open", "paragraph_close"]
    inline = [t for t in MarkdownIt("commonmark").parse(capped) if t.type == "inline"]
    assert inline[-1].content == f"_{NOTE}_"


@given(TEXTS, st.integers(120, 400))
def test_what_must_survive_follows_in_any_case(text: str, limit: int) -> None:
    keep = "Closes #7\n\n<!-- issuewright:issue=7 -->"
    capped = cap(text, limit, keep=keep)
    assert len(capped) <= limit
    assert capped.endswith(f"\n\n{keep}\n")


def test_a_fence_is_cut_between_its_lines_and_closed_as_it_was_opened() -> None:
    capped = cap("intro\n\n~~~~text\n" + "```\n" * 100 + "~~~~\n", 200)
    assert capped.startswith("intro\n\n~~~~text\n```\n")
    assert capped.endswith("```\n~~~~" + END)
    assert len(capped) > 190


def test_a_table_keeps_its_head_and_whole_rows() -> None:
    head = "| a | b |\n|---|---|\n"
    capped = cap(head + "| 1 | 2 |\n" * 100, 200)
    assert capped.startswith(head + "| 1 | 2 |\n")
    assert all(line == "| 1 | 2 |" for line in capped.removesuffix(END).splitlines()[2:])
    assert cap("x\n\n" + head + f"| {'y' * 300} | z |\n", 200) == "x" + END


def test_a_comment_or_a_paragraph_that_does_not_fit_is_dropped_whole() -> None:
    assert cap("x\n\n<!-- " + "y\n\n" * 200 + "-->\n", 200) == "x" + END
    assert cap("x\n\n" + "y " * 200, 200) == "x" + END


def test_details_that_the_cut_opens_are_closed() -> None:
    capped = cap(
        "<details><summary>s</summary>\n\n- " + "\n- ".join(["item"] * 100) + "\n\n</details>\n", 200
    )
    assert capped.endswith("- item\n\n</details>" + END)


def test_the_note_may_be_said_in_another_language() -> None:
    assert cap("x\n\n" + "y " * 100, 100, note="Hier endet es.") == "x\n\n_Hier endet es._\n"


def test_hostile_and_enormous_texts_are_cut_at_once() -> None:
    for text in ("[" * 3_000_000, "`a" * 500_000, "> " * 500_000, "| a" * 300_000, "<details>\n\n" * 100_000):
        assert len(cap(text)) <= BODY_LIMIT
