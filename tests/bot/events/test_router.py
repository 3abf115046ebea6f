import pytest

from bot.behaviours.context import Bot
from bot.events.payloads import read_event
from bot.events.router import Router
from bot.events.types import AnyEvent, CommentEvent, IssueEvent, PullRequestEvent
from bot.github.fake import FakeGitHub
from bot.jobs.fake import FakeJobs
from bot.settings import GitHubSettings, ServiceSettings
from tests.bot.events.recorded import recorded


def event(name: str) -> AnyEvent:
    read = read_event(name.partition(".")[0], "d", recorded(name))
    assert read is not None
    return read


@pytest.fixture
def bot() -> Bot:
    return Bot(FakeGitHub(), FakeJobs(), GitHubSettings(), ServiceSettings())


class Log(list[str]):
    """A router's handlers that note their names."""

    def router(self, name: str, *actions: str) -> Router:
        router = Router()

        @router.on(IssueEvent, *actions)
        async def note(event: IssueEvent, bot: Bot) -> None:
            self.append(f"{name} {event.label}")

        return router


async def test_a_handler_gets_the_events_it_is_registered_for(bot: Bot) -> None:
    log = Log()
    router = log.router("a", "labeled", "opened")
    for name in ("issues.labeled", "issues.opened", "issue_comment.created", "pull_request.closed"):
        await router.dispatch(event(name), bot)
    assert log == ["a bug", "a None"]


async def test_nothing_matches_what_no_handler_is_for(bot: Bot) -> None:
    router = Log().router("a", "closed")
    assert not router.matches(event("issues.labeled"))
    assert not router.matches(event("pull_request.closed")), "the same action of another kind"
    assert not Router().matches(event("issues.labeled"))
    await router.dispatch(event("issues.labeled"), bot)


def test_matching_needs_kind_and_action() -> None:
    router = Router()

    @router.on(PullRequestEvent, "closed")
    async def closed(event: PullRequestEvent, bot: Bot) -> None:
        raise AssertionError

    @router.on(CommentEvent, "created")
    async def created(event: CommentEvent, bot: Bot) -> None:
        raise AssertionError

    names = ("pull_request.closed", "issue_comment.created", "issues.labeled", "pull_request.labeled")
    assert [router.matches(event(name)) for name in names] == [True, True, False, False]


async def test_composed_routers_keep_their_order(bot: Bot) -> None:
    log = Log()
    composed = Router(
        log.router("a", "labeled"), Router(log.router("b", "labeled")), log.router("c", "opened")
    )
    await composed.dispatch(event("issues.labeled"), bot)
    assert log == ["a bug", "b bug"]


async def test_composing_changes_no_part(bot: Bot) -> None:
    log = Log()
    part = log.router("a", "labeled")
    Router(part, log.router("b", "labeled"))
    await part.dispatch(event("issues.labeled"), bot)
    assert log == ["a bug"]


async def test_a_failure_is_the_callers_business_and_ends_it(bot: Bot) -> None:
    log = Log()
    failing = Router()

    @failing.on(IssueEvent, "labeled")
    async def fail(event: IssueEvent, bot: Bot) -> None:
        raise OSError("down")

    with pytest.raises(OSError, match="down"):
        await Router(failing, log.router("b", "labeled")).dispatch(event("issues.labeled"), bot)
    assert log == []
