"""The pull request's words: files, evidence, assumptions, cost, and how to repeat it."""

import shlex
from collections.abc import Iterable, Sequence

from bot.runs import Manifest
from pipelines.evidence import Evidence, Row, coverage_of
from pipelines.pipeline import Result

MARKER = "<!-- issuewright -->"
"""Hidden in every text of the bot, so that it knows its own."""

MAX_CHARACTERS = 60_000
MAX_DISPUTED = 6

_HEADLINES = {
    "green": "Every given test passes.",
    "draft": "Draft: this is not proven.",
    "question": "Nothing was built: a question first.",
}


def pull_request_body(result: Result, manifest: Manifest, *, run_id: str, branch: str | None) -> str:
    """The whole text, capped at a line boundary."""
    sections = [
        f"{MARKER}\n# {result.requirement.title}",
        f"**{_HEADLINES[result.status]}**",
        _bullets(result.reasons),
        _files(result),
    ]
    if result.evidence is not None:
        sections += [
            _evidence_table(result.evidence),
            _criteria_table(result, result.evidence),
            _repository_line(result.evidence),
            _network(result.evidence),
            _disputed(result.evidence),
            _proposed_examples(result.evidence),
        ]
    sections += [
        _titled("Assumptions", _bullets([*result.assumptions, *result.requirement.notes])),
        _titled("Cost", _cost(result)),
        _titled("Repeat it", _commands(result, manifest, run_id, branch)),
    ]
    return cap("\n\n".join(section for section in sections if section) + "\n")


def cap(text: str, limit: int = MAX_CHARACTERS) -> str:
    """At most `limit` characters, cut at a line's end, open fences closed."""
    if len(text) <= limit:
        return text
    note = "\n\n_The rest is cut here; the run's record has all of it._\n"
    kept = text[: limit - len(note) - 4].rpartition("\n")[0]
    fence = "\n```" if sum(line.startswith("```") for line in kept.splitlines()) % 2 else ""
    return kept + fence + note


def commit_message(result: Result, *, run_id: str) -> str:
    """Title, verdict and origin."""
    title = " ".join(result.requirement.title.split())
    return f"{title}\n\n{_HEADLINES[result.status]}\n\nIssuewright-Run: {run_id}\n"


