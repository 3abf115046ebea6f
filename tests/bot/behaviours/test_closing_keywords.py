import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.behaviours.closing_keywords import closes


def closes_seven(text: str) -> bool:
    url = "https://github.example.org/Octo/Repo.py/issues/7"
    return closes(text, full_name="Octo/Repo.py", number=7, html_url=url)


@pytest.mark.parametrize(
    "text",
    [
        "Fixes #7",
        "fixed: #7.",
        "This CLOSES #7, at last",
        "resolve octo/repo.py#7",
        "Resolves Octo/Repo.py#7",
        "closes https://github.example.org/octo/repo.py/issues/7",
        "closes <https://github.example.org/Octo/Repo.py/issues/7>",
        "close GH-7",
        "**Fixes** #7",
        "Fixes\n#7",
        "- [x] fix #7",
        "> fixes #7",
        "`code` first, then resolved #7",
        "fixes #6, fixes #7",
    ],
)
def test_a_pull_request_that_closes_it(text: str) -> None:
    assert closes_seven(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#7",
        "see #7",
        "fixes #70",
        "fixes #17",
        "prefixes #7",
        "fixes 7",
        "fixes other/repo#7",
        "fixes octo/repo-py#7",
        "fixes octo/repoxpy#7",
        "fixes https://github.example.org/octo/repo.py/issues/70",
        "fixes https://elsewhere.example.org/octo/repo.py/issues/7",
        "fixes https://github.example.org/octo/repo.py/issues/71",
        "`fixes #7`",
        "```\nfixes #7\n```",
        "    fixes #7",
        "<!-- fixes #7 -->",
        "text <!-- fixes #7 --> text",
        "fixing #7",
    ],
)
def test_a_pull_request_that_does_not(text: str) -> None:
    assert not closes_seven(text)


WORDS = st.sampled_from(
    ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"]
)


@given(WORDS, st.booleans(), st.integers(1, 10**6), st.integers(1, 10**6))
def test_it_closes_exactly_the_number_that_it_names(word: str, colon: bool, named: int, asked: int) -> None:
    text = f"Some words. {word.title()}{':' if colon else ''} #{named} and more."
    assert closes(text, full_name="a/b", number=asked, html_url="https://x/1") == (named == asked)


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    assert closes_seven(f"{text}\n\nFixes #7\n") or any(mark in text for mark in "`~<[-=\\")
    closes_seven(text + "7")
