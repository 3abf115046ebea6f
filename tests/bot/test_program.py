"""The whole program in a process of its own: real HTTP, sandbox and git; killed, interrupted, misused."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sandbox import SandboxBackend
from tests.bot.conftest import git
from tests.bot.model_server import ModelServer, model_server
from tests.pipelines.scenes import ISSUE, RIGHT, WRONG

pytestmark = pytest.mark.sandbox

BROKEN = "def double(x):\n    return twice(x)\n"


def answer(request: dict[str, Any]) -> str:
    """Wrong first, wrong samples, a repair that is right."""
    text = request["messages"][-2 if request["messages"][-1]["role"] == "assistant" else -1]["content"]
    if "fails these checks" in text:
        return RIGHT
    if "different checks" in text:
        return "assert double(7) == 14\n"
    if "response_format" in request:
        return '{"criteria": [], "signatures": [], "module": "numbers"}'
    return WRONG if request.get("temperature") == 0 else BROKEN


class Program:
    """The command line, with its own home and a model server."""

    def __init__(self, home: Path, server: ModelServer | None) -> None:
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("ISSUEWRIGHT_")},
            "ISSUEWRIGHT_DATA_DIR": str(home / "data"),
            "ISSUEWRIGHT_CACHE_DIR": str(home / "cache"),
            "ISSUEWRIGHT_SANDBOX": "bubblewrap",
            "ISSUEWRIGHT_DIRECT__SAMPLES": "2",
            "ISSUEWRIGHT_TESTER__GENERATIONS": "2",
        }
        if server is not None:
            self.environment["ISSUEWRIGHT_EXECUTOR__BASE_URL"] = server.url
            self.environment["ISSUEWRIGHT_EXECUTOR__API_KEY"] = "sk-secret-of-the-test"

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "bot", *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)


@pytest.fixture
def issue(tmp_path: Path) -> Path:
    path = tmp_path / "issue.md"
    path.write_text(ISSUE)
    return path


def test_green_is_exit_code_zero_and_json_is_for_machines(
    tmp_path: Path, repository: Path, issue: Path, backend: SandboxBackend
) -> None:
    with model_server(answer) as server:
        done = Program(tmp_path, server).run("run", str(issue), "--repo", str(repository), "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["status"] == "green"
    assert data["branch"] == "issuewright/double-a-number"
    assert git(repository, "rev-parse", data["branch"]) == data["commit"]
    assert {test["trust"] for test in data["tests"]} == {"given", "agreed"}
    assert data["spent"]["model_calls"] == len(server.requests)
    assert "repair" in done.stderr


def test_without_a_terminal_the_text_is_the_pull_request(
    tmp_path: Path, repository: Path, issue: Path, backend: SandboxBackend
) -> None:
    with model_server(answer) as server:
        done = Program(tmp_path, server).run("run", str(issue), "--repo", str(repository))
    assert done.stdout.startswith("<!-- issuewright -->\n# Double a number\n")
    assert "| `test_given_1` | given |" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert "sk-secret-of-the-test" not in done.stdout + done.stderr


def test_a_draft_is_exit_code_three(
    tmp_path: Path, repository: Path, issue: Path, backend: SandboxBackend
) -> None:
    with model_server(lambda _: WRONG) as server:
        done = Program(tmp_path, server).run("run", str(issue), "--repo", str(repository))
    assert done.returncode == 3
    assert "Draft" in done.stdout


def slowly_wrong(_request: dict[str, Any]) -> str:
    time.sleep(1.5)
    return WRONG


def killed_at_request(server: ModelServer, number: int, process: dict[str, int]) -> Callable[[int], None]:
    def strike(current: int) -> None:
        if current == number:
            os.killpg(process["id"], signal.SIGKILL)
            time.sleep(0.2)

    return strike


@pytest.mark.parametrize("number", [1, 2, 4, 6])
def test_killed_in_mid_call_the_same_command_goes_on_and_repeats_no_finished_call(
    tmp_path: Path, repository: Path, issue: Path, backend: SandboxBackend, number: int
) -> None:
    command = ("run", str(issue), "--repo", str(repository), "--json")
    with model_server(answer) as server:
        program = Program(tmp_path, server)
        process: dict[str, int] = {}
        server.before_answer = killed_at_request(server, number, process)
        started = program.start(*command)
        process["id"] = started.pid
        started.communicate(timeout=60)
        assert started.returncode == -signal.SIGKILL
        assert git(repository, "branch", "--list", "issuewright/*") == ""
        finished = Counter(server.answered)
        server.before_answer = lambda _: None
        first_calls = len(server.requests)
        done = program.run(*command)
        again = Counter(json.dumps(r, sort_keys=True) for r in server.requests[first_calls:])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["resumed"]
    # A call that was answered just before the kill may not have reached the disk: at most those in flight.
    repeated = finished & again
    assert sum(repeated.values()) <= 3, repeated


def test_killed_between_calls_nothing_finished_is_repeated_and_the_commit_is_the_same(
    tmp_path: Path, repository: Path, issue: Path, backend: SandboxBackend
) -> None:
    """The kill strikes while the sandbox works, well after the answers were stored."""
    with model_server(answer) as server:
        program = Program(tmp_path, server)
        command = ("run", str(issue), "--repo", str(repository), "--json")
        started = program.start(*command)
        assert started.stderr is not None
        for line in started.stderr:
            if "choose" in line:
                break
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate(timeout=60)
        finished = Counter(server.answered[:5])
        first_calls = len(server.requests)
        done = program.run(*command)
        again = Counter(json.dumps(r, sort_keys=True) for r in server.requests[first_calls:])
        assert done.returncode == 0, done.stderr
        assert not finished & again
        data = json.loads(done.stdout)
        replayed = Program(tmp_path, None).run("replay", data["run"])
    assert replayed.returncode == 0, replayed.stderr
    assert data["commit"] in replayed.stdout


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_stops_everything_and_leaves_the_repository_as_it_was(
    tmp_path: Path, repository: Path, issue: Path, backend: SandboxBackend, how: signal.Signals
) -> None:
    before = git(repository, "for-each-ref"), git(repository, "status", "--porcelain")
    with model_server(slowly_wrong) as server:
        started = Program(tmp_path, server).start("run", str(issue), "--repo", str(repository))
        assert started.stderr is not None
        for line in started.stderr:
            if "writing" in line:
                break
        asked = time.monotonic()
        started.send_signal(how)
        _, err = started.communicate(timeout=30)
    assert time.monotonic() - asked < 10
    assert started.returncode == 130
    assert "interrupted" in err
    assert (git(repository, "for-each-ref"), git(repository, "status", "--porcelain")) == before


def test_a_server_that_is_down_is_a_fault_and_the_run_can_go_on(
    tmp_path: Path, repository: Path, issue: Path, backend: SandboxBackend
) -> None:
    with model_server(answer) as server:
        gone = Program(tmp_path, server)
    gone.environment["ISSUEWRIGHT_EXECUTOR__ATTEMPTS"] = "2"
    done = gone.run("run", str(issue), "--repo", str(repository))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert server.url in done.stderr
    assert "trying again in" in done.stderr
    assert "unfinished" in gone.run("runs").stdout


BAD_INPUT: dict[str, tuple[bytes | None, str]] = {
    "missing": (None, "no issue file"),
    "empty": (b"", "empty"),
    "blank": (b" \n\n", "empty"),
    "binary": (b"\x7fELF\x00\x01\x02" * 50, "binary"),
    "too large": (b"# T\n\n" + b"word " * 500_000, "MiB"),
    "outside": (ISSUE.replace("src/pkg/numbers_.py", "../x.py").encode(), "../x.py"),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_issues_are_refused_in_one_line(tmp_path: Path, repository: Path, name: str) -> None:
    content, words = BAD_INPUT[name]
    path = tmp_path / "bad.md"
    if content is not None:
        path.write_bytes(content)
    done = Program(tmp_path, None).run("run", str(path), "--repo", str(repository))
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert git(repository, "branch", "--list", "issuewright/*") == ""


def test_bad_repositories_are_refused_in_one_line(tmp_path: Path, issue: Path) -> None:
    program = Program(tmp_path, None)
    plain = tmp_path / "plain"
    plain.mkdir()
    unborn = tmp_path / "unborn"
    unborn.mkdir()
    git(unborn, "init", "-q")
    for folder, words in (
        (plain, "git init"),
        (unborn, "no commits"),
        (tmp_path / "gone", "gone"),
        (issue, "directory"),
    ):
        done = program.run("run", str(issue), "--repo", str(folder))
        assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
        assert words in done.stderr


@pytest.mark.parametrize("encode", ["utf-8-sig", "utf-16"])
def test_line_ends_and_marks_of_other_systems_are_read(tmp_path: Path, repository: Path, encode: str) -> None:
    path = tmp_path / "windows.md"
    path.write_bytes(ISSUE.replace("\n", "\r\n").encode(encode))
    done = Program(tmp_path, None).run("run", str(path), "--spec")
    assert done.returncode == 0, done.stderr
    spec = json.loads(done.stdout)
    assert spec["title"] == "Double a number"
    assert [(e["expression"], e["expected"]) for e in spec["examples"]] == [
        ("double(2)", "4"),
        ("double(-3)", "-6"),
    ]


def test_a_bad_setting_is_named(tmp_path: Path, issue: Path, repository: Path) -> None:
    program = Program(tmp_path, None)
    program.environment["ISSUEWRIGHT_BUDGET__TOKENS"] = "many"
    done = program.run("run", str(issue), "--repo", str(repository))
    assert done.returncode == 2
    assert "budget.tokens" in done.stderr


def test_wrong_usage_is_exit_code_two(tmp_path: Path) -> None:
    done = Program(tmp_path, None).run("run")
    assert done.returncode == 2
    assert "ISSUE" in done.stderr


def test_earlier_runs_are_listed_and_shown_with_their_decisions(
    tmp_path: Path, repository: Path, issue: Path, backend: SandboxBackend
) -> None:
    with model_server(answer) as server:
        program = Program(tmp_path, server)
        assert program.run("runs").stdout.strip() == "No runs yet."
        run = json.loads(program.run("run", str(issue), "--repo", str(repository), "--json").stdout)["run"]
    program.environment["COLUMNS"] = "200"
    listed = program.run("runs").stdout
    assert run in listed
    assert "green" in listed
    shown = program.run("show", run).stdout
    for words in ("repair 1 of greedy passes 2 given tests", "tests on the base", "PULL_REQUEST.md"):
        assert words in shown


@pytest.mark.parametrize("command", ["show", "replay"])
def test_a_run_that_is_not_there_is_refused(tmp_path: Path, command: str) -> None:
    for name in ("nothing", "../outside"):
        done = Program(tmp_path, None).run(command, name)
        assert done.returncode == 2
        assert "issuewright runs" in done.stderr


def test_weights_in_the_cache_are_listed(tmp_path: Path) -> None:
    program = Program(tmp_path, None)
    assert "issuewright model fetch" in program.run("model", "list").stdout
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "own.gguf").write_bytes(b"GGUF")
    shown = "".join(
        line.strip("│ ").split(" ")[0] for line in program.run("model", "list").stdout.splitlines()
    )
    assert str(tmp_path / "cache" / "own.gguf") in shown


def test_the_sample_refuses_a_folder_that_is_in_use(tmp_path: Path) -> None:
    folder = tmp_path / "used"
    folder.mkdir()
    (folder / "file").touch()
    done = Program(tmp_path, None).run("sample", str(folder))
    assert done.returncode == 2
    assert "not empty" in done.stderr


def test_the_sample_runs_the_main_job_on_what_it_creates(tmp_path: Path, backend: SandboxBackend) -> None:
    right = (
        "def sales_per_tea(sales: list[str]) -> dict[str, int]:\n"
        "    names = [sale.strip().lower() for sale in sales]\n"
        "    if '' in names:\n        raise ValueError('a sale without a name')\n"
        "    return {name: names.count(name) for name in names}\n"
    )
    with model_server(lambda _: right) as server:
        program = Program(tmp_path, server)
        done = program.run("sample", str(tmp_path / "sample"), "--model-url", server.url, "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["files"] == ["src/teatime/sales.py", "tests/test_sales_per_tea.py"]
    assert data["repository_tests"] == "same"
    assert git(tmp_path / "sample" / "teatime", "rev-parse", data["branch"]) == data["commit"]
