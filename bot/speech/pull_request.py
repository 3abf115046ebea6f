"""The pull request's words: files, evidence, assumptions, cost, and how to repeat it."""

import shlex

from bot.runs import Manifest
from bot.speech.capping import BODY_LIMIT, cap
from bot.speech.evidence import evidence_sections
from bot.speech.harmless import line, prose
from bot.speech.markdown import blocks, bullets, code, fenced, titled
from bot.speech.markers import MARKER, data_marker
from bot.speech.texts import FALLBACK, say
from pipelines.pipeline import Result


def pull_request_body(
    result: Result, manifest: Manifest, *, run_id: str, branch: str | None, issue: int | None = None
) -> str:
    """The whole text in the issue's language, capped; with `issue` it closes that issue when it is merged."""
    language = result.requirement.language
    sections = [
        f"{MARKER}\n# {line(result.requirement.title)}",
        f"**{say(language, f'headline.{result.status}')}**",
        bullets(map(prose, result.reasons)),
        _files(result, language),
        *evidence_sections(result, language),
        titled(
            say(language, "section.assumptions"),
            bullets(map(prose, [*result.assumptions, *result.requirement.notes])),
        ),
        titled(say(language, "section.cost"), _cost(result, language)),
    ]
    repeat = titled(say(language, "section.repeat"), _commands(result, manifest, run_id, branch, language))
    end = blocks([repeat, closing(issue)])
    return cap(blocks(sections), BODY_LIMIT, keep=end, note=say(language, "body.cut"))


def closing(issue: int | None) -> str:
    """What makes GitHub close the issue with the pull request, and us find it; in English."""
    return "" if issue is None else f"Closes #{issue}\n\n{data_marker(issue=issue)}"


def commit_message(result: Result, *, run_id: str) -> str:
    """Title, verdict and origin, in English."""
    title = " ".join(result.requirement.title.split())
    return f"{title}\n\n{say(FALLBACK, f'headline.{result.status}')}\n\nIssuewright-Run: {run_id}\n"


def _files(result: Result, language: str) -> str:
    tests = say(language, "body.tests")
    listed = [
        code(path) + (f" ({tests})" if path == result.test_path else "") for path in sorted(result.files)
    ]
    return titled(say(language, "section.files"), bullets(listed))


def _cost(result: Result, language: str) -> str:
    spent = result.spent
    text = say(
        language,
        "body.cost",
        calls=spent.model_calls,
        prompt=spent.prompt_tokens,
        completion=spent.completion_tokens,
        seconds=f"{spent.sandbox_seconds:.1f}",
    )
    if len(result.spent_by_role) > 1:
        roles = sorted(result.spent_by_role.items())
        shares = (say(language, "body.cost_role", role=role, tokens=part.tokens) for role, part in roles)
        text += f" {', '.join(shares)}."
    return text


def _commands(result: Result, manifest: Manifest, run_id: str, branch: str | None, language: str) -> str:
    lines = []
    if branch and result.test_path:
        lines += [f"git switch {shlex.quote(branch)}", f"python -m pytest {shlex.quote(result.test_path)}"]
    lines.append(f"issuewright replay {run_id}")
    made = say(
        language,
        "body.made",
        version=manifest.version,
        models=", ".join(map(code, result.models)) or say(language, "body.no_model"),
        strategy=manifest.strategy,
        seed=manifest.seed,
    )
    return f"{fenced(chr(10).join(lines), 'sh')}\n\n{made}"
