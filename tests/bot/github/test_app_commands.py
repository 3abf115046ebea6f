"""`issuewright app`: the manifest, its page, the new App's key, and the check."""

import json
import re
import stat
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bot.cli_app import app
from bot.github.manifest import app_manifest
from bot.github.permissions import EVENTS, PERMISSIONS
from pipelines.errors import RefusalError
from tests.bot.github.stub import Reply, Stub

Command = Callable[..., Result]


@pytest.fixture
def command(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command line, with settings that lead to the stub."""
    monkeypatch.setenv("ISSUEWRIGHT_GITHUB__API_URL", stub.url)
    monkeypatch.setenv("ISSUEWRIGHT_GITHUB__TOKEN", "github_pat_1")
    return lambda *words: CliRunner().invoke(app, list(words))


def test_the_manifest_is_what_github_takes(command: Command) -> None:
    done = command("manifest", "--url", "https://bot.example.com/", "--name", "Tea bot")
    manifest = json.loads(done.stdout)
    assert manifest["name"] == "Tea bot"
    assert manifest["hook_attributes"] == {"url": "https://bot.example.com/webhook", "active": True}
    assert manifest["public"] is False
    assert manifest["default_permissions"] == PERMISSIONS
    assert manifest["default_events"] == list(EVENTS)


@pytest.mark.parametrize("url", ["bot.example.com", "ftp://x", "https://", "https://x?y=1", "https://x#y"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(RefusalError, match=re.escape(repr(url))):
        app_manifest(url, name="x")


@pytest.mark.parametrize(
    ("options", "path"),
    [((), "/settings/apps/new"), (("--organization", "octo"), "/organizations/octo/settings/apps/new")],
)
def test_the_page_posts_the_manifest(
    options: tuple[str, ...], path: str, command: Command, stub: Stub, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    name = 'Tea & "<b>"'
    done = command(
        "page", "--url", "https://bot.example.com", "--name", name, "--output", str(page), *options
    )
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert f'action="{stub.url}{path}"' in text
    (value,) = re.findall(r'name="manifest" value="([^"]*)"', text)
    assert json.loads(unescape(value))["name"] == name
    assert "<b>" not in text.replace("<b>Tea", "")


def new_app(**changes: Any) -> dict[str, Any]:
    secrets = {"pem": "-----BEGIN RSA PRIVATE KEY-----", "webhook_secret": "s3cret"}
    return {"id": 42, "html_url": "https://github.com/apps/tea-bot", **secrets, **changes}


def test_the_new_apps_secrets_go_to_files_and_not_to_the_terminal(
    command: Command, stub: Stub, tmp_path: Path
) -> None:
    stub.reply("POST", "/app-manifests/c0de/conversions", Reply(201, new_app()))
    done = command("finish", "c0de", "--folder", str(tmp_path))
    assert done.exit_code == 0, done.output
    key, secret = tmp_path / "private-key.pem", tmp_path / "webhook-secret"
    assert key.read_text().startswith("-----BEGIN")
    assert secret.read_text() == "s3cret"
    assert {stat.S_IMODE(path.stat().st_mode) for path in (key, secret)} == {0o600}
    assert "ISSUEWRIGHT_GITHUB__APP_ID=42" in done.output
    assert f"ISSUEWRIGHT_GITHUB__PRIVATE_KEY_FILE={key}" in done.output
    assert "s3cret" not in done.output
    assert "BEGIN" not in done.output


def test_a_key_that_is_there_is_kept_and_the_code_not_used_up(
    command: Command, stub: Stub, tmp_path: Path
) -> None:
    (tmp_path / "private-key.pem").write_text("old")
    done = command("finish", "c0de", "--folder", str(tmp_path))
    assert isinstance(done.exception, RefusalError)
    assert stub.seen == []
    assert isinstance(command("finish", "c0de", "--folder", str(tmp_path / "no")).exception, RefusalError)


def test_the_check_names_what_is_missing(command: Command, stub: Stub) -> None:
    stub.reply("GET", "/user", Reply(200, {"login": "ada", "id": 1}))
    for name, push in (("tea", True), ("time", False)):
        facts = {"full_name": f"octo/{name}", "default_branch": "main", "html_url": "https://x"}
        stub.reply("GET", f"/repos/octo/{name}", Reply(200, {**facts, "permissions": {"push": push}}))
    good = command("check", "octo/tea")
    assert good.exit_code == 0
    assert "ada" in good.output
    assert "none" in good.output
    bad = command("check", "octo/tea", "octo/time")
    assert bad.exit_code == 2
    assert "contents: write" in bad.output


@pytest.mark.parametrize("name", ["tea", "octo/", "/tea", "https://github.com/octo/tea"])
def test_the_check_wants_a_repositorys_full_name(name: str, command: Command) -> None:
    done = command("check", name)
    assert isinstance(done.exception, RefusalError)
    assert repr(name) in str(done.exception)
