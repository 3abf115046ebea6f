from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.events.payloads import read_event
from bot.events.types import AnyEvent, CommentEvent, IssueEvent, PullRequestEvent, read_stored_event
from bot.github.types import Actor
from pipelines.errors import RefusalError
from tests.bot.events.recorded import recorded

CODERTOCAT = Actor(login="Codertocat", id=21031067, type="User")
KNOWN = (
    "issues.labeled",
    "issues.opened",
    "issue_comment.created",
    "pull_request.labeled",
    "pull_request.closed",
)


def read(name: str, **changes: Any) -> AnyEvent | None:
    return read_event(name.partition(".")[0], "delivery-1", recorded(name, **changes))


def test_a_label_on_an_issue() -> None:
    event = read("issues.labeled")
    assert isinstance(event, IssueEvent)
    assert (event.name, event.action, event.delivery, event.label) == (
        "issues",
        "labeled",
        "delivery-1",
        "bug",
    )
    assert (event.repo.owner, event.repo.name, event.default_branch) == (
        "Codertocat",
        "Hello-World",
        "master",
    )
    assert event.repo.installation is None
    assert event.sender == event.issue.author == CODERTOCAT
    assert event.issue.title == "Spelling error in the README file"
    assert event.issue.body.startswith("It looks like you accidently spelled")
    assert (event.issue.number, event.issue.state, event.issue.locked) == (1, "open", False)
    assert event.issue.labels == ("bug",)
    assert event.issue.created_at == datetime(2019, 5, 15, 15, 20, 18, tzinfo=UTC)
    assert event.issue.html_url == "https://github.com/Codertocat/Hello-World/issues/1"
    assert not event.issue.is_pull_request


def test_an_opened_issue_without_a_body() -> None:
    event = read("issues.opened")
    assert isinstance(event, IssueEvent)
    assert (event.issue.body, event.issue.labels, event.label) == ("", ("bug",), None)


def test_a_comment() -> None:
    event = read("issue_comment.created")
    assert isinstance(event, CommentEvent)
    assert event.repo.installation == 1
    assert event.comment.id == 492700400
    assert event.comment.body == "You are totally right! I'll get this fixed right away."
    assert event.comment.author == CODERTOCAT
    assert event.comment.created_at == datetime(2019, 5, 15, 15, 20, 21, tzinfo=UTC)


def test_a_comment_on_a_pull_request_says_so() -> None:
    issue = recorded("issue_comment.created")["issue"] | {"pull_request": {"url": "https://example.org"}}
    event = read("issue_comment.created", issue=issue)
    assert isinstance(event, CommentEvent)
    assert event.issue.is_pull_request


def test_a_label_on_a_pull_request_is_an_event_of_an_issue() -> None:
    event = read("pull_request.labeled")
    assert isinstance(event, IssueEvent)
    assert (event.name, event.label, event.issue.number) == ("pull_request", "bug", 2)
    assert event.issue.is_pull_request


def test_a_closed_pull_request() -> None:
    event = read("pull_request.closed")
    assert isinstance(event, PullRequestEvent)
    pull = event.pull_request
    assert (pull.number, pull.state, pull.merged, pull.draft) == (2, "closed", False, False)
    assert (pull.head_ref, pull.base_ref, pull.head_repo) == ("changes", "master", "Codertocat/Hello-World")
    assert pull.head_sha == "ec26c3e57ca3a959ca5aad62de7213c562f8c821"
    assert pull.author == CODERTOCAT


def test_a_pull_request_from_a_repository_that_is_gone() -> None:
    pull = recorded("pull_request.closed")["pull_request"]
    event = read("pull_request.closed", pull_request=pull | {"head": pull["head"] | {"repo": None}})
    assert isinstance(event, PullRequestEvent)
    assert event.pull_request.head_repo is None


def test_people_whose_accounts_are_gone_are_ghosts() -> None:
    payload = recorded("issue_comment.created", sender=None)
    payload["issue"]["user"] = payload["comment"]["user"] = None
    event = read_event("issue_comment", "d", payload)
    assert isinstance(event, CommentEvent)
    assert {event.sender.login, event.issue.author.login, event.comment.author.login} == {"ghost"}


