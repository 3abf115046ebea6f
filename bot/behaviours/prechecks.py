"""What a good colleague looks at before starting: is it still wanted, free, and within what was allowed?"""

from typing import NamedTuple

from bot.behaviours.closing_keywords import closes
from bot.behaviours.label import is_labelled, trigger_label
from bot.behaviours.permission import is_same
from bot.behaviours.status import order_language
from bot.github.types import Actor, Issue, PullRequest, Repository
from bot.jobs.desk import Desk
from bot.jobs.types import JobOrder, JobOutcome, JobRequest, JobView
from bot.settings import ServiceSettings
from bot.speech.markers import issue_of
from bot.speech.texts import say

DAY = 24.0


class Situation(NamedTuple):
    """How things stand when a Job begins."""

    issue: Issue
    repository: Repository
    trigger: str
    """The repository's trigger label."""
    own: tuple[PullRequest, ...] = ()
    """Our pull requests for the issue, the latest first."""
    others: tuple[PullRequest, ...] = ()
    """Open and merged pull requests of anyone else that close the issue, the latest first."""
    jobs: int = 1
    """Jobs of the issue within a day, this one included."""
    tokens: int = 0
    """Spent in the repository within a day."""


async def refusal(desk: Desk, request: JobRequest, repository: Repository) -> JobOutcome | None:
    """Why a Job must not begin, or None. Raises the errors of `bot.github.errors`."""
    situation = await look(desk, request.order, repository)
    return decide(request.order, situation, desk.bot.service_settings)


async def look(desk: Desk, order: JobOrder, repository: Repository) -> Situation:
    """The situation as it is now."""
    github = desk.github
    issue = await github.issue(order.repo, order.issue)
    me = await github.identity()
    pulls = await github.recent_pull_requests(order.repo)
    own = tuple(pull for pull in pulls if is_own_for(pull, issue, me))
    recent = await desk.jobs.recent(order.repo.key, hours=DAY)
    return Situation(
        issue=issue,
        repository=repository,
        trigger=await trigger_label(desk.bot, order.repo, repository.default_branch),
        own=own,
        others=tuple(pull for pull in pulls if pull not in own and is_rival(pull, issue, repository)),
        jobs=sum(job.request.order.thread == order.thread for job in recent),
        tokens=tokens_of(recent),
    )


def decide(order: JobOrder, now: Situation, settings: ServiceSettings) -> JobOutcome | None:
    """The first reason that speaks against it."""
    return (
        _state_refusal(order, now)
        or _pull_request_refusal(order, now)
        or _breaker_refusal(order, now, settings)
    )


def is_own_for(pull: PullRequest, issue: Issue, me: Actor) -> bool:
    """Whether it is our pull request for the issue; the account alone is no proof, a person may share it."""
    return is_same(pull.author, me) and issue_of(pull.body) == issue.number


def is_rival(pull: PullRequest, issue: Issue, repository: Repository) -> bool:
    """Whether it is open or merged, and says that it closes the issue."""
    return (pull.state == "open" or pull.merged) and any(
        closes(text, full_name=repository.full_name, number=issue.number, html_url=issue.html_url)
        for text in (pull.title, pull.body)
    )


def tokens_of(jobs: list[JobView]) -> int:
    """What finished Jobs have spent."""
    return sum(job.outcome.spent.tokens for job in jobs if job.outcome is not None)


def _state_refusal(order: JobOrder, now: Situation) -> JobOutcome | None:
    if now.repository.archived:
        return _refused(order, "reply.archived")
    if now.issue.state == "closed":
        return _refused(order, "reply.issue_closed")
    if now.issue.locked:
        return _refused(order, "reply.issue_locked")
    if not order.explicit and not is_labelled(now.issue.labels, now.trigger):
        return _refused(order, "reply.label_removed", label=now.trigger)
    return None


def _pull_request_refusal(order: JobOrder, now: Situation) -> JobOutcome | None:
    """An explicit order overrules what is past: our declined pull request, and anyone's merged one."""
    latest = now.own[0] if now.own else None
    if latest and latest.state == "closed" and not latest.merged and not order.explicit:
        reason = say(order_language(order), "reply.declined", pull_request=latest.html_url)
        return JobOutcome(
            status="declined",
            reasons=(reason,),
            pull_request=latest.number,
            pull_request_url=latest.html_url,
        )
    for pull in now.others:
        if pull.state == "open" or not order.explicit:
            return _refused(order, "reply.other_pull_request", pull_request=pull.html_url)
    return None


def _breaker_refusal(order: JobOrder, now: Situation, settings: ServiceSettings) -> JobOutcome | None:
    most_jobs, most_tokens = settings.jobs_per_issue_per_day, settings.tokens_per_day
    if now.jobs > most_jobs:
        return _refused(order, "reply.jobs_per_day", count=now.jobs, limit=most_jobs)
    if now.tokens >= most_tokens:
        return _refused(order, "reply.tokens_per_day", count=now.tokens, limit=most_tokens)
    return None


def _refused(order: JobOrder, key: str, **values: object) -> JobOutcome:
    return JobOutcome(status="refused", reasons=(say(order_language(order), key, **values),))
