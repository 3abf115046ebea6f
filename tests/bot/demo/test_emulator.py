import hashlib
import hmac
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jwt
import pytest

from bot.demo import emulator_package
from bot.demo.emulator import APP_ID, APP_SLUG, INSTALLATION, Emulator, World, run_emulator
from bot.demo.emulator_package import ensure_emulator
from bot.demo.rest import Rest
from pipelines.errors import InfrastructureError
from tests.bot.demo.deliveries import Deliveries
from tests.pipelines.model.processes import ends_within, is_running

REPO = "/repos/ada/teatime"
PARENT = """
import time
from bot.demo.emulator import World, run_emulator

with run_emulator(World()) as emulator:
    print(emulator.pid, flush=True)
    time.sleep(600)
"""


def installation_token(emulator: Emulator, permissions: dict[str, str]) -> Rest:
    now = int(time.time())
    claims = {"iat": now - 60, "exp": now + 300, "iss": str(APP_ID)}
    app = Rest(emulator.url, jwt.encode(claims, emulator.private_key, algorithm="RS256"))
    path = f"/app/installations/{INSTALLATION}/access_tokens"
    return Rest(emulator.url, app.send("POST", path, {"permissions": permissions})["token"])


def new_issue(emulator: Emulator, author: str = "ada") -> int:
    body = {"title": "Count the sales", "body": "one per line"}
    return int(emulator.as_person(author).send("POST", f"{REPO}/issues", body)["number"])


@pytest.mark.parametrize(
    ("login", "role"), [("ada", "admin"), ("bob", "write"), ("tim", "triage"), ("eve", None)]
)
def test_everyone_has_the_role_that_the_world_says(emulator: Emulator, login: str, role: str | None) -> None:
    answer = emulator.as_person("ada").get(f"{REPO}/collaborators/{login}/permission")
    assert (answer and answer["role_name"]) == role


def test_the_app_is_installed_and_may_do_what_it_was_granted_and_no_more(emulator: Emulator) -> None:
    number = new_issue(emulator)
    app = installation_token(emulator, {"issues": "write", "metadata": "read"})
    comment = app.send("POST", f"{REPO}/issues/{number}/comments", {"body": "hello"})
    assert comment["user"]["login"] == f"{APP_SLUG}[bot]"
    assert comment["html_url"].startswith(emulator.url)
    assert not app.tries("POST", f"{REPO}/git/blobs", {"content": ""})
    with pytest.raises(InfrastructureError, match=r"422.*not granted"):
        installation_token(emulator, {"administration": "write"})


def test_a_label_arrives_signed_over_the_raw_bytes(emulator: Emulator, deliveries: Deliveries) -> None:
    number = new_issue(emulator)
    emulator.as_person("ada").send("POST", f"{REPO}/issues/{number}/labels", {"labels": ["issuewright"]})
    (labeled,) = deliveries.wait(
        "ada/teatime", "issues.labeled", where=lambda payload: payload["issue"]["number"] == number
    )
    secret = emulator.world.webhook_secret.encode()
    expected = "sha256=" + hmac.new(secret, labeled.body, hashlib.sha256).hexdigest()
    assert labeled.headers["x-hub-signature-256"] == expected
    assert labeled.payload["label"]["name"] == "issuewright"
    assert labeled.payload["installation"]["id"] == INSTALLATION
    assert labeled.payload["sender"]["login"] == "ada"


def test_deliveries_of_one_moment_have_different_ids(emulator: Emulator, deliveries: Deliveries) -> None:
    number = new_issue(emulator)
    labels = [f"label-{index}" for index in range(20)]
    emulator.as_person("ada").send("POST", f"{REPO}/issues/{number}/labels", {"labels": labels})
    came = deliveries.wait(
        "ada/teatime",
        "issues.labeled",
        count=len(labels),
        where=lambda payload: payload["issue"]["number"] == number,
    )
    assert len({one.headers["x-github-delivery"] for one in came}) == len(came)


def test_no_secret_is_shown(emulator: Emulator) -> None:
    shown = repr(emulator) + " ".join(Path(f"/proc/{emulator.pid}/cmdline").read_text().split("\0"))
    hidden = [emulator.private_key, emulator.world.webhook_secret, *emulator.tokens.values()]
    assert not any(secret in shown for secret in hidden)


def test_it_stops_with_the_block(emulator_program: None) -> None:
    with run_emulator(World()) as emulator:
        assert is_running(emulator.pid)
    assert not is_running(emulator.pid)


def test_it_stops_when_its_parent_is_killed(emulator_program: None) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_running(pid)
        parent.send_signal(signal.SIGKILL)
    assert ends_within(pid, 10)


def test_what_it_says_is_in_the_error_when_it_does_not_start(emulator_program: None, tmp_path: Path) -> None:
    original = ensure_emulator()
    place = shutil.copytree(original.parents[3], tmp_path / "github-emulator" / original.parents[3].name)
    (place / "node_modules/emulate/dist/api.js").write_text("throw new Error('broken on purpose')")
    with (
        pytest.raises(InfrastructureError, match=r"(?s)exit code 1.*broken on purpose"),
        run_emulator(World(), cache=tmp_path),
    ):
        pass


def test_it_is_fetched_once_and_kept(emulator_program: None) -> None:
    entry = ensure_emulator()
    before = entry.stat().st_mtime_ns
    assert ensure_emulator() == entry
    assert entry.stat().st_mtime_ns == before
    assert json.loads((entry.parents[1] / "package.json").read_text())["version"] == "0.12.2"


def test_without_a_network_the_error_says_what_to_do_and_nothing_is_left(
    emulator_program: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_offline", "true")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    with pytest.raises(InfrastructureError, match=r"(?s)needs the network once.*ENOTCACHED"):
        ensure_emulator(tmp_path / "cache")
    assert list((tmp_path / "cache" / "github-emulator").iterdir()) == []


def test_only_what_the_lock_file_names_is_installed() -> None:
    lock = json.loads((emulator_package.node_files() / "package-lock.json").read_text())
    packages = {path: entry for path, entry in lock["packages"].items() if path}
    assert set(packages) == {
        f"node_modules/{name}" for name in ("commander", "emulate", "picocolors", "yaml")
    }
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values())
    assert packages["node_modules/emulate"]["version"] == "0.12.2"
