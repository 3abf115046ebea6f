"""What the emulated GitHub delivers is read as what happened there."""

from pathlib import Path

from bot.demo.emulator import INSTALLATION, Emulator
from bot.demo.local_github import LocalGitHub
from bot.events.payloads import read_event
from bot.events.types import AnyEvent, CommentEvent, IssueEvent, PullRequestEvent
from tests.bot.demo.deliveries import Deliveries, Delivery
from tests.bot.demo.test_emulator import REPO, new_issue
from tests.bot.git_scratch import new_scratch


def event(delivery: Delivery) -> AnyEvent:
    found = read_event(
        delivery.headers["x-github-event"], delivery.headers["x-github-delivery"], delivery.payload
    )
    assert found is not None
    return found


def last(deliveries: Deliveries, name: str, number: int, *, thing: str = "issue") -> AnyEvent:
    came = deliveries.wait("ada/teatime", name, where=lambda payload: payload[thing]["number"] == number)
    return event(came[-1])


def test_a_label(emulator: Emulator, deliveries: Deliveries) -> None:
    number = new_issue(emulator)
    emulator.as_person("bob").send("POST", f"{REPO}/issues/{number}/labels", {"labels": ["issuewright"]})
    labeled = last(deliveries, "issues.labeled", number)
    assert isinstance(labeled, IssueEvent)
    assert (labeled.label, labeled.sender.login, labeled.issue.number) == ("issuewright", "bob", number)
    assert (labeled.repo.full_name, labeled.repo.installation) == ("ada/teatime", INSTALLATION)
    assert labeled.default_branch == "main"


def test_an_issue_that_is_opened_with_the_label(emulator: Emulator, deliveries: Deliveries) -> None:
    body = {"title": "Count", "body": "text", "labels": ["issuewright"]}
    number = emulator.as_person("ada").send("POST", f"{REPO}/issues", body)["number"]
    opened = last(deliveries, "issues.opened", number)
    assert isinstance(opened, IssueEvent)
    assert opened.issue.labels == ("issuewright",)
    assert opened.issue.body == "text"


def test_a_comment(emulator: Emulator, deliveries: Deliveries) -> None:
    number = new_issue(emulator)
    path = f"{REPO}/issues/{number}/comments"
    emulator.as_person("eve").send("POST", path, {"body": "/issuewright retry"})
    commented = last(deliveries, "issue_comment.created", number)
    assert isinstance(commented, CommentEvent)
    assert (commented.comment.body, commented.comment.author.login) == ("/issuewright retry", "eve")
    assert not commented.issue.is_pull_request


def test_a_closed_pull_request(github: LocalGitHub, deliveries: Deliveries, tmp_path: Path) -> None:
    github.push(new_scratch(tmp_path / "work").path, "main:closing")
    github.push(tmp_path / "work", "main:open")
    emulator = github.emulator
    body = {"title": "Draft", "head": "closing", "base": "open", "draft": True}
    number = emulator.as_person("ada").send("POST", f"{REPO}/pulls", body)["number"]
    emulator.as_person("ada").send("PATCH", f"{REPO}/pulls/{number}", {"state": "closed"})
    closed = last(deliveries, "pull_request.closed", number, thing="pull_request")
    assert isinstance(closed, PullRequestEvent)
    assert (closed.pull_request.number, closed.pull_request.merged) == (number, False)
    assert closed.pull_request.head_ref == "closing"
