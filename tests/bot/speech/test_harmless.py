import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.speech.harmless import inert, line, prose

GAP = "\u200b"
MENTION = re.compile(r"(?<![A-Za-z0-9])@[A-Za-z0-9]")
CLOSING = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#[0-9]", re.IGNORECASE)


def shown(markdown: str) -> str:
    """What a reader sees outside code, as GitHub looks for names and keywords: in each piece of text."""
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    page = re.sub(r"<(pre|code)\b.*?</\1>", "`", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^<>]*>", "\0", page))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ask @octo-cat, not a@example.org", f"ask @{GAP}octo-cat, not a@example.org"),
        ("cc @org/team (@x)", f"cc @{GAP}org/team (@{GAP}x)"),
        ("fixes #7, Closed: #8", f"f{GAP}ixes #7, C{GAP}losed: #8"),
        ("resolves o/r#3 fix GH-4", f"r{GAP}esolves o/r#3 f{GAP}ix GH-4"),
        ("close https://github.com/o/r/issues/5", f"c{GAP}lose https://github.com/o/r/issues/5"),
        ("Fixes **#7**", f"F{GAP}ixes **#7**"),
        ("this fixes the bug of #7, prefixes #7", "this fixes the bug of #7, prefixes #7"),
        ("`@property` and ``fixes ` #7``", "`@property` and ``fixes ` #7``"),
        ("```py\n@cache\n# fixes #7\n```\n@x", f"```py\n@cache\n# fixes #7\n```\n@{GAP}x"),
        ("    @indented\n\ntext @x", f"    @indented\n\ntext @{GAP}x"),
        ("> ```\n> @code\n> ```\n> @x", f"> ```\n> @code\n> ```\n> @{GAP}x"),
        ("&#64;x and &commat;y", f"&#64;{GAP}x and &commat;{GAP}y"),
    ],
)
def test_mentions_and_closing_keywords_lose_their_effect_outside_code(text: str, said: str) -> None:
    assert inert(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "x `code\nmore` @victim `foo`",
        "- a ` b\n- @victim ` c",
        '<a title="`"> @victim `',
        "| a ` | @victim ` |\n|---|---|\n| ` | @victim ` |",
        "\\` @victim `",
        "    para\n``` not a fence ` @victim\n\n@victim",
        "&#102;ixes #7 and &#x40;victim and &commat;victim",
        "```\r@inside\r```\r@victim",
        "<div>\n`@victim`\n</div>",
        "[`](@victim`)",
        "_;_@victim",
        "fixes\n#7",
        "> > > > > > > > fixes\n> > > > > > > > #7",
    ],
)
def test_tricks_with_the_bounds_of_code_do_not_help(text: str) -> None:
    seen = shown(inert(text))
    assert not MENTION.search(seen)
    assert not CLOSING.search(seen)
    assert not MENTION.search(shown(prose(text)))


@given(st.text(alphabet='@a `\n>-|~\\<b>&#64;[]()!_*="', max_size=80))
def test_no_text_mentions_anyone(text: str) -> None:
    assert not MENTION.search(shown(inert(text)))
    assert not MENTION.search(shown(prose(text)))
    assert inert(inert(text)) == inert(text)


@given(st.lists(st.sampled_from(["fixes", " ", "#7", "\n", "`", "&#35;7", "*", "\\", ":", "<b>", "\n\n"])))
def test_no_text_closes_an_issue(parts: list[str]) -> None:
    assert not CLOSING.search(shown(inert("".join(parts))))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a <b>bold</b> `x < y` 1 < 2", "a &lt;b>bold&lt;/b> `x < y` 1 < 2"),
        ("<!-- hidden -->", "&lt;!-- hidden -->"),
        ("<details>", "&lt;details>"),
        ("![x](https://tracker.example/p.png)", "!\\[x](https://tracker.example/p.png)"),
        ("&lt;b&gt; & co", "&amp;lt;b&amp;gt; & co"),
        ("```html\n<b>&lt;</b>\n```", "```html\n<b>&lt;</b>\n```"),
        ("  **kept** [link](https://example.org) \n", "**kept** [link](https://example.org)"),
    ],
)
def test_html_of_people_is_shown_and_not_used_and_images_are_not_loaded(text: str, said: str) -> None:
    assert prose(text) == said


@given(st.text(alphabet="<!ab->/&;`\n \"='", max_size=80))
def test_no_html_of_people_is_rendered(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(prose(text))
    kinds = {token.type for token in tokens} | {c.type for token in tokens for c in token.children or ()}
    assert not kinds & {"html_block", "html_inline"}


def test_a_line_has_no_line_ends() -> None:
    assert line(" a\n\n# b @x ") == f"a # b @{GAP}x"


def test_hostile_texts_take_no_time() -> None:
    for text in (
        "`" * 60_000,
        "[" * 60_000,
        "![" * 30_000,
        "*a" * 30_000,
        "> " * 30_000,
        "@" * 60_000,
        "<a " * 20_000,
    ):
        inert(text)
