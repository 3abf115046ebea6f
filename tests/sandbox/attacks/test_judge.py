"""The suite itself: an attack that succeeds, or that fails for a reason of its own, is seen."""

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sandbox import ExecResult, LimitKind, Output, Usage

from . import host
from .attack import NOT_PERMITTED, Attack
from .bait import planted
from .judge import faults_of

_DENIED = Attack(name="x", program="", denied=NOT_PERMITTED)


def ended(said: str, *, limit: LimitKind | None = None, exit_code: int = 0, dropped: int = 0) -> ExecResult:
    stdout = Output(head=said.encode(), dropped_bytes=dropped)
    return ExecResult(exit_code=exit_code, limit=limit, usage=Usage(wall_seconds=0.1), stdout=stdout)


@pytest.mark.parametrize(
    ("said", "faults"),
    [
        ("STARTED\nmount DENIED EPERM\nFINISHED\n", []),
        ("STARTED\nmount ALLOWED\nopen DENIED EPERM\nFINISHED\n", ["mount was allowed"]),
        ("STARTED\nmount DENIED EINVAL\nFINISHED\n", ["mount: EINVAL"]),
        ("STARTED\nmount DENIED EPERM\n", ["did not come to its end"]),
        ("STARTED\nFINISHED\n", ["nothing was denied"]),
        ("", ["did not say 'STARTED'", "did not come to its end", "nothing was denied"]),
    ],
)
def test_denials(said: str, faults: list[str]) -> None:
    assert faults_of(_DENIED, ended(said)) == faults


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (ended("STARTED\n", limit=LimitKind.WALL, exit_code=137), "limit"),
        (ended("STARTED\n", exit_code=1), "exit code 1"),
        (ended("STARTED\nescaped\n"), "said 'escaped'"),
        (ended("STARTED\n", dropped=9), "9 bytes dropped"),
        (ended("STARTED\n" + "x" * 70_000), "more of stdout was kept"),
    ],
)
def test_other_ends(result: ExecResult, words: str) -> None:
    attack = Attack(name="x", program="", exit_codes=frozenset({0, 137}), unsaid=("escaped",))
    assert any(words in fault for fault in faults_of(attack, result))


def test_a_program_with_a_mistake_is_not_seen_as_denied(tmp_path: Path) -> None:
    """Run on the host on purpose: it does nothing but fail."""
    with planted(tmp_path) as bait:
        argv = Attack(name="x", program="no such syntax", denied=NOT_PERMITTED).argv(
            bait.token, bait.visible()
        )
    done = subprocess.run([sys.executable, *argv[1:]], capture_output=True, text=True, check=False)
    assert faults_of(_DENIED, ended(done.stdout, exit_code=done.returncode)) != []


def test_what_an_attack_changes_on_the_host_is_seen() -> None:
    token, before = f"judge-{os.getpid()}", host.snapshot()
    file = Path(tempfile.gettempdir(), token)
    sleeper = subprocess.Popen(["sh", "-c", "sleep 60; :", token])
    descriptor = os.open("/dev/null", os.O_RDONLY)
    try:
        file.touch()
        changes = "\n".join(host.changes_since(before, token, patience=0.2))
    finally:
        file.unlink()
        sleeper.kill()
        sleeper.wait()
        os.close(descriptor)
    for words in ("process lives on", f"file on the host: {file}", "descriptors"):
        assert words in changes
    assert host.changes_since(before, token) == []


async def test_a_visitor_of_the_hosts_servers_is_seen(tmp_path: Path) -> None:
    with planted(tmp_path) as bait:
        assert bait.visitors() == []
        _, writer = await asyncio.open_unix_connection(str(bait.socket_path))
        writer.close()
        await writer.wait_closed()
        assert len(bait.visitors()) == 1
