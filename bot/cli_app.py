"""`issuewright app`: a GitHub App of one's own, and whether it may do what the bot does.

PyGithub takes long to import, so only the commands that need it do.
"""

import asyncio
import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from bot.exit_codes import ExitCode
from bot.github.types import RepoRef
from bot.settings import GitHubSettings, load_settings
from pipelines.errors import RefusalError

app = typer.Typer(help="The GitHub App that the service acts as.", no_args_is_help=True)

UrlOption = Annotated[
    str, typer.Option("--url", help="Where GitHub reaches the service, such as https://bot.example.com.")
]
NameOption = Annotated[str, typer.Option("--name", help="Name of the App; GitHub wants it to be unique.")]


@app.command()
def manifest(url: UrlOption, name: NameOption = "issuewright") -> None:
    """Print the App's manifest: its permissions and events, no more than the bot needs."""
    from bot.github.manifest import app_manifest

    print(json.dumps(app_manifest(url, name=name), indent=2))


@app.command()
def page(
    url: UrlOption,
    name: NameOption = "issuewright",
    organization: Annotated[
        str | None, typer.Option("--organization", help="Owner of the App; you, if not said.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", help="File to write.")] = Path("create-app.html"),
) -> None:
    """Write a page that creates the App: open it in a browser that is logged in to GitHub."""
    from bot.github.manifest import app_manifest, manifest_page

    api_url = load_settings().github.api_url
    text = manifest_page(app_manifest(url, name=name), api_url=api_url, organization=organization)
    output.write_text(text, encoding="utf-8")
    print(f"Open {output} in a browser and press its button.")


@app.command()
def finish(
    code: Annotated[str, typer.Argument(metavar="CODE", help="The code in the address GitHub led you to.")],
    folder: Annotated[Path, typer.Option("--folder", help="Where to put the key and the secret.")] = Path(),
) -> None:
    """Fetch the new App's private key and webhook secret, and say how to use them."""
    from bot.github.manifest import finish_app

    key, secret = folder / "private-key.pem", folder / "webhook-secret"
    # Before the code is used up.
    if not folder.is_dir() or key.exists() or secret.exists():
        raise RefusalError(f"{folder} must be a folder without {key.name} and {secret.name}; see --folder")
    made = finish_app(load_settings().github, code)
    _write_secret(key, made.pem.get_secret_value())
    print(f"export ISSUEWRIGHT_GITHUB__APP_ID={made.id}")
    print(f"export ISSUEWRIGHT_GITHUB__PRIVATE_KEY_FILE={key.absolute()}")
    if made.webhook_secret is not None:
        _write_secret(secret, made.webhook_secret.get_secret_value())
        print(f'export ISSUEWRIGHT_GITHUB__WEBHOOK_SECRET="$(cat {secret.absolute()})"')
    print(f"# Now install the App on your repositories: {made.html_url}/installations/new")


@app.command()
def check(
    repositories: Annotated[
        list[str], typer.Argument(metavar="OWNER/NAME...", help="Repositories that the bot shall work for.")
    ],
) -> None:
    """Say who the bot is on GitHub, and which permissions it lacks in each repository."""
    refs = [_repo_ref(name) for name in repositories]
    login, missing = asyncio.run(_missing(load_settings().github, refs))
    table = Table(Column("repository", overflow="fold"), "missing permissions", title=escape(login))
    for ref, names in zip(refs, missing, strict=True):
        table.add_row(escape(ref.full_name), escape(", ".join(names)) or "none")
    Console().print(table)
    raise typer.Exit(ExitCode.BAD_INPUT if any(missing) else ExitCode.GREEN)


async def _missing(settings: GitHubSettings, refs: list[RepoRef]) -> tuple[str, list[tuple[str, ...]]]:
    from bot.github.pygithub import PyGitHub

    github = PyGitHub(settings)
    login = (await github.identity()).login
    return login, [await github.missing_permissions(ref) for ref in refs]


def _repo_ref(name: str) -> RepoRef:
    owner, slash, repository = name.partition("/")
    if not (owner and slash and repository) or "/" in repository:
        raise RefusalError(f"{name!r} is not a repository: give owner/name")
    return RepoRef(owner=owner, name=repository)


def _write_secret(path: Path, text: str) -> None:
    """Write a new file that only its owner may read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
