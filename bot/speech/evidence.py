"""The evidence for a pull request in words and tables; what comes out of tests stays as it is."""

from collections.abc import Sequence

from bot.speech.harmless import line
from bot.speech.markdown import blocks, bullets, cell, code, fenced, table, titled
from bot.speech.texts import say
from pipelines.evidence import Evidence, RepositoryTests, Row, coverage_of
from pipelines.pipeline import Result

MAX_DISPUTED = 6
_DIAGNOSIS = 1500


def evidence_sections(result: Result, language: str) -> list[str]:
    """The sections on tests, criteria, the repository's own suite and what the model disagrees on."""
    evidence = result.evidence
    if evidence is None:
        return []
    own = _own_tests(evidence.repository, language) + _tried(
        "tests", evidence.repository.blocked_hosts, language
    )
    return [
        titled(say(language, "section.evidence"), _tests(evidence, language)),
        titled(say(language, "section.criteria"), _criteria(result, evidence, language)),
        titled(say(language, "section.repository"), own),
        # Code that wants the network is worth a look, even when all its tests pass.
        titled(say(language, "section.network"), _tried("code", evidence.blocked_hosts, language).strip()),
        titled(say(language, "section.disputed"), _disputed(evidence, language)),
        titled(say(language, "section.confirm"), _proposed_examples(evidence, language)),
    ]


def _tests(evidence: Evidence, language: str) -> str:
    if not evidence.rows:
        return say(language, "body.no_test")
    header = [say(language, f"column.{name}") for name in ("test", "trust", "checks", "base", "stub", "now")]
    rows = [
        [
            code(row.case.name),
            row.case.trust,
            cell(line(row.case.title)),
            row.base,
            row.stub,
            "**passed**" if row.head == "passed" else row.head,
        ]
        for row in evidence.rows
    ]
    failures = [
        f"<details><summary>{row.case.name}</summary>\n\n{fenced(row.message)}\n</details>"
        for row in evidence.rows
        if row.message
    ]
    return blocks([table(header, rows), say(language, "body.legend"), *failures])


def _criteria(result: Result, evidence: Evidence, language: str) -> str:
    criteria = result.requirement.criteria
    if not criteria:
        return ""
    covered = coverage_of([criterion.id for criterion in criteria], evidence.rows)
    rows = [
        [
            f"{criterion.id}: {cell(line(criterion.text))}",
            criterion.origin,
            ", ".join(map(code, covered[criterion.id])) or say(language, "body.none"),
        ]
        for criterion in criteria
    ]
    return table([say(language, f"column.{name}") for name in ("criterion", "from", "naming")], rows)


def _own_tests(own: RepositoryTests, language: str) -> str:
    if own.state == "none":
        return say(language, "body.own_none")
    told = f"\n{fenced(own.diagnosis[-_DIAGNOSIS:])}" if own.diagnosis else ""
    if own.state == "not runnable":
        return say(language, "body.own_not_runnable") + told
    if own.command:
        return say(language, f"body.command_{own.state}", command=code(own.command)) + told
    if own.state == "cut off":
        return say(language, "body.own_cut_off", passed=own.passed_before, again=own.passed_after) + told
    if own.state == "same":
        return say(language, "body.own_same", passed=own.passed_before)
    worse = say(language, "body.own_worse", broken=len(own.broken), passed=own.passed_before)
    return f"{worse}\n{bullets(map(code, own.broken))}"


def _tried(who: str, hosts: Sequence[str], language: str) -> str:
    if not hosts:
        return ""
    return f"\n\n{say(language, f'body.hosts_{who}', hosts=', '.join(map(code, hosts)))}"


def _disputed(evidence: Evidence, language: str) -> str:
    """Agreed ones first: two generations against the code are worth a look, a lone guess seldom is."""
    rows = sorted(evidence.disputed, key=lambda row: row.case.trust)
    shown = [
        f"{row.case.trust}: {code(_code(row))} — {say(language, 'body.disputed_code')}"
        for row in rows[:MAX_DISPUTED]
    ]
    if len(rows) > MAX_DISPUTED:
        shown.append(say(language, "body.disputed_more", count=len(rows) - MAX_DISPUTED))
    shown += [
        f"{say(language, 'body.vacuous')}: {code(_code(row))}" for row in evidence.vacuous[:MAX_DISPUTED]
    ]
    return blocks([say(language, "body.disputed"), bullets(shown)]) if shown else ""


def _proposed_examples(evidence: Evidence, language: str) -> str:
    """Without a given example, the values on which the generations agree, ready to be confirmed."""
    if evidence.given:
        return ""
    lines = [_code(row).removeprefix("assert ") for row in evidence.rows if row.case.call]
    return blocks([say(language, "body.confirm"), fenced("\n".join(lines), "python")]) if lines else ""


def _code(row: Row) -> str:
    return "; ".join(row.case.body)
