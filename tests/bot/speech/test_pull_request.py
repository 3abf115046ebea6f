import re
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.runs import Manifest
from bot.speech.markers import MARKER, issue_of
from bot.speech.pull_request import commit_message, pull_request_body
from bot.speech.texts import languages
from pipelines.budget import Budget, Spent
from pipelines.candidate import Status, TestCase
from pipelines.evidence import Evidence, RepositoryTests, Row
from pipelines.pipeline import Result
from pipelines.requirement.types import Criterion, Requirement, Source

MANIFEST = Manifest(
    issue_path="issue.md",
    issue_text=b"# Add f",
    repository="/somewhere",
    base="b" * 40,
    models={"executor": "embedded", "planner": "embedded"},
    strategy="direct",
    parameters={},
    seed=3,
    budget=Budget(),
    author_name="a",
    author_email="a@example.org",
    branch=None,
    started=datetime(2026, 1, 2, tzinfo=UTC),
    version="0.1.0",
    prompts="p",
)


def row(
    name: str, trust: str = "given", head: Status = "passed", body: str = "assert f(1) == 2", **facts: Any
) -> Row:
    case = TestCase.model_validate(
        {"name": name, "trust": trust, "body": (body,), "names": ("f",), "title": "f(1) | 2", "call": "f(1)"}
    )
    return Row(case=case, base="error", stub="failed", head=head, **facts)


def result(status: str = "green", *, title: str = "Add f", **facts: Any) -> Result:
    requirement = Requirement(
        title=title,
        summary="",
        body="",
        criteria=(Criterion(id="C1", text="doubles | adds"), Criterion(id="C2", text="fast", origin="model")),
        notes=("An HTML comment was dropped.",),
        source=Source(path="issue.md", sha256="0" * 64),
    )
    base: dict[str, Any] = {
        "status": status,
        "reasons": (),
        "requirement": requirement,
        "files": {"src/f.py": "", "tests/test_f.py": ""},
        "test_path": "tests/test_f.py",
        "models": ("tiny-coder",),
        "spent": Spent(prompt_tokens=10, completion_tokens=5, model_calls=2, sandbox_seconds=1.25),
    }
    return Result.model_validate(base | facts)


def evidence(*rows: Row, **facts: Any) -> Evidence:
    return Evidence(rows=rows, **({"repository": RepositoryTests(state="none")} | facts))


def body(said: Result, branch: str | None = "issuewright/add-f") -> str:
    return pull_request_body(said, MANIFEST, run_id="run-1", branch=branch)


def test_a_green_body_shows_everything_a_reviewer_needs() -> None:
    text = body(result(evidence=evidence(row("test_given_1")), assumptions=("Assumed `def f(x)`.",)))
    assert text.startswith(f"{MARKER}\n# Add f\n")
    assert "Every given test passes" in text
    assert "| `test_given_1` | given | f(1) \\| 2 | error | failed | **passed** |" in text
    assert "- `tests/test_f.py` (tests)" in text
    assert "Assumed `def f(x)`." in text
    assert "An HTML comment was dropped." in text
    assert "2 model calls, 10 prompt and 5 completion tokens, 1.2 s in the sandbox" in text
    assert "git switch issuewright/add-f\npython -m pytest tests/test_f.py\nissuewright replay run-1" in text
    assert "with `tiny-coder`, strategy `direct`, seed 3" in text


def test_a_draft_says_so_first_and_shows_the_failure() -> None:
    failing = row("test_given_1", head="failed", message="E  assert 3 == 2\n```")
    text = body(result("draft", reasons=("1 of 1 given tests do not pass.",), evidence=evidence(failing)))
    assert text.index("Draft: this is not proven") < text.index("## Files")
    assert "- 1 of 1 given tests do not pass." in text
    assert "````\nE  assert 3 == 2\n```\n````" in text
    assert "Every given test passes" not in text


def test_hosts_that_were_tried_are_shown_even_when_all_is_green() -> None:
    own = RepositoryTests(state="not runnable", diagnosis="boom", blocked_hosts=("api.example.com:80",))
    facts = {"blocked_hosts": ("a.example.org", "b.example.org:443"), "repository": own}
    text = body(result(evidence=evidence(row("test_given_1"), **facts)))
    assert (
        "## Network\n\nThe new code tried to reach `a.example.org`, `b.example.org:443`; the sandbox has"
        in text
    )
    assert "They tried to reach `api.example.com:80`" in text
    assert "Network" not in body(result(evidence=evidence(row("test_given_1"))))


def test_criteria_are_shown_with_the_tests_that_name_them() -> None:
    named = row("test_agreed_1", "agreed")
    named = named.model_copy(update={"case": named.case.model_copy(update={"criteria": ("C1",)})})
    text = body(result(evidence=evidence(named)))
    assert "| C1: doubles \\| adds | issue | `test_agreed_1` |" in text
    assert "| C2: fast | model | none |" in text


def test_without_given_tests_the_agreed_values_are_offered_for_confirmation() -> None:
    text = body(result("draft", evidence=evidence(row("test_agreed_1", "agreed"))))
    assert "## Please confirm" in text
    assert "```python\nf(1) == 2\n```" in text
    assert "Please confirm" not in body(result(evidence=evidence(row("test_given_1"))))


def test_disputed_and_vacuous_tests_are_listed_and_said_to_decide_nothing() -> None:
    said = evidence(
        row("test_given_1"),
        disputed=(row("test_guessed_2", "guessed", head="failed", body="assert f(2) == 9"),),
        vacuous=(row("test_guessed_3", "guessed", body="assert f"),),
    )
    text = body(result(evidence=said))
    assert "decided nothing" in text
    assert "`assert f(2) == 9`" in text
    assert "it cannot fail: `assert f`" in text


