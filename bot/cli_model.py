"""`issuewright model`: fetch, list and serve."""

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Column, Table

from bot.progress import open_display
from bot.services import find_weights
from bot.settings import load_settings
from bot.vllm_server import serve_vllm
from pipelines.model.embedded import EmbeddedServer
from pipelines.model.weights import list_weights

app = typer.Typer(help="The embedded model.", no_args_is_help=True)


@app.command()
def fetch() -> None:
    """Fetch the embedded model's weights (1.1 GB), verify and cache them; a broken download is resumed."""
    settings = load_settings()
    with open_display(Console(stderr=True)) as display:
        path = asyncio.run(find_weights(settings, downloaded=display.downloaded))
    print(path)


@app.command(name="list")
def list_models() -> None:
    """List the weights in the cache."""
    settings = load_settings()
    table = Table(Column("file", overflow="fold"), "size", "verified")
    for weights in list_weights(folder=settings.cache_dir):
        table.add_row(str(weights.path), f"{weights.size / 1e6:.0f} MB", "yes" if weights.verified else "no")
    Console().print(table if table.row_count else "No weights yet: `issuewright model fetch` fetches them.")


@app.command()
def serve(
    engine: Annotated[
        Literal["embedded", "vllm"], typer.Option("--engine", help="Which server to start.")
    ] = "embedded",
    model: Annotated[
        str | None,
        typer.Option("--model", help="GGUF file for the embedded engine; model name or folder for vLLM."),
    ] = None,
    port: Annotated[int, typer.Option("--port", help="Port for vLLM.")] = 8000,
    environment: Annotated[
        Path | None,
        typer.Option(
            "--environment", help="Folder of a virtual environment that has vLLM; else one is made."
        ),
    ] = None,
) -> None:
    """Serve a model until interrupted, for several runs to share."""
    if engine == "vllm":
        serve_vllm(model, port=port, environment=environment)
    settings = load_settings(gguf=model)
    with open_display(Console(stderr=True)) as display:
        weights = asyncio.run(find_weights(settings, downloaded=display.downloaded))
    asyncio.run(_serve(weights))


async def _serve(weights: Path) -> None:
    async with EmbeddedServer(weights) as server:
        print(f"export ISSUEWRIGHT_EXECUTOR__BASE_URL={server.base_url}")
        print(f"export ISSUEWRIGHT_EXECUTOR__API_KEY={server.api_key}", flush=True)
        await asyncio.Event().wait()
