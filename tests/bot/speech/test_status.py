from typing import get_args

import pytest
from markdown_it import MarkdownIt

from bot.jobs.types import JobOutcome, JobState, JobStatus
from bot.speech.markers import MARKER, QUESTION_MARKER, STATUS_MARKER, is_ours
from bot.speech.status import COMMANDS, StatusStep, StatusView, commands_line, render_status
from bot.speech.texts import knows, languages
from pipelines.budget import Budget, Spent

STEPS = (
    StatusStep(name="checks", state="done"),
    StatusStep(name="run", state="running", detail="sampling: 2 of 4"),
    StatusStep(name="push"),
    StatusStep(name="pull_request"),
)


def render(state: JobState = "running", language: str = "en", **facts: object) -> str:
    view = StatusView.model_validate({"state": state, "requested_by": "octo-cat"} | facts)
    return render_status(view, language=language)


def ended(status: JobStatus, *reasons: str, **facts: object) -> str:
    outcome = JobOutcome.model_validate({"status": status, "reasons": reasons} | facts)
    return render("failed" if status == "failed" else "finished", outcome=outcome)


def test_a_working_job_shows_its_place_in_a_few_lines() -> None:
    text = render(
        steps=STEPS,
        spent=Spent(prompt_tokens=12_000, completion_tokens=345, model_calls=3, sandbox_seconds=3.7),
        budget=Budget(),
        run_id="run-1",
        branch="issuewright/7-x",
        link="https://bot.example.org/jobs/1",
    )
    assert text == (
        f"{MARKER}{STATUS_MARKER}\n"
        "**Working on it.** Asked for by octo-cat.\n\n"
        "- [x] Look at the issue's state\n"
        "- [ ] **Write code and tests, and prove them**\n"
        "- [ ] Push the branch\n"
        "- [ ] Open the draft pull request\n\n"
        "Now: sampling: 2 of 4\n\n"
        "branch `issuewright/7-x` · run `run-1` · [details](https://bot.example.org/jobs/1)\n\n"
        "|  | used | limit |\n| --- | --- | --- |\n"
        "| tokens | 12\u202f345 | 200\u202f000 |\n"
        "| model calls | 3 | 200 |\n"
        "| seconds in the sandbox | 4 | 1\u202f800 |\n\n"
        "Commands for people with write access: `/issuewright stop` (stop the work); "
        "`/issuewright spec` (show what was understood)\n"
    )


def test_a_waiting_job_tells_its_place_in_the_queue() -> None:
    assert "**Waiting for its turn: number 3 in this repository's queue.**" in render("queued", position=3)
    assert "**Waiting for its turn.**" in render("queued")


def test_what_nobody_has_used_or_knows_takes_no_room() -> None:
    text = render("queued", budget=Budget())
    assert "|" not in text
    assert "branch" not in text


def test_a_step_that_was_skipped_or_failed_says_so() -> None:
    steps = (StatusStep(name="push", state="skipped"), StatusStep(name="other", state="failed", detail="no"))
    text = render("failed", steps=steps, error="the disk is full")
    assert "- [x] Push the branch (not needed)\n- [ ] other (failed: no)" in text
    assert "**Failed.** Asked for by octo-cat.\n\n- the disk is full\n" in text


def test_the_pull_request_is_named_by_its_address() -> None:
    text = ended(
        "draft", "1 of 2 fail.", pull_request_url="https://github.com/o/r/pull/9", run_id="r", branch="b"
    )
    assert "**Done, but not proven: please look closely.**" in text
    assert "- 1 of 2 fail." in text
    assert "Pull request: https://github.com/o/r/pull/9 · branch `b` · run `r`" in text
    assert "`/issuewright retry`" in text
    assert "`/issuewright stop`" not in text


def test_a_question_is_quoted_marked_and_asks_for_a_reply() -> None:
    text = ended("question", "Which one?\n- line 3\n- line 5")
    assert text.startswith(f"{MARKER}{STATUS_MARKER}{QUESTION_MARKER}\n")
    assert "> Which one?\n> - line 3\n> - line 5\n\nPlease reply in a comment" in text
    assert QUESTION_MARKER not in ended("green")


def test_an_answer_keeps_its_form() -> None:
    assert "> It adds.\n>\n> ```py\n> f(@x)\n> ```" in ended("explained", "It adds.\n\n```py\nf(@x)\n```")


@pytest.mark.parametrize("status", [s for s in get_args(JobStatus) if s != "failed"])
def test_every_end_has_a_headline_of_its_own(status: JobStatus) -> None:
    headline = ended(status).split("**")[1]
    assert headline
    assert headline != render().split("**")[1]


def test_attachments_that_nobody_read_are_named() -> None:
    text = render(unread=("a|b.png", "`c`.pdf"))
    assert "not read: `a|b.png`, `` `c`.pdf ``. Please add what matters" in text


@pytest.mark.parametrize("status", ["draft", "question", "explained", "refused"])
def test_nothing_in_a_reason_can_act_or_get_out(status: JobStatus) -> None:
    reason = "see @victim <img src=x> fixes #9\n\n# big\n\n- [ ] todo\n\n```\nopen\n<details>\n\n<!-- "
    text = ended(status, reason, "second reason")
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert "@victim" not in page
    assert "fixes #9" not in page
    assert "<img" not in page
    assert "<details>" not in page
    # What follows the reason is outside of it.
    assert page.rindex("Commands for people") > page.rindex("</ul>" if "<ul>" in page else "</blockquote>")
    assert "<p>Commands for people with write access" in page


def test_a_detail_stays_on_its_line() -> None:
    step = StatusStep(name="run", state="running", detail="a\n\n# b\n```\n@c")
    assert "Now: a # b ``` @\u200bc\n\nCommands" in render(steps=(step,))


@pytest.mark.parametrize("language", sorted(languages()))
def test_it_speaks_every_language_and_the_step_names_too(language: str) -> None:
    text = render("queued", language, position=2, steps=STEPS)
    assert is_ours(text)
    assert "pull_request" not in text
    assert all(knows(language, f"status.{state}") for state in get_args(JobState) if state != "finished")


def test_all_commands_are_listed_for_those_who_ask() -> None:
    assert all(f"`/issuewright {name}`" in commands_line("de") for name in COMMANDS)
