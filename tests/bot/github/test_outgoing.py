from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.github.fake import FakeGitHub
from bot.github.fake_repository import FakeRepository
from bot.github.outgoing import TITLE_LIMIT, Outgoing, outgoing_text, outgoing_title
from bot.github.protocol import GitHub
from bot.github.types import RepoRef
from bot.speech.capping import COMMENT_LIMIT
from bot.speech.markers import MARKER, is_ours, issue_of
from bot.speech.redaction import REDACTED, Redactor

REPO = RepoRef(owner="octo", name="repo")
SECRET = "ghs_16C7e42F292c6912E7710c838347Ae178B4a"
END = "\n\nCloses #7\n\n<!-- issuewright:issue=7 -->\n"
Value = TypeVar("Value")


def same(value: Value) -> Value:
    return value


@pytest.fixture
def fake() -> FakeGitHub:
    github = FakeGitHub()
    found = github.add_repository()
    found.open_issue("Add f")
    return github


async def test_every_text_that_is_written_is_marked_and_without_secrets(fake: FakeGitHub) -> None:
    out: GitHub = Outgoing(fake, Redactor(["known-secret"]))
    repository: FakeRepository = fake.repositories[REPO.key]
    repository.push("work", {"f.py": b"x = 1\n"})
    comment = await out.create_comment(REPO, 1, f"token {SECRET} for @octo")
    edited = await out.edit_comment(REPO, comment.id, "known-secret")
    pull = await out.create_pull_request(
        REPO, head="work", base="main", title=f"Use\n{SECRET}", body=f"{SECRET}\n\nfixes #1{END}", draft=True
    )
    changed = await out.edit_pull_request(REPO, pull.number, body=f"@all {SECRET}")
    assert comment.body == f"{MARKER}\ntoken {REDACTED} for @\u200bocto"
    assert edited.body == f"{MARKER}\n{REDACTED}"
    assert pull.title == f"Use {REDACTED}"
    assert pull.body == f"{MARKER}\n{REDACTED}\n\nf\u200bixes #1{END}"
    assert changed.body == f"{MARKER}\n@\u200ball {REDACTED}"
    assert SECRET not in repr(fake.writes)


async def test_opening_a_pull_request_again_needs_no_text(fake: FakeGitHub) -> None:
    out = Outgoing(fake, same)
    fake.repositories[REPO.key].push("work", {"f.py": b"x = 1\n"})
    pull = await out.create_pull_request(REPO, head="work", base="main", title="t", body="b", draft=False)
    fake.repositories[REPO.key].change_pull(pull.number, state="closed")
    again = await out.edit_pull_request(REPO, pull.number, reopen=True)
    assert (again.state, again.body) == ("open", pull.body)


async def test_everything_else_goes_through_as_it_is(fake: FakeGitHub) -> None:
    out = Outgoing(fake, same)
    await out.react(REPO, 1, "eyes")
    await out.add_label(REPO, 1, "odd @label")
    assert fake.writes[-1].text == "odd @label"
    assert await out.identity() == fake.actor
    assert await out.repository(REPO) == await fake.repository(REPO)
    assert await out.role(REPO, "someone") == "read"
    assert await out.missing_permissions(REPO) == ()
    assert await out.issue(REPO, 1) == await fake.issue(REPO, 1)
    assert await out.comments(REPO, 1) == []
    assert await out.file(REPO, "README.md", ref="main") == b"# Read me\n"
    assert await out.branch(REPO, "main") == await fake.branch(REPO, "main")
    assert await out.branch_rules(REPO, "main") == ()
    assert await out.pull_requests(REPO, head="x") == await out.recent_pull_requests(REPO) == []
    assert await out.push_access(REPO) == await fake.push_access(REPO)


def test_only_the_end_of_our_own_pull_requests_may_close_an_issue() -> None:
    assert outgoing_text(f"text{END}", same) == f"{MARKER}\ntext{END}"
    other = outgoing_text("x\n\nCloses #8\n\n<!-- issuewright:issue=7 -->\n", same)
    assert "C\u200bloses #8" in other
    assert "C\u200bloses #7" in outgoing_text(f"x{END}and more", same)


def test_a_text_that_is_marked_is_not_marked_twice() -> None:
    assert outgoing_text(f"{MARKER}\nx\n", same) == f"{MARKER}\nx\n"


def test_a_huge_body_still_closes_its_issue_and_fits() -> None:
    sent = outgoing_text(f"{'- @x line ' * 20}\n" * 10_000 + END, same)
    assert len(sent) <= COMMENT_LIMIT
    assert len(sent) > COMMENT_LIMIT - 500
    assert sent.endswith(END)
    assert issue_of(sent) == 7


@given(st.text(alphabet="@a `<!->#7\ncloses", max_size=300))
def test_what_is_sent_once_is_sent_the_same_again(text: str) -> None:
    sent = outgoing_text(text, same)
    assert is_ours(sent)
    assert outgoing_text(sent, same) == sent


def test_a_title_is_one_line_and_verbatim_up_to_what_github_takes() -> None:
    title = "Fix `a`\n\"b\" <class 'ValueError'> @x"
    assert outgoing_title(title, same) == "Fix `a` \"b\" <class 'ValueError'> @x"
    assert outgoing_title("é" * 300, same) == "é" * (TITLE_LIMIT - 1) + "…"
    assert outgoing_title("x" * TITLE_LIMIT, same) == "x" * TITLE_LIMIT
