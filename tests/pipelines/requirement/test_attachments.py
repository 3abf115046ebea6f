import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.requirement.attachments import unread_attachments

ASSET = "https://github.com/user-attachments/assets/0f3c-77"


@pytest.mark.parametrize(
    ("body", "address"),
    [
        (f"![shot]({ASSET})", ASSET),
        (f"![]( <{ASSET}> )", ASSET),
        ('![a](https://example.com/a.png "title")', "https://example.com/a.png"),
        (f'<img width="30" alt="x" src="{ASSET}" />', ASSET),
        ("<IMG SRC=http://example.com/a.gif>", "http://example.com/a.gif"),
        (f"It looks like {ASSET}.", ASSET),
        (
            "[log.txt](https://github.com/user-attachments/files/1/log.txt)",
            "https://github.com/user-attachments/files/1/log.txt",
        ),
        (
            "[d.csv](https://github.com/octo/repo/files/123/d.csv)",
            "https://github.com/octo/repo/files/123/d.csv",
        ),
        (
            "https://user-images.githubusercontent.com/1/2.png",
            "https://user-images.githubusercontent.com/1/2.png",
        ),
        (
            "https://private-user-images.githubusercontent.com/1/2.png?jwt=x",
            "https://private-user-images.githubusercontent.com/1/2.png?jwt=x",
        ),
    ],
)
def test_pictures_and_uploads_are_found(body: str, address: str) -> None:
    assert unread_attachments(f"Hello\n\n{body}\n") == (address,)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "No picture here.",
        "See https://github.com/octo/repo/blob/main/files/a.py and [docs](https://example.com/a.png).",
        "![local](docs/a.png)",
        f"`![in code]({ASSET})`",
        f"```markdown\n![in code]({ASSET})\n```",
        "![data](data:image/png;base64,AAAA)",
    ],
)
def test_links_local_pictures_and_code_are_not(body: str) -> None:
    assert unread_attachments(body) == ()


def test_each_is_named_once_in_the_order_of_the_text() -> None:
    other = "https://example.com/b.png"
    assert unread_attachments(f"![a]({ASSET}) ![b]({other})\n\n{ASSET}") == (ASSET, other)


@given(st.text(alphabet=st.sampled_from(f"![]()<>img src=\"'`\n {ASSET}"), max_size=300))
def test_any_text_gives_plain_addresses(body: str) -> None:
    assert all(address.startswith("http") and "\n" not in address for address in unread_attachments(body))
