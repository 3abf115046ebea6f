import pytest

from bot.github.types import Actor
from tests.bot.behaviours.scene import STRANGER_APP, Scene, issue_payload, text

LABEL = "issuewright"
CLOSERS: tuple[Actor | str, ...] = ("alice", "carol", STRANGER_APP)


@pytest.fixture
async def working(scene: Scene) -> Scene:
    scene.issue()
    await scene.label(1, LABEL)
    return scene


@pytest.mark.parametrize("by", CLOSERS)
@pytest.mark.parametrize("at_work", [False, True])
async def test_a_closed_issue_stops_its_job(working: Scene, by: Actor | str, at_work: bool) -> None:
    if at_work:
        working.work(1)
    await working.close(1, by=by)
    assert working.latest(1).state == "stopped"
    assert text("reply.issue_closed") in working.status(1)


async def test_a_closed_issue_whose_job_is_over_is_left_alone(working: Scene) -> None:
    working.finish(1, "green")
    before = working.status(1)
    await working.close(1)
    assert working.latest(1).state == "finished"
    assert working.status(1) == before


async def test_a_closed_issue_without_a_job(scene: Scene) -> None:
    scene.issue()
    await scene.close(1)
    assert scene.github.writes == []


async def test_an_issue_that_is_open_again_goes_on(working: Scene) -> None:
    payload = issue_payload(working.repo.issue(1)) | {"state": "closed"}
    await working.send("issues.reopened", action="closed", issue=payload)
    assert working.latest(1).state == "queued"


@pytest.mark.parametrize("by", CLOSERS)
async def test_our_closed_pull_request_is_declined(working: Scene, by: Actor | str) -> None:
    pull = working.own_pull(1)
    working.finish(1, "green")
    await working.close_pull(pull.number, by=by)
    assert text("status.declined") in working.status(1)
    assert pull.html_url in working.status(1)
    assert len(working.jobs.views) == 1
    assert len(working.said(1)) == 1


async def test_a_decline_stops_the_job_at_work(working: Scene) -> None:
    pull = working.own_pull(1)
    working.work(1)
    await working.close_pull(pull.number)
    assert working.latest(1).state == "stopped"
    assert text("status.declined") in working.status(1)


async def test_a_decline_that_comes_again_says_nothing_new(working: Scene) -> None:
    pull = working.own_pull(1)
    await working.close_pull(pull.number)
    before = list(working.github.writes)
    await working.deliver_closed_pull(pull.number)
    assert working.github.writes == before


async def test_a_merged_pull_request_is_no_decline(working: Scene) -> None:
    pull = working.own_pull(1)
    working.finish(1, "green")
    before = working.status(1)
    await working.close_pull(pull.number, merged=True)
    assert working.status(1) == before


async def test_a_pull_request_that_is_open_again_is_no_decline(working: Scene) -> None:
    pull = working.own_pull(1)
    await working.deliver_closed_pull(pull.number)
    assert working.latest(1).state == "queued"


async def test_other_pull_requests_are_not_ours_whatever_they_say(working: Scene) -> None:
    marked = working.own_pull(1)
    forged = working.pull(marked.body, branch="forged", author="carol")
    unmarked = working.pull("Closes #1", branch="other", author=working.github.actor)
    for pull in (forged, unmarked):
        await working.close_pull(pull.number)
    assert working.latest(1).state == "queued"


async def test_a_pull_request_of_an_issue_that_was_never_worked_on(scene: Scene) -> None:
    scene.issue()
    pull = scene.own_pull(1)
    await scene.close_pull(pull.number)
    assert scene.said(1) == []


async def test_after_a_decline_only_a_command_starts_again(working: Scene) -> None:
    pull = working.own_pull(1)
    working.finish(1, "green")
    await working.close_pull(pull.number)
    await working.comment(1, "What a pity.")
    assert len(working.jobs.views) == 1
    await working.comment(pull.number, "/issuewright retry")
    assert working.latest(1).request.order.explicit
