"""`issuewright demo`: the whole story on this machine, without a network or an account."""

import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from bot.demo.scripted_server import run_scripted_server
from bot.demo.story import play, set_up
from bot.demo.watching import News, Seen
from bot.exit_codes import ExitCode
from bot.sample import sample_issue
from pipelines.errors import RefusalError

app = typer.Typer(help="See the bot at work on this machine alone.", no_args_is_help=True)


@app.command()
def github(
    model_url: Annotated[
        str | None,
        typer.Option("--model-url", help="OpenAI-compatible server; the embedded model if not said."),
    ] = None,
    scripted: Annotated[
        bool,
        typer.Option("--scripted", help="No model: answers that were written for this issue. Takes seconds."),
    ] = False,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Keep repository, records and log here; must be empty.")
    ] = None,
) -> None:
    """Play an issue's way to a draft pull request, with the real service and an emulated GitHub."""
    if scripted and model_url:
        raise RefusalError("--scripted needs no model: leave out --model-url")
    console = Console()
    try:
        with _place(folder) as place, _model(model_url, scripted=scripted) as settings:
            seen = _show(place, settings, console, kept=folder is not None)
    except KeyboardInterrupt:
        console.print("Interrupted; everything is stopped.")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    raise typer.Exit(ExitCode.GREEN if seen.pull_requests else ExitCode.FAULT)


@contextmanager
def _place(folder: Path | None) -> Iterator[Path]:
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="issuewright-demo-") as scratch:
            yield Path(scratch)
        return
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise RefusalError(f"{folder} is not empty; choose another folder for the demo")
    yield folder.absolute()


@contextmanager
def _model(url: str | None, *, scripted: bool) -> Iterator[dict[str, str]]:
    """The service's settings of its model."""
    if scripted:
        with run_scripted_server() as script:
            # One answer, one repair: the script has no others.
            yield {"ISSUEWRIGHT_EXECUTOR__BASE_URL": script, "ISSUEWRIGHT_DIRECT__SAMPLES": "0"}
    else:
        yield {"ISSUEWRIGHT_EXECUTOR__BASE_URL": url} if url else {}


def _show(place: Path, settings: dict[str, str], console: Console, *, kept: bool) -> Seen:
    # SIGTERM ends the demo as Ctrl-C does: everything that it started is stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    started = time.monotonic()

    def tell(one: News) -> None:
        console.print(
            f"[{time.monotonic() - started:6.1f} s] {one.what}", markup=False, style="bold", soft_wrap=True
        )
        if one.text:
            console.print(Padding(Markdown(one.text), (0, 2, 1, 4)))

    with set_up(place, settings=settings) as stage:
        emulator = stage.github.emulator
        tell(News(f"GitHub (emulated, for {emulator.world.full_name}) is at {emulator.url}"))
        tell(News(f"git is at {stage.github.git_url}"))
        tell(News(f"issuewright serve is at {stage.service.url}; its log is {stage.service.log}"))
        seen = play(stage, sample_issue(), tell)
        seconds = time.monotonic() - started
        console.print(_summary(seen, stage.github.remote, seconds))
    data = f"`issuewright runs` with ISSUEWRIGHT_DATA_DIR={place / 'data'} lists the run."
    console.print(
        f"Everything is kept in {place}. {data}" if kept else "Nothing is kept; --folder PATH keeps it.",
        markup=False,
        soft_wrap=True,
    )
    return seen


def _summary(seen: Seen, remote: Path, seconds: float) -> Table:
    table = Table("what", "where", title=f"The story in {seconds:.0f} s", title_justify="left")
    rows = [
        *(
            ("draft pull request" if pull.draft else "pull request", f"#{number} {pull.title}")
            for number, pull in seen.pull_requests.items()
        ),
        *(("branch", f"{branch} at {commit[:12]}") for branch, commit in seen.branches.items()),
        ("comments of the bot", str(len(seen.comments))),
        ("repository", str(remote)),
    ]
    for row in rows:
        table.add_row(*map(escape, row))
    return table
