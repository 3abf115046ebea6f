import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.behaviours.command_lines import read_commands, without_commands


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("/issuewright retry", ("retry",)),
        ("Thank you!\n/issuewright retry", ("retry",)),
        ("   /issuewright   stop now please", ("stop",)),
        ("/IssueWright Retry.", ("retry",)),
        ("/issuewright stop\r\n/issuewright retry\r\n", ("stop", "retry")),
        ("/issuewright stop\n\n/issuewright stop", ("stop",)),
        ("/issuewright", ("",)),
        ("/issuewright make coffee", ("make",)),
        ("/issuewright `rm -rf`", ("",)),
        ("/issuewright $(id)", ("id",)),
        ("- a list\n\n/issuewright status", ("status",)),
        ("<details>\n\n/issuewright spec\n\n</details>", ("spec",)),
    ],
)
def test_commands(body: str, names: tuple[str, ...]) -> None:
    assert read_commands(body) == names


@pytest.mark.parametrize(
    "body",
    [
        "",
        "please /issuewright retry",
        "/issuewrights retry",
        "issuewright retry",
        "`/issuewright retry`",
        "> /issuewright retry",
        "> quoted\n/issuewright retry",
        "```\n/issuewright retry\n```",
        "~~~~sh\n/issuewright retry\n~~~\n/issuewright retry",
        "    /issuewright retry",
        "- /issuewright retry",
        "# /issuewright retry",
        "<!-- \n/issuewright retry\n-->",
        "see <!--\n/issuewright retry\n--> this",
        "`one\n/issuewright retry\ntwo`",
        "<pre>\n/issuewright retry\n</pre>",
        "**/issuewright retry**",
        "| a |\n|---|\n| /issuewright retry |",
    ],
)
def test_what_is_quoted_hidden_or_code_commands_nothing(body: str) -> None:
    assert read_commands(body) == ()


def test_the_rest_of_a_comment_is_without_its_commands() -> None:
    assert (
        without_commands("Bytes, please.\n/issuewright retry\n\nThank you") == "Bytes, please.\n\nThank you"
    )
    assert without_commands("/issuewright retry") == ""
    assert without_commands("see /issuewright retry") == "see /issuewright retry"


LINES = st.lists(
    st.sampled_from(
        [
            "/issuewright retry",
            "> a",
            "```",
            "~~~",
            "<!--",
            "-->",
            "- b",
            "",
            "    c",
            "`",
            "text",
            "<div>",
            "***",
        ]
    )
    | st.text(max_size=12),
    max_size=8,
)


@given(LINES)
def test_any_comment_can_be_read(lines: list[str]) -> None:
    body = "\n".join(lines)
    for name in read_commands(body):
        assert name == "" or name.isascii()
        assert "/issuewright" in body.casefold()
    assert read_commands(without_commands(body)) == ()


@given(LINES)
def test_a_command_after_a_blank_line_is_seen_unless_something_is_open(lines: list[str]) -> None:
    plain = [line for line in lines if line.isalnum() and line.isascii()]
    assert read_commands("\n".join([*plain, "", "/issuewright spec"])) == ("spec",)


@given(LINES)
def test_nothing_in_a_fence_commands(lines: list[str]) -> None:
    inside = [line for line in "\n".join(lines).splitlines() if "```" not in line]
    assert read_commands("\n".join(["```", *inside, "```"])) == ()
