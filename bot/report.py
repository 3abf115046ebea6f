"""The end of a run, for a person or for a machine."""

import json

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from bot.order import Outcome
from bot.speech.markers import MARKER

_VERDICTS = {
    "green": "[bold green]green[/]",
    "draft": "[bold yellow]draft[/]",
    "question": "[bold yellow]question[/]",
}


def as_json(outcome: Outcome) -> str:
    """One JSON object with verdict, tests, cost and where the work is."""
    result = outcome.result
    rows = result.evidence.rows if result.evidence else ()
    data = {
        "run": outcome.run_id,
        "status": result.status,
        "reasons": result.reasons,
        "base": outcome.base,
        "branch": outcome.branch,
        "commit": outcome.commit,
        "files": sorted(result.files),
        "tests": [
            {
                "name": row.case.name,
                "trust": row.case.trust,
                "base": row.base,
                "stub": row.stub,
                "head": row.head,
            }
            for row in rows
        ],
        "repository_tests": result.evidence.repository.state if result.evidence else None,
        "assumptions": result.assumptions,
        "spent": result.spent.model_dump(),
        "resumed": outcome.resumed,
        "pull_request": outcome.body,
    }
    return json.dumps(data, indent=2, ensure_ascii=False)


def print_outcome(outcome: Outcome, console: Console) -> None:
    """The pull request's text, rendered on a terminal and verbatim elsewhere, then a summary."""
    if not console.is_terminal:
        print(outcome.body)
        return
    console.print(Markdown(outcome.body.replace(MARKER, "")))
    console.print(_summary(outcome))


def _summary(outcome: Outcome) -> Table:
    result = outcome.result
    rows = result.evidence.rows if result.evidence else ()
    table = Table(show_header=False, title="Summary")
    table.add_row("verdict", _VERDICTS[result.status])
    table.add_row("tests", f"{sum(row.head == 'passed' for row in rows)} of {len(rows)} pass")
    table.add_row("tokens", f"{result.spent.tokens} in {result.spent.model_calls} calls")
    table.add_row("sandbox", f"{result.spent.sandbox_seconds:.1f} s")
    table.add_row("branch", outcome.branch or "none")
    table.add_row("replay", f"issuewright replay {outcome.run_id}")
    return table