def _titled(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def _bullets(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _files(result: Result) -> str:
    listed = [f"`{path}`" + (" (tests)" if path == result.test_path else "") for path in sorted(result.files)]
    return _titled("Files", _bullets(listed))


def _evidence_table(evidence: Evidence) -> str:
    if not evidence.rows:
        return _titled("Evidence", "There is no test that could fail.")
    lines = ["| test | trust | checks | base | stub | now |", "|---|---|---|---|---|---|"]
    lines += [
        f"| `{row.case.name}` | {row.case.trust} | {_cell(row.case.title)} | {row.base} | {row.stub} | "
        f"{'**passed**' if row.head == 'passed' else row.head} |"
        for row in evidence.rows
    ]
    legend = (
        "`given`: from an example in the issue; `agreed`: several generations gave the same value; "
        "`guessed`: one did. Base is the repository without this change, stub has the same names and only "
        "raises: a test counts when it fails on both."
    )
    failures = [
        f"<details><summary>{row.case.name}</summary>\n\n{_fenced(row.message)}\n</details>"
        for row in evidence.rows
        if row.message
    ]
    return _titled("Evidence", "\n".join(lines) + f"\n\n{legend}" + "".join(f"\n\n{f}" for f in failures))


def _criteria_table(result: Result, evidence: Evidence) -> str:
    criteria = result.requirement.criteria
    if not criteria:
        return ""
    covered = coverage_of([criterion.id for criterion in criteria], evidence.rows)
    lines = ["| criterion | from | tests that name it |", "|---|---|---|"]
    for criterion in criteria:
        tests = ", ".join(f"`{name}`" for name in covered[criterion.id]) or "none"
        lines.append(f"| {criterion.id}: {_cell(criterion.text)} | {criterion.origin} | {tests} |")
    return _titled("Criteria", "\n".join(lines))


def _repository_line(evidence: Evidence) -> str:
    own = evidence.repository
    texts = {
        "none": "The repository has no tests of its own.",
        "same": f"{own.passed_before} passed before and pass now.",
        "worse": f"{len(own.broken)} of {own.passed_before} that passed before no longer do:\n"
        + _bullets(f"`{name}`" for name in own.broken),
        "cut off": f"The suite was cut off. Of {own.passed_before} that had passed before, "
        f"{own.passed_after} passed again before the end:\n" + _fenced(own.diagnosis[-1500:]),
        "not runnable": "They could not be run in the sandbox, so nothing is said of them:\n"
        + _fenced(own.diagnosis[-1500:]),
    }
    return _titled("The repository's own tests", texts[own.state] + _tried(own.blocked_hosts))


def _network(evidence: Evidence) -> str:
    """Code that wants the network is worth a look, even when all its tests pass."""
    return _titled("Network", _tried(evidence.blocked_hosts, who="The new code").strip())


def _tried(hosts: Sequence[str], *, who: str = "They") -> str:
    if not hosts:
        return ""
    named = ", ".join(f"`{host}`" for host in hosts)
    return f"\n\n{who} tried to reach {named}; the sandbox has no network."


def _disputed(evidence: Evidence) -> str:
    """Agreed ones first: two generations against the code are worth a look, a lone guess seldom is."""
    if not evidence.disputed and not evidence.vacuous:
        return ""
    rows = sorted(evidence.disputed, key=lambda row: row.case.trust)
    lines = [
        f"- {row.case.trust}: `{_code(row)}` — the code gives something else" for row in rows[:MAX_DISPUTED]
    ]
    if len(rows) > MAX_DISPUTED:
        lines.append(f"- and {len(rows) - MAX_DISPUTED} more")
    lines += [f"- thrown out, it cannot fail: `{_code(row)}`" for row in evidence.vacuous[:MAX_DISPUTED]]
    note = (
        "The model also wrote these checks. They are not part of the change and decided nothing; please look."
    )
    return _titled("Disputed", note + "\n\n" + "\n".join(lines))


def _proposed_examples(evidence: Evidence) -> str:
    """Without a given example, the values on which the generations agree, ready to be confirmed."""
    if evidence.given:
        return ""
    lines = [_code(row).removeprefix("assert ") for row in evidence.rows if row.case.call]
    if not lines:
        return ""
    note = "If these values are right, add them to the issue as examples and run again:"
    return _titled("Please confirm", f"{note}\n\n```python\n" + "\n".join(lines) + "\n```")


def _code(row: Row) -> str:
    return "; ".join(row.case.body)


def _cost(result: Result) -> str:
    spent = result.spent
    text = (
        f"{spent.model_calls} model calls, {spent.prompt_tokens} prompt and {spent.completion_tokens} "
        f"completion tokens, {spent.sandbox_seconds:.1f} s in the sandbox."
    )
    if len(result.spent_by_role) > 1:
        roles = (f"{role}: {part.tokens} tokens" for role, part in sorted(result.spent_by_role.items()))
        text += " " + ", ".join(roles) + "."
    return text


def _commands(result: Result, manifest: Manifest, run_id: str, branch: str | None) -> str:
    lines = []
    if branch and result.test_path:
        lines += [f"git switch {shlex.quote(branch)}", f"python -m pytest {shlex.quote(result.test_path)}"]
    lines.append(f"issuewright replay {run_id}")
    models = ", ".join(f"`{model}`" for model in result.models) or "no model"
    made = (
        f"Made by issuewright {manifest.version} with {models}, strategy `{manifest.strategy}`, "
        f"seed {manifest.seed}."
    )
    return "```sh\n" + "\n".join(lines) + f"\n```\n\n{made}"


def _fenced(text: str) -> str:
    longest = max((len(run) for run in _backtick_runs(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.strip()}\n{fence}"


def _backtick_runs(text: str) -> Sequence[str]:
    return [run for run in "".join(c if c == "`" else " " for c in text).split() if run]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
