"""Every documented trigger, from GitHub's recorded payload to what the bot does."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from bot.behaviours.all import handle, router
from bot.events.payloads import read_event
from bot.github.errors import Unavailable
from bot.github.types import Actor
from bot.settings import ServiceSettings
from bot.speech.markers import MARKER, data_marker
from tests.bot.behaviours.scene import Scene, text
from tests.bot.events.recorded import recorded

CODERTOCAT = Actor(login="Codertocat", id=21031067)
RECORDED = (
    "issues.labeled",
    "issues.opened",
    "issue_comment.created",
    "pull_request.labeled",
    "pull_request.closed",
)


@pytest.fixture
def recorded_scene(scene: Scene) -> Scene:
    """The repository of the recorded payloads; its only label, `bug`, is the trigger."""
    scene.bot = replace(scene.bot, service_settings=ServiceSettings(label="bug"))
    scene.repo.roles["Codertocat"] = "admin"
    scene.issue("Spelling error in the README file", labels=("bug",))
    return scene


@pytest.mark.parametrize("name", RECORDED)
def test_every_event_that_is_read_has_a_behaviour(name: str) -> None:
    event = read_event(name.partition(".")[0], "d", recorded(name))
    assert event is not None
    assert router.matches(event)


@pytest.mark.parametrize(("name", "at_creation"), [("issues.labeled", True), ("issues.opened", True)])
async def test_a_recorded_label_starts_a_job(recorded_scene: Scene, name: str, at_creation: bool) -> None:
    await recorded_scene.send(name)
    order = recorded_scene.latest(1).request.order
    assert (order.title, order.requested_by) == ("Spelling error in the README file", "Codertocat")
    assert order.at_creation == at_creation
    assert recorded_scene.reactions(1) == {"eyes"}


@pytest.mark.parametrize(
    ("command", "kind"),
    [("retry", "generate"), ("explain", "explain"), ("spec", None), ("status", None), ("stop", None)],
)
async def test_a_recorded_comment_with_a_command(
    recorded_scene: Scene, command: str, kind: str | None
) -> None:
    comment = recorded("issue_comment.created")["comment"] | {"body": f"/issuewright {command}"}
    said = recorded_scene.repo.say(1, comment["body"], author=CODERTOCAT)
    await recorded_scene.send("issue_comment.created", comment=comment | {"id": said.id})
    assert [job.request.order.kind for job in recorded_scene.jobs.views] == ([kind] if kind else [])
    assert recorded_scene.reactions(1, said.id) == {"eyes"}
    assert len(recorded_scene.said(1)) == 1


async def test_a_recorded_comment_as_an_answer(recorded_scene: Scene) -> None:
    await recorded_scene.send("issues.labeled")
    recorded_scene.finish(1, "question", "Which file?")
    await recorded_scene.send("issue_comment.created")
    (answer,) = recorded_scene.latest(1).request.order.answers
    assert answer.body == "You are totally right! I'll get this fixed right away."


async def test_a_recorded_comment_without_a_question_is_talk(recorded_scene: Scene) -> None:
    await recorded_scene.send("issue_comment.created")
    assert (recorded_scene.jobs.views, recorded_scene.github.writes) == ([], [])


async def test_a_recorded_label_on_a_pull_request(recorded_scene: Scene) -> None:
    recorded_scene.issue()
    await recorded_scene.send("pull_request.labeled")
    assert recorded_scene.jobs.views == []
    assert recorded_scene.reactions(2) == {"confused"}


async def test_a_recorded_closed_pull_request_that_is_ours(recorded_scene: Scene) -> None:
    scene = recorded_scene
    await scene.send("issues.labeled")
    ours = scene.own_pull(1)
    scene.repo.change_pull(ours.number, state="closed")
    pull = recorded("pull_request.closed")["pull_request"] | {
        "user": scene.github.actor.model_dump(),
        "body": f"{MARKER}\n{data_marker(issue=1)}",
    }
    assert pull["number"] == ours.number
    await scene.send("pull_request.closed", pull_request=pull)
    assert scene.latest(1).state == "stopped"
    assert text("status.declined") in scene.status(1)


async def test_a_recorded_closed_pull_request_of_a_person(recorded_scene: Scene) -> None:
    await recorded_scene.send("issues.labeled")
    await recorded_scene.send("pull_request.closed")
    assert recorded_scene.latest(1).state == "queued"


Act = Callable[[Scene], Awaitable[Any]]


async def _asked(scene: Scene) -> None:
    scene.issue(author="carol")
    await scene.label(1, "issuewright")
    scene.order_earlier(minutes=1)


async def _finished(scene: Scene) -> None:
    await _asked(scene)
    scene.finish(1, "draft", "A test fails.")


async def _questioned(scene: Scene) -> None:
    await _asked(scene)
    scene.finish(1, "question", "Bytes or text?")


async def _proposed(scene: Scene) -> None:
    await _asked(scene)
    pull = scene.own_pull(1)
    scene.repo.change_pull(pull.number, state="closed")


async def _opened(scene: Scene) -> None:
    scene.issue(author="carol")


async def _closed_issue(scene: Scene) -> None:
    await _asked(scene)
    scene.repo.change_issue(1, state="closed")


def _says(body: str, by: str = "alice") -> Act:
    async def say(scene: Scene) -> None:
        there = [comment for comment in scene.repo.talk[1] if comment.body == body]
        await scene.deliver(1, there[0] if there else scene.repo.say(1, body, author=by))

    return say


async def _labels(scene: Scene) -> None:
    await scene.label(1, "issuewright")


async def _stranger_labels(scene: Scene) -> None:
    await scene.label(1, "issuewright", by="bob")


async def _closes(scene: Scene) -> None:
    await scene.close(1)


async def _closes_pull(scene: Scene) -> None:
    await scene.deliver_closed_pull(2)


STORIES: dict[str, tuple[Act, Act]] = {
    "label": (_opened, _labels),
    "label by a triager": (_opened, _stranger_labels),
    "retry": (_finished, _says("/issuewright retry")),
    "retry with answers": (_questioned, _says("Text.\n/issuewright retry")),
    "stop": (_asked, _says("/issuewright stop")),
    "status": (_asked, _says("/issuewright status")),
    "explain": (_finished, _says("/issuewright explain")),
    "explanation": (_opened, _says("/issuewright explain")),
    "spec": (_asked, _says("/issuewright spec")),
    "help": (_asked, _says("/issuewright dance")),
    "answer": (_questioned, _says("Text.")),
    "answer to confirm": (_questioned, _says("Text.", by="carol")),
    "closed issue": (_closed_issue, _closes),
    "closed pull request": (_proposed, _closes_pull),
}


async def _end_of(
    story: tuple[Act, Act], *, broken: str | None = None, done: bool = False
) -> tuple[list[object], list[str]]:
    """The Jobs and our comments after a story whose event is handled again when a call of GitHub fails."""
    scene = Scene()
    before, act = story
    await before(scene)
    calls = len(scene.github.calls)
    if broken:
        scene.github.fail(broken, Unavailable("down"), done=done)
    try:
        await act(scene)
    except Unavailable:
        await act(scene)
    jobs = [
        (job.request.generation, job.state, job.request.order.kind, job.request.order.answers)
        for job in scene.jobs.views
    ]
    _calls.update(scene.github.calls[calls:])
    return list(jobs), scene.said(1)


_calls: set[str] = set()


@pytest.mark.parametrize("name", STORIES)
async def test_an_event_that_failed_half_way_is_done_once_in_the_end(name: str) -> None:
    """Whichever call fails, before it did its work or after."""
    _calls.clear()
    expected = await _end_of(STORIES[name])
    for call in sorted(_calls):
        for done in (False, True):
            assert await _end_of(STORIES[name], broken=call, done=done) == expected, (call, done)


async def test_an_event_without_a_behaviour_asks_nothing_of_github(scene: Scene) -> None:
    event = read_event("issues", "d", recorded("issues.labeled"))
    assert event is not None
    await handle(event.model_copy(update={"action": "from_the_future"}), scene.bot)
    assert scene.github.calls == []


async def test_the_thread_is_the_same_for_every_spelling(scene: Scene) -> None:
    scene.issue()
    await scene.label(1, "issuewright")
    order = scene.latest(1).request.order
    shouted = order.repo.model_copy(update={"owner": order.repo.owner.upper()})
    assert order.model_copy(update={"repo": shouted}).thread == order.thread
