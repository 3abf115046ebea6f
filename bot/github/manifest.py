"""A GitHub App of one's own, made from a manifest: what to send to GitHub, and what it sends back.

docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

import json
from html import escape
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, Field, SecretStr

from bot.github.answers import Request
from bot.github.connection import Connection
from bot.github.hosts import api_root, web_root
from bot.github.permissions import EVENTS, PERMISSIONS
from bot.github.readings import read
from bot.settings import GitHubSettings
from pipelines.errors import RefusalError

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Create the GitHub App {name}</title>
<form method="post" action="{action}">
<input type="hidden" name="manifest" value="{manifest}">
<p>GitHub will ask you to confirm the App <b>{name}</b>. When it is done, the address of the page that you
come to ends with <code>?code=</code> and a code: run <code>issuewright app finish CODE</code>.</p>
<button>Create the App on GitHub</button>
</form>
</html>
"""


class NewApp(BaseModel):
    """What GitHub tells, once, about an App that was made from a manifest."""

    id: int
    html_url: str
    pem: SecretStr
    webhook_secret: SecretStr | None = Field(default=None)


def app_manifest(url: str, *, name: str) -> dict[str, object]:
    """The manifest of an App whose events go to the service at this URL.

    Raises RefusalError unless GitHub can send to such a URL.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise RefusalError(f"{url!r} is not the service's address: it must look like https://bot.example.com")
    root = url.rstrip("/")
    return {
        "name": name,
        "url": root,
        "description": "Turns labelled issues into tested draft pull requests, with your own model.",
        "hook_attributes": {"url": f"{root}/webhook", "active": True},
        "redirect_url": root,
        "public": False,
        "default_permissions": dict(PERMISSIONS),
        "default_events": list(EVENTS),
    }


def manifest_page(manifest: dict[str, object], *, api_url: str, organization: str | None) -> str:
    """A page whose button sends the manifest to GitHub, for an organization or the person who presses it."""
    owner = f"organizations/{quote(organization, safe='')}/" if organization else ""
    return _PAGE.format(
        name=escape(str(manifest["name"])),
        action=escape(f"{web_root(api_url)}/{owner}settings/apps/new"),
        manifest=escape(json.dumps(manifest)),
    )


def finish_app(settings: GitHubSettings, code: str) -> NewApp:
    """Exchange the code that GitHub gave for the new App's key; works once, within the hour."""
    connection = Connection(api_root(settings.api_url), ca_bundle=settings.ca_bundle)
    path = f"/app-manifests/{quote(code, safe='')}/conversions"
    request = Request("hand out the new App's key (a code works once, for an hour)", "POST", path)
    return read(NewApp, connection.ask(request, None))
