"""What a person asked for, as an order: the issue's text is frozen at that moment."""

from datetime import datetime, timedelta

from bot.events.types import CommentEvent, IssueEvent
from bot.github.types import Issue
from bot.jobs.types import Answer, JobKind, JobOrder, JobView
from pipelines.errors import RefusalError
from pipelines.requirement.no_code import wants_no_code
from pipelines.requirement.parse import parse_issue

AT_CREATION = timedelta(seconds=10)
"""A label that its author puts on this soon belongs to the opening, as a template's does."""


def label_order(event: IssueEvent) -> JobOrder:
    """Of the label: the text is the payload's, which is what the labelling person saw."""
    return JobOrder(
        repo=event.repo,
        issue=event.issue.number,
        title=event.issue.title,
        body=event.issue.body,
        author=event.issue.author.login,
        html_url=event.issue.html_url,
        requested_by=event.sender.login,
        requested_at=requested_at(event),
        delivery=event.delivery,
        at_creation=is_at_creation(event),
    )


def command_order(
    event: CommentEvent, issue: Issue, *, kind: JobKind = "generate", answers: tuple[Answer, ...] = ()
) -> JobOrder:
    """Of a command: the issue as it is now."""
    return JobOrder(
        repo=event.repo,
        issue=issue.number,
        title=issue.title,
        body=issue.body,
        author=issue.author.login,
        html_url=issue.html_url,
        requested_by=event.sender.login,
        requested_at=event.comment.created_at,
        delivery=event.delivery,
        kind=kind,
        answers=answers,
        explicit=True,
    )


def answered_order(event: CommentEvent, asked: JobOrder, answer: Answer) -> JobOrder:
    """The order that a question was asked about, with one more answer; its text stays frozen."""
    return asked.model_copy(
        update={
            "answers": (*asked.answers, answer),
            "requested_by": event.sender.login,
            "requested_at": event.comment.created_at,
            "delivery": event.delivery,
            "at_creation": False,
        }
    )


def wanted_kind(order: JobOrder) -> JobKind:
    """`explain` where the issue says that it wants no code; what cannot be read is left to the Job."""
    try:
        requirement = parse_issue(order.issue_text(), path=f"#{order.issue}")
    except RefusalError:
        return order.kind
    return "explain" if wants_no_code(requirement) else order.kind


def requested_at(event: IssueEvent) -> datetime:
    """When the label was put on."""
    return event.issue.created_at if event.action == "opened" else event.issue.updated_at


def is_at_creation(event: IssueEvent) -> bool:
    """Whether the label came with the opening: as `opened`, as `labeled`, or as both in any order."""
    if event.action == "opened":
        return True
    soon = event.issue.updated_at - event.issue.created_at <= AT_CREATION
    return soon and event.sender.login.casefold() == event.issue.author.login.casefold()


def is_served(latest: JobView | None, *, delivery: str, asked_at: datetime) -> bool:
    """Whether an event, or a later one, has its Job already: events may come twice and late.

    GitHub's times are whole seconds, so the same time does not mean the same event.
    """
    if latest is None:
        return False
    order = latest.request.order
    return order.delivery == delivery or order.requested_at > asked_at


def is_asking(latest: JobView | None) -> bool:
    """Whether the latest Job ended with a question that nobody has answered yet."""
    return (
        latest is not None
        and latest.state == "finished"
        and latest.outcome is not None
        and latest.outcome.status == "question"
    )
