from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.behaviours.prechecks import refusal
from bot.github.errors import NotFound
from bot.jobs.desk import Desk
from bot.jobs.types import JobOutcome
from bot.progress import Display
from bot.runs import RunStore
from bot.settings import ServiceSettings, Settings
from bot.solving import Equipment, no_equipment
from bot.speech.texts import say
from pipelines.budget import Spent
from tests.bot.behaviours.scene import NAME, REPO, Scene, text

LABEL = "issuewright"


def nothing(_settings: Settings, _display: Display) -> Equipment:
    return no_equipment


class Checks:
    """Asks for the refusal of issue 1's latest Job."""

    def __init__(self, scene: Scene, data: Path) -> None:
        self.scene = scene
        self.settings = ServiceSettings(jobs_per_issue_per_day=3)
        self.desk = Desk(
            bot=replace(scene.bot, service_settings=self.settings),
            settings=Settings(data_dir=data),
            runs=RunStore(data),
            clones=data / "clones",
            equipment=nothing,
        )

    async def refusal(self) -> JobOutcome | None:
        request = self.scene.latest(1).request
        return await refusal(self.desk, request, await self.scene.github.repository(REPO))

    async def retry(self) -> None:
        self.scene.finish(1, "refused")
        await self.scene.comment(1, "/issuewright retry")


@pytest.fixture
async def checks(scene: Scene, tmp_path: Path) -> Checks:
    scene.issue()
    await scene.label(1, LABEL)
    return Checks(scene, tmp_path)


def refused(key: str, **values: object) -> JobOutcome:
    return JobOutcome(status="refused", reasons=(text(key, **values),))


async def test_nothing_speaks_against_it(checks: Checks) -> None:
    assert await checks.refusal() is None


@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize(
    ("change", "key"),
    [({"state": "closed"}, "reply.issue_closed"), ({"locked": True}, "reply.issue_locked")],
)
async def test_the_issue_is_closed_or_locked(
    checks: Checks, change: dict[str, Any], key: str, explicit: bool
) -> None:
    if explicit:
        await checks.retry()
    checks.scene.repo.change_issue(1, **change)
    assert await checks.refusal() == refused(key)


async def test_the_label_was_taken_off(checks: Checks) -> None:
    checks.scene.repo.change_issue(1, labels=("bug",))
    assert await checks.refusal() == refused("reply.label_removed", label=LABEL)
    await checks.retry()
    assert await checks.refusal() is None, "a command needs no label"


async def test_the_repository_s_own_label_is_asked_for(checks: Checks) -> None:
    checks.scene.repo.push("master", {".github/issuewright.yml": b"label: make it so\n"})
    assert await checks.refusal() == refused("reply.label_removed", label="make it so")
    checks.scene.repo.change_issue(1, labels=("Make It So",))
    assert await checks.refusal() is None


async def test_the_repository_is_archived(checks: Checks) -> None:
    repo = checks.scene.repo
    repo.facts = repo.facts.model_copy(update={"archived": True})
    assert await checks.refusal() == refused("reply.archived")


async def test_the_issue_is_gone(checks: Checks) -> None:
    del checks.scene.repo.issues[1]
    with pytest.raises(NotFound, match="there is no issue #1"):
        await checks.refusal()


@pytest.mark.parametrize(
    "body", ["Fixes #1", "resolves codertocat/hello-world#1", f"Closes https://github.com/{NAME}/issues/1"]
)
async def test_someone_s_open_pull_request_closes_it(checks: Checks, body: str) -> None:
    pull = checks.scene.pull(body)
    expected = refused("reply.other_pull_request", pull_request=pull.html_url)
    assert await checks.refusal() == expected
    await checks.retry()
    assert await checks.refusal() == expected


async def test_a_title_that_says_so_counts_too(checks: Checks) -> None:
    checks.scene.pull("", title="Fix #1: slugs")
    assert await checks.refusal() is not None


async def test_someone_s_merged_pull_request_closed_it(checks: Checks) -> None:
    pull = checks.scene.pull("Fixes #1")
    checks.scene.repo.change_pull(pull.number, state="closed", merged=True)
    assert await checks.refusal() == refused("reply.other_pull_request", pull_request=pull.html_url)
    await checks.retry()
    assert await checks.refusal() is None, "it was not enough, says a person"


