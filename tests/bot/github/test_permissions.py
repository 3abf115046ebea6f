from bot.github.permissions import EVENTS, PERMISSIONS, REQUIRED, missing, missing_of_collaborator, usable


def test_the_bot_never_asks_for_workflows_or_administration() -> None:
    assert not PERMISSIONS.keys() & {"workflows", "administration", "secrets", "members"}
    assert set(PERMISSIONS.values()) == {"read", "write"}
    assert PERMISSIONS.keys() >= REQUIRED


def test_all_that_is_granted_lacks_nothing() -> None:
    assert missing(PERMISSIONS) == ()
    assert missing(dict.fromkeys(PERMISSIONS, "admin")) == ()


def test_what_is_not_granted_or_only_to_read_is_missing() -> None:
    assert missing({**PERMISSIONS, "contents": "read"}) == ("contents: write",)
    assert missing({"metadata": "read"}) == ("contents: write", "issues: write", "pull_requests: write")


def test_what_only_explains_failures_is_not_missed() -> None:
    assert missing({name: PERMISSIONS[name] for name in REQUIRED}) == ()


def test_a_token_asks_for_ours_as_far_as_they_were_granted() -> None:
    granted = {"contents": "read", "issues": "admin", "pages": "write", "metadata": "read", "actions": "odd"}
    assert usable(granted) == {"metadata": "read", "contents": "read", "issues": "write"}
    assert usable({}) == {}
    assert usable(PERMISSIONS) == PERMISSIONS


def test_who_may_push_may_do_it_all() -> None:
    assert missing_of_collaborator({"push": True}) == ()
    assert missing_of_collaborator({"triage": True}) == ("contents: write", "pull_requests: write")
    assert missing_of_collaborator({}) == ("contents: write", "pull_requests: write", "issues: write")


def test_the_events_are_those_that_the_bot_answers() -> None:
    assert {"issues", "issue_comment", "pull_request"} <= set(EVENTS)
    assert len(EVENTS) == len(set(EVENTS))