def test_the_sender_s_kind_is_kept() -> None:
    robot = {"login": "someone[bot]", "id": 5, "type": "Bot"}
    event = read("issues.labeled", sender=robot)
    assert event is not None
    assert event.sender == Actor(login="someone[bot]", id=5, type="Bot")


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("issues", recorded("issues.reopened")),
        ("issues", recorded("issues.labeled", action="from_the_future")),
        ("issues", {}),
        ("issues", {"action": None}),
        ("issues", {"action": ["labeled"]}),
        ("ping", {"zen": "Keep it logically awesome."}),
        ("installation", {"action": "created"}),
        ("from_the_future", recorded("issues.labeled")),
        ("issue_comment", recorded("issue_comment.created", action="edited")),
        ("issue_comment", recorded("issue_comment.created", action="deleted")),
        ("pull_request", recorded("pull_request.closed", action="synchronize")),
    ],
)
def test_what_no_behaviour_is_for_is_no_event(name: str, payload: dict[str, Any]) -> None:
    assert read_event(name, "d", payload) is None


def test_only_what_is_used_has_to_be_there() -> None:
    """As a simulator of GitHub sends it: labels are names alone, and there is neither draft nor number."""
    user = {"login": "alice"}
    repository = {"full_name": "octo/repo", "default_branch": "main"}
    issue = {
        "number": 3,
        "title": "A",
        "state": "open",
        "html_url": "u",
        "labels": [{"name": "x"}],
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-02T03:04:05Z",
    }
    label = {
        "action": "labeled",
        "issue": issue,
        "repository": repository,
        "sender": user,
        "label": {"name": "x"},
    }
    event = read_event("issues", "d", label)
    assert isinstance(event, IssueEvent)
    assert (event.label, event.issue.author.login, event.sender.login) == ("x", "ghost", "alice")
    pull = {
        "number": 4,
        "title": "B",
        "state": "closed",
        "html_url": "u",
        "head": {"ref": "a", "sha": "b"},
        "base": {"ref": "main"},
    }
    closed = {"action": "closed", "pull_request": pull, "repository": repository, "sender": user}
    assert isinstance(read_event("pull_request", "d", closed), PullRequestEvent)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("issues.labeled", ("issue", "number")),
        ("issues.labeled", ("issue", "title")),
        ("issues.labeled", ("issue", "created_at")),
        ("issues.labeled", ("repository", "full_name")),
        ("issues.labeled", ("repository", "default_branch")),
        ("issue_comment.created", ("comment", "id")),
        ("issue_comment.created", ("issue", "state")),
        ("pull_request.closed", ("pull_request", "head")),
    ],
)
def test_a_payload_that_lacks_what_is_needed_is_refused_by_the_field_s_name(
    name: str, place: tuple[str, str]
) -> None:
    payload = recorded(name)
    del payload[place[0]][place[1]]
    with pytest.raises(RefusalError, match=rf"{name} in delivery d9 .*{place[0]}\.{place[1]}"):
        read_event(name.partition(".")[0], "d9", payload)


def test_a_repository_name_cannot_lead_elsewhere() -> None:
    payload = recorded("issues.labeled")
    payload["repository"]["full_name"] = "a/b/../../user"
    with pytest.raises(RefusalError, match=r"repository\.full_name"):
        read_event("issues", "d", payload)


@pytest.mark.parametrize("name", KNOWN)
def test_an_event_survives_being_stored(name: str) -> None:
    event = read(name)
    assert event is not None
    assert read_stored_event(event.model_dump(mode="json")) == event


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(KNOWN), st.data())
def test_whatever_a_payload_holds_it_is_read_or_refused(name: str, data: st.DataObject) -> None:
    payload = recorded(name)
    part: Any = payload
    key = data.draw(st.sampled_from(sorted(part)))
    while isinstance(part[key], dict) and part[key] and data.draw(st.booleans()):
        part = part[key]
        key = data.draw(st.sampled_from(sorted(part)))
    part[key] = data.draw(JSON)
    try:
        event = read_event(name.partition(".")[0], "d", payload)
    except RefusalError:
        return
    assert event is None or read_stored_event(event.model_dump(mode="json")) == event