@pytest.mark.parametrize("body", ["See #1", "Fixes #10", "Fixes other/repo#1", "`Fixes #1`"])
async def test_pull_requests_that_do_not_close_it(checks: Checks, body: str) -> None:
    checks.scene.pull(body)
    assert await checks.refusal() is None


async def test_someone_s_closed_pull_request_is_in_nobody_s_way(checks: Checks) -> None:
    pull = checks.scene.pull("Fixes #1")
    checks.scene.repo.change_pull(pull.number, state="closed")
    assert await checks.refusal() is None


async def test_our_own_open_pull_request_is_gone_on_with(checks: Checks) -> None:
    checks.scene.own_pull(1)
    assert await checks.refusal() is None


async def test_our_own_merged_pull_request_is_done_with(checks: Checks) -> None:
    pull = checks.scene.own_pull(1)
    checks.scene.repo.change_pull(pull.number, state="closed", merged=True)
    assert await checks.refusal() is None


async def test_our_closed_pull_request_means_declined(checks: Checks) -> None:
    pull = checks.scene.own_pull(1)
    checks.scene.repo.change_pull(pull.number, state="closed")
    outcome = await checks.refusal()
    assert outcome is not None
    assert (outcome.status, outcome.pull_request, outcome.pull_request_url) == (
        "declined",
        pull.number,
        pull.html_url,
    )
    assert outcome.reasons == (text("reply.declined", pull_request=pull.html_url),)
    await checks.retry()
    assert await checks.refusal() is None


async def test_the_latest_of_our_pull_requests_counts(checks: Checks) -> None:
    first = checks.scene.own_pull(1)
    checks.scene.repo.change_pull(first.number, state="closed")
    checks.scene.own_pull(1, branch="issuewright/1-again")
    assert await checks.refusal() is None


async def test_our_pull_request_for_another_issue_is_a_rival_when_it_closes_this_one(checks: Checks) -> None:
    other = checks.scene.issue()
    body = checks.scene.own_pull(other.number).body
    checks.scene.repo.change_pull(3, body=f"Fixes #1\n{body}")
    assert await checks.refusal() is not None


async def test_a_forged_pull_request_is_not_ours(checks: Checks) -> None:
    forged = checks.scene.pull(checks.scene.own_pull(1).body, branch="forged", author="carol")
    assert await checks.refusal() == refused("reply.other_pull_request", pull_request=forged.html_url)


async def test_a_renamed_repository_is_known_by_its_present_name(checks: Checks) -> None:
    checks.scene.github.rename(NAME, "octo/new")
    checks.scene.pull("Fixes octo/new#1")
    assert await checks.refusal() is not None


async def test_so_many_jobs_of_an_issue_are_enough_for_a_day(checks: Checks) -> None:
    for _ in range(2):
        await checks.retry()
        assert await checks.refusal() is None
    await checks.retry()
    assert await checks.refusal() == refused("reply.jobs_per_day", count=4, limit=3)
    checks.scene.order_earlier(hours=25)
    await checks.retry()
    assert await checks.refusal() is None


async def test_another_issue_s_jobs_do_not_count(checks: Checks) -> None:
    for _ in range(5):
        checks.scene.issue()
    for number in range(2, 7):
        await checks.scene.label(number, LABEL)
    assert await checks.refusal() is None


async def test_so_many_tokens_of_a_repository_are_enough_for_a_day(checks: Checks) -> None:
    checks.scene.issue()
    await checks.scene.label(2, LABEL)
    limit = checks.settings.tokens_per_day
    checks.scene.finish(2, "draft", spent=Spent(prompt_tokens=limit - 1, completion_tokens=1))
    assert await checks.refusal() == refused("reply.tokens_per_day", count=limit, limit=limit)
    checks.scene.finish(2, "draft", spent=Spent(prompt_tokens=limit - 1))
    assert await checks.refusal() is None


async def test_the_reason_is_in_the_issue_s_language(scene: Scene, tmp_path: Path) -> None:
    scene.issue("Texte in Adressen", "Die Funktion soll aus einem Text eine Adresse machen und nicht mehr.")
    await scene.label(1, LABEL)
    checks = Checks(scene, tmp_path)
    scene.repo.change_issue(1, state="closed")
    assert await checks.refusal() == JobOutcome(status="refused", reasons=(say("de", "reply.issue_closed"),))
