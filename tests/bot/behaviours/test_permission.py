from dataclasses import replace

import pytest

from bot.behaviours.permission import MAX_BOT_COMMENTS, is_own, is_same
from bot.github.types import Actor
from bot.settings import GitHubSettings
from bot.speech.markers import MARKER
from tests.bot.behaviours.scene import STRANGER_APP, TRUSTED, Scene, person, text

LABEL = "issuewright"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Actor(login="a", id=1), Actor(login="b", id=1), True),
        (Actor(login="a", id=1), Actor(login="a", id=2), False),
        (Actor(login="A", id=0), Actor(login="a", id=2), True),
        (Actor(login="a[bot]"), Actor(login="a"), False),
    ],
)
def test_the_id_tells_accounts_apart_and_the_login_where_there_is_none(
    one: Actor, other: Actor, same: bool
) -> None:
    assert is_same(one, other) == same


def test_an_app_s_events_are_its_own_but_a_person_shares_the_account() -> None:
    app, owner = Actor(login="issuewright[bot]", id=5, type="Bot"), person("alice")
    assert is_own(app, app)
    assert not is_own(Actor(login="issuewright[bot]", id=6, type="Bot"), app)
    assert not is_own(owner, owner)


async def test_with_a_person_s_token_that_person_can_work_with_the_bot(scene: Scene) -> None:
    scene.github.actor = person("alice")
    scene.issue()
    await scene.label(1, LABEL)
    assert len(scene.jobs.views) == 1
    await scene.comment(1, f"{MARKER}\n/issuewright stop")
    assert scene.latest(1).state == "queued", "this was the bot itself"
    await scene.comment(1, "/issuewright stop")
    assert scene.latest(1).state == "stopped"


@pytest.mark.parametrize("who", [STRANGER_APP, STRANGER_APP.model_copy(update={"login": "alice"})])
async def test_a_bot_s_comment_is_not_heard_whatever_its_name(scene: Scene, who: Actor) -> None:
    scene.issue()
    await scene.comment(1, "/issuewright retry", by=who)
    assert (scene.jobs.views, scene.github.writes) == ([], [])


async def test_our_own_comment_is_not_heard_even_without_the_marker(scene: Scene) -> None:
    scene.issue()
    await scene.comment(1, "/issuewright retry", by=scene.github.actor)
    assert (scene.jobs.views, scene.github.writes) == ([], [])


async def test_we_are_no_trusted_bot_even_if_the_owner_says_so(scene: Scene) -> None:
    settings = GitHubSettings(trusted_bots=(scene.github.actor.id,))
    scene.bot = replace(scene.bot, github_settings=settings)
    scene.issue()
    await scene.label(1, LABEL, by=scene.github.actor)
    assert (scene.jobs.views, scene.github.writes) == ([], [])


async def test_a_person_named_like_a_bot_is_a_person(scene: Scene) -> None:
    scene.repo.roles["robot-bot"] = "write"
    scene.issue()
    await scene.comment(1, "/issuewright retry", by="robot-bot")
    assert len(scene.jobs.views) == 1


async def test_a_conversation_of_bots_comes_to_an_end(scene: Scene) -> None:
    scene.issue()
    for _ in range(3 * MAX_BOT_COMMENTS):
        await scene.comment(1, "/issuewright retry", by=TRUSTED)
        scene.finish(1, "question", "Really?")
    assert len(scene.jobs.views) == MAX_BOT_COMMENTS
    assert [text("reply.bot_events") in reply for reply in scene.replies(1)] == [True]
    await scene.comment(1, "/issuewright retry")
    assert len(scene.jobs.views) == MAX_BOT_COMMENTS + 1, "people go on"


async def test_bots_that_are_not_heard_use_nothing_up(scene: Scene) -> None:
    scene.issue()
    for _ in range(2 * MAX_BOT_COMMENTS):
        await scene.comment(1, "Coverage: 97 %", by=STRANGER_APP)
    await scene.comment(1, "/issuewright retry", by=TRUSTED)
    assert len(scene.jobs.views) == 1
