import pytest

from bot.demo.watching import News, Seen, SeenPullRequest, news, visible

WORKING = "**Working on it.**\n\n- [ ] Push\n\n`/issuewright stop` (stop the work)"
DONE = "**Done.**\n\n- [x] Push\n\n`/issuewright retry` (start again)"
PULL = SeenPullRequest("Count the sales", "issuewright/1-count", draft=True, text="Closes #1")


def test_everything_new_is_told_in_the_order_in_which_it_is_made() -> None:
    after = Seen({5: WORKING}, {"main": "a" * 40, "issuewright/1-count": "b" * 40}, {2: PULL})
    assert list(news(Seen(branches={"main": "a" * 40}), after)) == [
        News("branch issuewright/1-count is at bbbbbbbbbbbb"),
        News("draft pull request #2 from issuewright/1-count: Count the sales", "Closes #1"),
        News("the bot comments", WORKING),
    ]


def test_a_comment_with_another_headline_is_told_whole() -> None:
    assert list(news(Seen({5: WORKING}), Seen({5: DONE}))) == [News("the bot edits its comment", DONE)]


def test_of_progress_only_the_new_lines_are_told_and_no_figures() -> None:
    later = WORKING + "\n\nNow: testing\n\n| tokens | 5 |"
    assert list(news(Seen({5: WORKING}), Seen({5: later}))) == [
        News("the bot edits its comment", "Now: testing")
    ]
    assert list(news(Seen({5: later}), Seen({5: later.replace("5", "6")}))) == []


def test_a_branch_that_moved_is_told_again() -> None:
    (moved,) = news(Seen(branches={"x": "a" * 40}), Seen(branches={"x": "c" * 40}))
    assert moved == News("branch x is at cccccccccccc")


def test_nothing_new_is_no_news() -> None:
    seen = Seen({5: WORKING}, {"main": "a" * 40}, {2: PULL})
    assert list(news(seen, seen)) == []


@pytest.mark.parametrize(("text", "over"), [(WORKING, False), (DONE, True)])
def test_the_bot_is_done_when_it_offers_to_start_again(text: str, over: bool) -> None:
    assert Seen({5: text}).over is over


def test_hidden_comments_are_not_seen() -> None:
    assert visible("<!-- issuewright --><!-- a\nb -->\nHello <!-- x -->you\n") == "Hello you"
