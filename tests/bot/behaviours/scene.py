"""A repository on a GitHub in memory, with the bot; events are GitHub's own payloads, changed in places."""

from datetime import timedelta
from itertools import count
from typing import Any

from bot.behaviours.all import handle
from bot.behaviours.context import Bot
from bot.events.payloads import read_event
from bot.github.fake import FakeGitHub
from bot.github.types import Actor, Comment, Issue, PullRequest, RepoRef
from bot.jobs.fake import FakeJobs
from bot.jobs.types import JobOutcome, JobStatus, JobView
from bot.settings import GitHubSettings, ServiceSettings
from bot.speech.markers import MARKER, STATUS_MARKER, data_marker
from bot.speech.texts import say
from tests.bot.events.recorded import recorded

NAME = "Codertocat/Hello-World"
REPO = RepoRef(owner="Codertocat", name="Hello-World")
TRUSTED = Actor(login="helpful[bot]", id=77, type="Bot")
STRANGER_APP = Actor(login="issuewright-official[bot]", id=78, type="Bot")


def person(login: str) -> Actor:
    return Actor(login=login, id=int.from_bytes(login.lower().encode()[:4], "big"))


class Scene:
    """alice writes here, bob may triage, carol owns nothing."""

    def __init__(self, *, jobs: FakeJobs | None = None) -> None:
        self.github = FakeGitHub()
        self.repo = self.github.add_repository(NAME, default_branch="master")
        self.repo.roles = {"alice": "write", "bob": "triage", "carol": "read"}
        self.jobs = jobs or FakeJobs()
        settings = GitHubSettings(trusted_bots=(TRUSTED.id,))
        self.bot = Bot(self.github, self.jobs, settings, ServiceSettings())
        self._deliveries = count()

    async def send(self, name: str, *, delivery: str | None = None, **changes: Any) -> None:
        """Deliver `event.action`, the recorded payload with these fields instead."""
        payload = recorded(name, **changes)
        event = read_event(name.partition(".")[0], delivery or f"delivery-{next(self._deliveries)}", payload)
        assert event is not None
        await handle(event, self.bot)

    def issue(self, title: str = "Add slugify", body: str = "Write `slugify(text)`.", **facts: Any) -> Issue:
        """An issue that is an hour old."""
        opened = self.repo.open_issue(title, body, **facts)
        at = opened.created_at - timedelta(hours=1)
        self.repo.issues[opened.number] = opened.model_copy(update={"created_at": at, "updated_at": at})
        return self.repo.issues[opened.number]

    async def label(self, number: int, *labels: str, by: Actor | str = "alice") -> None:
        """Someone puts labels on an issue: one event each, with all labels in each."""
        present = self.repo.issue(number).labels
        self.repo.change_issue(number, labels=(*present, *labels))
        for label in labels:
            await self.send(
                "issues.labeled",
                issue=issue_payload(self.repo.issue(number)),
                label={"name": label},
                sender=actor_payload(by),
            )

    async def opened(self, number: int) -> None:
        """The event of the issue's opening."""
        issue = self.repo.issue(number)
        at = {"updated_at": issue.created_at.isoformat()}
        await self.send("issues.opened", issue=issue_payload(issue) | at, sender=actor_payload(issue.author))

    async def comment(self, number: int, body: str, *, by: Actor | str = "alice") -> Comment:
        """Someone comments."""
        actor = by if isinstance(by, Actor) else person(by)
        said = self.repo.say(number, body, author=actor)
        await self.deliver(number, said)
        return said

    async def deliver(self, number: int, said: Comment) -> None:
        """The event of a comment, for the first time or again."""
        comment = {
            "id": said.id,
            "body": said.body,
            "user": actor_payload(said.author),
            "html_url": said.html_url,
            "created_at": said.created_at.isoformat(),
        }
        await self.send(
            "issue_comment.created",
            delivery=f"comment-{said.id}",
            issue=issue_payload(self.repo.issue(number)),
            comment=comment,
            sender=actor_payload(said.author),
            installation=None,
        )

    async def close(self, number: int, *, by: Actor | str = "alice") -> None:
        """Someone closes an issue; this event is no recorded one but made of another."""
        self.repo.change_issue(number, state="closed")
        payload = issue_payload(self.repo.issue(number))
        await self.send("issues.reopened", action="closed", issue=payload, sender=actor_payload(by))

    def pull(
        self, body: str, *, branch: str = "work", author: Actor | str = "bob", title: str = "Work"
    ) -> PullRequest:
        """A pull request from a branch of its own."""
        self.repo.push(branch, {"new.py": branch.encode()})
        actor = author if isinstance(author, Actor) else person(author)
        return self.repo.new_pull(
            head=branch, base="master", title=title, body=body, draft=False, author=actor
        )

    def own_pull(self, number: int, *, branch: str = "issuewright/1-add") -> PullRequest:
        """The bot's pull request for an issue."""
        body = f"{MARKER}\n# Done\n\nCloses #{number}\n{data_marker(issue=number)}\n"
        return self.pull(body, branch=branch, author=self.github.actor)

    async def close_pull(self, number: int, *, merged: bool = False, by: Actor | str = "alice") -> None:
        """Someone closes or merges a pull request."""
        self.repo.change_pull(number, state="closed", merged=merged)
        await self.deliver_closed_pull(number, by=by)

    async def deliver_closed_pull(self, number: int, *, by: Actor | str = "alice") -> None:
        """The event of a closed pull request, whatever it is now."""
        pull = self.repo.pull(number)
        template = recorded("pull_request.closed")["pull_request"]
        payload = template | {
            "number": pull.number,
            "body": pull.body,
            "merged": pull.merged,
            "user": actor_payload(pull.author),
            "html_url": pull.html_url,
        }
        await self.send("pull_request.closed", pull_request=payload, sender=actor_payload(by))

    def latest(self, number: int) -> JobView:
        """The issue's latest Job."""
        found = [job for job in self.jobs.views if job.request.order.issue == number]
        return found[-1]

    def finish(self, number: int, status: JobStatus, *reasons: str, **facts: Any) -> None:
        """The issue's latest Job ends."""
        outcome = JobOutcome(status=status, reasons=reasons, **facts)
        self.jobs.finish(self.latest(number).request.id, outcome)

    def work(self, number: int) -> None:
        """The issue's latest Job begins."""
        job = self.latest(number)
        begun = job.model_copy(update={"state": "running", "position": None})
        self.jobs.views = [begun if view == job else view for view in self.jobs.views]

    def order_earlier(self, **ago: float) -> None:
        """Put all orders back in time."""

        def earlier(job: JobView) -> JobView:
            order = job.request.order
            moved = order.model_copy(update={"requested_at": order.requested_at - timedelta(**ago)})
            return job.model_copy(update={"request": job.request.model_copy(update={"order": moved})})

        self.jobs.views = [earlier(job) for job in self.jobs.views]

    def reactions(self, number: int, comment: int | None = None) -> set[str]:
        return {
            reaction for issue, place, reaction in self.repo.reactions if (issue, place) == (number, comment)
        }

    def status(self, number: int) -> str:
        """The text of the one status comment."""
        (text,) = [body for body in self.said(number) if STATUS_MARKER in body]
        return text

    def replies(self, number: int) -> list[str]:
        """What the bot said otherwise."""
        return [body for body in self.said(number) if STATUS_MARKER not in body]

    def said(self, number: int) -> list[str]:
        """All texts of the bot in a thread."""
        return [
            comment.body for comment in self.repo.talk[number] if comment.author.id == self.github.actor.id
        ]


def text(key: str, **values: object) -> str:
    """One of the bot's fixed texts."""
    return say("en", key, **values)


def actor_payload(actor: Actor | str) -> dict[str, Any]:
    return (actor if isinstance(actor, Actor) else person(actor)).model_dump()


def issue_payload(issue: Issue) -> dict[str, Any]:
    template: dict[str, Any] = recorded("issues.labeled")["issue"]
    changed = {
        "number": issue.number,
        "title": issue.title,
        "body": issue.body or None,
        "state": issue.state,
        "locked": issue.locked,
        "labels": [{"name": label} for label in issue.labels],
        "user": actor_payload(issue.author),
        "html_url": issue.html_url,
        "created_at": issue.created_at.isoformat(),
        "updated_at": issue.updated_at.isoformat(),
    }
    is_pull = {"pull_request": {"url": issue.html_url}} if issue.is_pull_request else {}
    return template | changed | is_pull
