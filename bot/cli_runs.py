"""`issuewright runs`, `show` and `replay`: what was done before."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from bot.exit_codes import ExitCode
from bot.order import replay as replay_run
from bot.runs import RunStore
from bot.settings import load_settings

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="Name of a run, as `issuewright runs` lists it.")
]


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command()(runs)
    app.command()(show)
    app.command()(replay)


def runs() -> None:
    """List the runs of this machine."""
    table = Table(
        Column("run", overflow="fold"), "issue", "state", "started", Column("branch", overflow="fold")
    )
    for item in _store().summaries():
        cells = (item.run_id, item.title, item.state, f"{item.started:%Y-%m-%d %H:%M}", item.branch)
        table.add_row(*map(escape, cells))
    Console().print(table if table.row_count else "No runs yet.")


def show(run_id: RunArgument) -> None:
    """Show a run: its decisions with their reasons, and every call with its cost."""
    store = _store()
    ledger = store.ledger(run_id)
    console = Console()
    decisions = Table("where", "decision", "why", title="Decisions")
    for decision in ledger.decisions():
        decisions.add_row(*map(escape, (decision.branch, decision.what, decision.why)))
    calls = Table("kind", "what", "where", "seconds", title="Calls")
    for entry in ledger.entries():
        calls.add_row(*map(escape, (entry.key.kind, entry.label, entry.key.branch)), f"{entry.seconds:.1f}")
    console.print(decisions, calls)
    body = store.path(run_id) / "PULL_REQUEST.md"
    if body.is_file():
        console.print(f"Pull request: {body}", soft_wrap=True)
    ledger.close()


def replay(
    run_id: RunArgument,
    repo: Annotated[Path | None, typer.Option("--repo", help="Another clone of the repository.")] = None,
) -> None:
    """Repeat a run from its record, without a model or a sandbox, and check that it ends the same."""
    recorded, repeated = asyncio.run(replay_run(_store(), run_id, repository=repo))
    for name, before, now in zip(recorded._fields, recorded, repeated, strict=True):
        if before != now:
            print(f"The replay differs in its {name}. Recorded:\n{before}\nNow:\n{now}")
            raise typer.Exit(ExitCode.FAULT)
    print(f"The replay ends the same: {repeated.status}, commit {repeated.commit or 'none'}")


def _store() -> RunStore:
    return RunStore(load_settings().data_dir)
