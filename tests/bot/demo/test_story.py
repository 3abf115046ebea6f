"""Label to draft pull request: the real service in a process of its own, real git, a real sandbox."""

import base64
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from bot.demo.scripted_server import run_scripted_server
from bot.demo.story import play, set_up
from bot.demo.watching import News
from bot.sample import sample_issue
from sandbox import SandboxBackend
from tests.pipelines.model.processes import ends_within

pytestmark = pytest.mark.sandbox

BRANCH = "issuewright/1-count-the-sales-of-each-tea"


def children(pid: int) -> set[int]:
    listing = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return {int(line) for line in listing.stdout.split()}


def test_a_label_becomes_one_draft_pull_request_with_code_tests_and_evidence(
    emulator_program: None, backend: SandboxBackend, tmp_path: Path
) -> None:
    told: list[News] = []
    with run_scripted_server() as model:
        settings = {
            "ISSUEWRIGHT_EXECUTOR__BASE_URL": model,
            "ISSUEWRIGHT_DIRECT__SAMPLES": "0",
            "ISSUEWRIGHT_SANDBOX": "bubblewrap",
        }
        with set_up(tmp_path, settings=settings) as stage:
            seen = play(stage, sample_issue(), told.append)
            owner = stage.github.emulator.as_person("ada")
            (pull,) = owner.get("/repos/ada/teatime/pulls?state=all")
            comments = owner.get("/repos/ada/teatime/issues/1/comments")
            path = f"/repos/ada/teatime/contents/src/teatime/sales.py?ref={BRANCH}"
            code = base64.b64decode(owner.get(path)["content"]).decode()
            log = stage.service.log.read_text()
            secrets = [stage.github.emulator.private_key, stage.github.emulator.world.webhook_secret]
    assert (pull["draft"], pull["head"]["ref"], pull["base"]["ref"]) == (True, BRANCH, "main")
    assert pull["user"]["login"] == "issuewright[bot]"
    assert "Closes #1" in pull["body"]
    assert "| `test_given_1` | given |" in pull["body"]
    assert pull["head"]["sha"] == seen.branches[BRANCH]
    assert "a sale without a name" in code
    (status,) = comments
    assert status["user"]["login"] == "issuewright[bot]"
    assert status["body"].startswith("<!-- issuewright -->")
    assert f"/pull/{pull['number']}" in status["body"]
    assert [one.what for one in told[:2]] == [
        "ada opens issue #1: Count the sales of each tea",
        "ada puts the label `issuewright` on it",
    ]
    assert any("Now: " in one.text for one in told), "work is shown while it goes on"
    assert not any(line in log for secret in secrets for line in secret.splitlines())


def test_an_interrupted_demo_leaves_nothing_running(emulator_program: None, tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "bot", "demo", "github", "--scripted", "--folder", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        too_late = threading.Timer(120, process.kill)
        too_late.start()
        for line in process.stdout:
            if "puts the label" in line:
                break
        started = children(process.pid)
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        too_late.cancel()
    assert process.returncode == 130, rest
    assert "everything is stopped" in rest
    assert len(started) == 2, "the emulator and the service"
    assert all(ends_within(pid, 1) for pid in started)
