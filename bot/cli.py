"""The command line."""

import asyncio
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, TypeVar

import stamina
import typer
from rich.console import Console

from bot import cli_app, cli_demo, cli_model, cli_runs, cli_serve
from bot.doctor import examine
from bot.exit_codes import EXPECTED, ExitCode, code_for_error, code_for_status
from bot.issue_file import read_issue
from bot.order import Order, Outcome, run_order
from bot.progress import Display, open_display
from bot.report import as_json, print_outcome
from bot.sample import create_sample
from bot.services import equipment_for
from bot.settings import Settings, load_settings
from pipelines.budget import Budget
from pipelines.requirement.parse import parse_issue

app = typer.Typer(
    name="issuewright",
    help="Turns an issue into tested code on a git branch, with your own model on your own machine.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(cli_model.app, name="model")
app.add_typer(cli_app.app, name="app")
app.add_typer(cli_demo.app, name="demo")
cli_runs.register(app)
cli_serve.register(app)

ResultT = TypeVar("ResultT")

IssueArgument = Annotated[
    str,
    typer.Argument(metavar="ISSUE", help="File with the issue's text (Markdown), or - for standard input."),
]
RepoOption = Annotated[Path, typer.Option("--repo", help="The git repository to work for.")]
ServerOption = Annotated[
    str | None,
    typer.Option("--model-url", help="OpenAI-compatible server, such as http://127.0.0.1:8000/v1."),
]
ModelNameOption = Annotated[
    str | None, typer.Option("--model-name", help="Model on that server; its first one if not said.")
]
SandboxOption = Annotated[
    Literal["auto", "docker", "bubblewrap"] | None,
    typer.Option("--sandbox", help="Where generated code runs."),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of the pull request.")
]


@app.command()
def run(
    issue: IssueArgument,
    repo: RepoOption = Path(),
    spec: Annotated[
        bool, typer.Option("--spec", help="Print what the issue asks, as JSON, and stop.")
    ] = False,
    base: Annotated[
        str | None, typer.Option("--base", help="Start from this revision instead of HEAD.")
    ] = None,
    branch: Annotated[str | None, typer.Option("--branch", help="Name of the new branch.")] = None,
    strategy: Annotated[str, typer.Option("--strategy", help="How to get from issue to code.")] = "direct",
    samples: Annotated[
        int | None, typer.Option("--samples", min=0, help="Samples after a failed first answer.")
    ] = None,
    repairs: Annotated[
        int | None, typer.Option("--repairs", min=0, help="Repairs of the best answer.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Seed of everything that is drawn.")
    ] = None,
    model_url: ServerOption = None,
    model_name: ModelNameOption = None,
    sandbox: SandboxOption = None,
    budget_tokens: Annotated[int | None, typer.Option("--budget-tokens", min=1)] = None,
    budget_model_calls: Annotated[int | None, typer.Option("--budget-model-calls", min=1)] = None,
    budget_sandbox_seconds: Annotated[float | None, typer.Option("--budget-sandbox-seconds", min=1)] = None,
    budget_wall_seconds: Annotated[float | None, typer.Option("--budget-wall-seconds", min=1)] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start anew instead of resuming an interrupted run.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Turn an issue into a commit on a new branch, and print the pull request's text."""
    text = read_issue(issue)
    if spec:
        print(parse_issue(text, path=issue).model_dump_json(indent=2))
        return
    settings = load_settings(seed=seed, sandbox=sandbox, executor=endpoint_options(model_url, model_name))
    caps = {
        "tokens": budget_tokens,
        "model_calls": budget_model_calls,
        "sandbox_seconds": budget_sandbox_seconds,
        "wall_seconds": budget_wall_seconds,
    }
    settings = with_options(settings, caps=caps, samples=samples, repairs=repairs)
    order = Order(issue, text, repo, base=base, branch=branch, strategy=strategy, fresh=fresh)
    _run_and_report(order, settings, json=json)


@app.command()
def sample(
    folder: Annotated[Path, typer.Argument(help="Where to create it.")] = Path("issuewright-sample"),
    model_url: ServerOption = None,
    model_name: ModelNameOption = None,
    sandbox: SandboxOption = None,
    json: JsonOption = False,
) -> None:
    """Create a sample repository with an issue, and run the main job on it."""
    settings = load_settings(sandbox=sandbox, executor=endpoint_options(model_url, model_name))
    issue = create_sample(folder)
    order = Order(str(issue), issue.read_bytes(), folder / "teatime")
    _run_and_report(order, settings, json=json)


@app.command()
def doctor(
    model_url: ServerOption = None,
    model_name: ModelNameOption = None,
    sandbox: SandboxOption = None,
    fetch: Annotated[
        bool, typer.Option("--fetch", help="Fetch the embedded model if it is missing.")
    ] = False,
) -> None:
    """Check git, sandbox and model, and say what to do about what is missing."""
    settings = load_settings(sandbox=sandbox, executor=endpoint_options(model_url, model_name))
    healthy = run_async(examine(settings, Console(), fetch=fetch))
    raise typer.Exit(ExitCode.GREEN if healthy else ExitCode.FAULT)


def _run_and_report(order: Order, settings: Settings, *, json: bool) -> NoReturn:
    with open_display(Console(stderr=True)) as display:
        outcome = run_async(_run(order, settings, display))
    if json:
        print(as_json(outcome))
    else:
        print_outcome(outcome, Console())
    raise typer.Exit(code_for_status(outcome.result.status))


async def _run(order: Order, settings: Settings, display: Display) -> Outcome:
    return await run_order(order, settings, equipment_for(settings, display), listener=display.show)


def endpoint_options(url: str | None, name: str | None) -> dict[str, str] | None:
    """What the command line says of the executor's server; the rest, such as its key, stays as configured."""
    said = {"base_url": url, "model": name}
    return {key: value for key, value in said.items() if value} or None


def with_options(
    settings: Settings, *, caps: dict[str, float | int | None], samples: int | None, repairs: int | None
) -> Settings:
    """The settings with what the command line says of budget and strategy."""
    budget = Budget(
        **settings.budget.model_dump() | {key: cap for key, cap in caps.items() if cap is not None}
    )
    said = {"samples": samples, "repairs": repairs}
    direct = settings.direct.model_copy(
        update={key: value for key, value in said.items() if value is not None}
    )
    return settings.model_copy(update={"budget": budget, "direct": direct})


def run_async(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run to the end; Ctrl-C and SIGTERM cancel the work, which stops model and sandbox on its way out."""

    async def cancellable() -> ResultT:
        task = asyncio.current_task()
        if task is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    try:
        return asyncio.run(cancellable())
    except (asyncio.CancelledError, KeyboardInterrupt):
        say("interrupted; the same command goes on from here")
        raise typer.Exit(ExitCode.INTERRUPTED) from None


def say(text: str) -> None:
    """One line on standard error, as it is."""
    Console(stderr=True).print(f"issuewright: {text}", markup=False, highlight=False, soft_wrap=True)


def _tell_retry(details: stamina.instrumentation.RetryDetails) -> None:
    say(f"trying again in {details.wait_for:.0f} s: {details.caused_by}")


def main() -> None:
    """Entry point: one clear line for every expected error."""
    stamina.instrumentation.set_on_retry_hooks([_tell_retry])
    try:
        app()
    except EXPECTED as error:
        say(str(error))
        sys.exit(code_for_error(error))