def test_of_many_disputed_tests_the_agreed_ones_are_shown_first() -> None:
    guesses = [
        row(f"test_guessed_{n}", "guessed", head="failed", body=f"assert f({n}) == 9") for n in range(9)
    ]
    agreed = row("test_agreed_9", "agreed", head="failed", body="assert f(77) == 9")
    text = body(result(evidence=evidence(row("test_given_1"), disputed=(*guesses, agreed))))
    assert text.index("agreed: `assert f(77) == 9`") < text.index("guessed: `assert f(0) == 9`")
    assert "and 4 more" in text
    assert "assert f(8) == 9" not in text


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (RepositoryTests(state="none"), "no tests of its own"),
        (RepositoryTests(state="same", passed_before=4, passed_after=4), "4 passed before and pass now"),
        (
            RepositoryTests(state="worse", passed_before=4, passed_after=3, broken=("tests/t.py::test_x",)),
            "- `tests/t.py::test_x`",
        ),
        (
            RepositoryTests(state="cut off", passed_before=4, passed_after=3, diagnosis="out of time"),
            "Of 4 that had passed before, 3 passed again before the end:\n```\nout of time\n```",
        ),
        (
            RepositoryTests(state="worse", command="make check", diagnosis="ended with exit code 2"),
            "`make check` succeeded before and fails now:\n```\nended with exit code 2\n```",
        ),
        (
            RepositoryTests(state="same", command="make check"),
            "`make check` succeeded before and succeeds now",
        ),
        (
            RepositoryTests(state="not runnable", diagnosis="No module named 'django'"),
            "No module named 'django'",
        ),
    ],
)
def test_what_became_of_the_repositorys_own_tests(own: RepositoryTests, words: str) -> None:
    assert words in body(result(evidence=evidence(row("test_given_1"), repository=own)))


def test_a_question_has_no_files_and_no_branch() -> None:
    text = body(result("question", reasons=("Which one is right?",), files={}, test_path=""), branch=None)
    assert "Which one is right?" in text
    assert "git switch" not in text


def test_costs_are_split_where_two_roles_worked() -> None:
    roles = {"planner": Spent(prompt_tokens=7), "executor": Spent(prompt_tokens=3, completion_tokens=5)}
    assert "executor: 8 tokens, planner: 7 tokens" in body(result(spent_by_role=roles))


def test_a_commit_message_has_the_title_verbatim_and_on_one_line() -> None:
    message = commit_message(result(title="Fix `a`\n\"b\" <class 'C'>"), run_id="run-1")
    assert message.splitlines()[0] == "Fix `a` \"b\" <class 'C'>"
    assert message.endswith("Issuewright-Run: run-1\n")


def test_an_enormous_report_fits_into_a_pull_request() -> None:
    rows = [row(f"test_given_{n}", head="failed", message="x" * 1900) for n in range(200)]
    assert len(body(result("draft", evidence=evidence(*rows)))) <= 60_000
    assert body(result("draft", evidence=evidence(*rows))).endswith("seed 3.\n")


def in_language(language: str, *, issue: int | None = None, **facts: Any) -> str:
    said = result(evidence=evidence(row("test_given_1")), **facts)
    requirement = said.requirement.model_copy(update={"language": language})
    said = said.model_copy(update={"requirement": requirement})
    return pull_request_body(said, MANIFEST, run_id="run-1", branch="b", issue=issue)


def test_the_body_speaks_the_issues_language_and_evidence_stays_as_it_is() -> None:
    text = in_language("de", assumptions=("Assumed `def f(x)`.",))
    assert "**Alle vorgegebenen Tests bestehen.**" in text
    assert "| Test | Vertrauen | prüft | Basis | Attrappe | jetzt |" in text
    assert "| `test_given_1` | given | f(1) \\| 2 | error | failed | **passed** |" in text
    assert "## Annahmen\n\n- Assumed `def f(x)`." in text
    assert "Every given test" in in_language("sv")


@pytest.mark.parametrize("language", sorted(languages()))
def test_in_every_language_github_reads_which_issue_it_closes(language: str) -> None:
    text = in_language(language, issue=7)
    assert text.endswith("\n\nCloses #7\n\n<!-- issuewright:issue=7 -->\n")
    assert issue_of(text) == 7
    assert "issuewright replay run-1" in text


def test_a_body_that_is_cut_still_closes_its_issue_and_tells_how_to_repeat_it() -> None:
    rows = [row(f"test_given_{n}", head="failed", message="x" * 1900) for n in range(200)]
    said = result("draft", evidence=evidence(*rows))
    text = pull_request_body(said, MANIFEST, run_id="run-1", branch="b", issue=7)
    assert 55_000 < len(text) <= 60_000
    assert (
        text.index("The rest is cut here") < text.index("issuewright replay run-1") < text.index("Closes #7")
    )
    assert text.count("<details>") == text.count("</details>")


def test_a_body_without_an_issue_closes_none() -> None:
    assert "Closes" not in in_language("en")
    assert issue_of(in_language("en")) is None


def test_nothing_that_people_wrote_can_act_in_a_body() -> None:
    wicked = "fixes #9 @victim <script>"
    said = result(
        "draft",
        title=wicked,
        reasons=(wicked,),
        assumptions=(wicked,),
        evidence=evidence(row("test_given_1", head="failed", message=f"```\n</details>{wicked}")),
    )
    outside = re.sub(r"^(`{3,})\n.*?^\1$", "", body(said), flags=re.DOTALL | re.MULTILINE)
    assert "victim" in outside
    assert not re.search("fixes #9|@victim|<script", outside)
