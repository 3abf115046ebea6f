import pytest

from pipelines.errors import RefusalError
from pipelines.requirement.decode import MAX_BYTES, decode
from pipelines.requirement.parse import parse_issue


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"# Caf\xc3\xa9\n", "# Café\n"),
        (b"\xef\xbb\xbf# A\r\nb\r\n", "# A\nb\n"),
        (b"old\rmac\r", "old\nmac\n"),
        ("Größe".encode("utf-16"), "Größe"),
        (b"\xfe\xff" + "例\r\n".encode("utf-16-be"), "例\n"),
    ],
)
def test_text_is_decoded_with_plain_line_ends(raw: bytes, text: str) -> None:
    assert decode(raw, path="i.md") == (text, ())


def test_latin_1_is_a_noted_fallback() -> None:
    decoded = decode("Größe ändern".encode("latin-1"), path="i.md")
    assert decoded.text == "Größe ändern"
    assert "Latin-1" in decoded.notes[0]
    assert "byte 2" in decoded.notes[0]


@pytest.mark.parametrize(
    ("raw", "reason", "advice"),
    [
        (b"", "empty", "Write"),
        (b" \r\n\t\n", "empty", "Write"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary", "UTF-8"),
        (bytes(range(1, 256)) * 20, "binary", "UTF-8"),
        (b"\xff\xfea", "UTF-16", "Save it as UTF-8"),
        (b"a" * (MAX_BYTES + 1), "1048577 bytes", "Shorten"),
        (b"# !!! ???\n---\n", "no words", "title"),
        (b"\xef\xbb\xbf", "empty", "Write"),
        (b"<!-- only a comment with words -->", "no words", "title"),
    ],
)
def test_what_cannot_be_an_issue_is_refused_with_advice(raw: bytes, reason: str, advice: str) -> None:
    with pytest.raises(RefusalError) as refusal:
        parse_issue(raw, path="docs/i.md")
    assert reason in str(refusal.value)
    assert advice in str(refusal.value)
    assert str(refusal.value).startswith("docs/i.md: ")


def test_a_file_of_exactly_the_limit_is_accepted() -> None:
    assert len(decode(b"a" * MAX_BYTES, path="i.md").text) == MAX_BYTES


def test_a_title_of_emoji_is_accepted_when_the_body_has_words() -> None:
    assert parse_issue("# 🚀🚀\n\nAdd a `f(x)`.".encode(), path="i.md").title == "🚀🚀"
