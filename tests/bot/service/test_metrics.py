from datetime import UTC, datetime

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.github.types import RepoRef
from bot.jobs.types import JobOrder, JobOutcome, JobRequest, JobState, JobView
from bot.service.metrics import Metrics
from pipelines.budget import Spent
from pipelines.errors import InfrastructureError
from tests.bot.service.scratch import PAYLOAD, MemoryStore, signed

Numbers = dict[tuple[str, ...], float]


def job(state: JobState, outcome: JobOutcome | None = None) -> JobView:
    order = JobOrder(
        repo=RepoRef(owner="o", name="r"),
        issue=1,
        title="t",
        body="",
        author="a",
        html_url="https://github.test/o/r/issues/1",
        requested_by="a",
        requested_at=datetime(2026, 11, 30, tzinfo=UTC),
    )
    return JobView(request=JobRequest(order=order, generation=1), state=state, outcome=outcome)


def numbers(page: str) -> Numbers:
    """Values by name and labels; only ours."""
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name.startswith("issuewright")
    }


async def test_answers_are_counted_by_event_and_result(
    client: httpx2.AsyncClient, store: MemoryStore
) -> None:
    async def deliver(delivery: str = "d-1", event: str = "issues") -> None:
        headers = signed(delivery=delivery, event=event)
        await client.post("/webhook", content=PAYLOAD, headers=headers)

    await deliver()
    await deliver()
    await deliver(delivery="d-2", event="ping")
    await deliver(delivery="d-3", event="push")
    await deliver(delivery="")
    store.error = InfrastructureError("no disk")
    await deliver(delivery="d-4")
    store.error = ZeroDivisionError()
    await deliver(delivery="d-5")
    store.error = None
    found = numbers((await client.get("/metrics")).text)
    counted = {key[1:]: value for key, value in found.items() if key[0] == "issuewright_deliveries_total"}
    assert counted == {
        ("issues", "stored"): 1,
        ("issues", "duplicate"): 1,
        ("other", "ping"): 1,
        ("other", "ignored"): 1,
        ("other", "refused"): 1,
        ("other", "not_stored"): 1,
        ("other", "failed"): 1,
    }
    assert found[("issuewright_delivery_seconds_count",)] == 7


async def test_invented_event_names_make_no_new_numbers(client: httpx2.AsyncClient) -> None:
    for name in ("a", "b", "c"):
        await client.post("/webhook", content=PAYLOAD, headers=signed(event=name))
    page = (await client.get("/metrics")).text
    assert numbers(page)[("issuewright_deliveries_total", "other", "ignored")] == 3


async def test_jobs_and_tokens_are_those_of_the_store(client: httpx2.AsyncClient, store: MemoryStore) -> None:
    spent = Spent(prompt_tokens=100, completion_tokens=20)
    store.live = {"queued": 3, "running": 1}
    store.jobs = [
        job("queued"),
        job("finished", JobOutcome(status="green", spent=spent)),
        job("finished", JobOutcome(status="green", spent=spent)),
        job("finished", JobOutcome(status="draft")),
        job("failed"),
        job("stopped"),
    ]
    found = numbers((await client.get("/metrics")).text)
    assert found[("issuewright_jobs", "queued")] == 3
    assert found[("issuewright_jobs", "running")] == 1
    ended = {key[1]: value for key, value in found.items() if key[0] == "issuewright_recent_jobs"}
    assert ended == {"green": 2, "draft": 1, "failed": 1, "stopped": 1}
    assert found[("issuewright_recent_tokens",)] == 240


async def test_what_is_over_is_no_longer_shown(client: httpx2.AsyncClient, store: MemoryStore) -> None:
    store.jobs = [job("finished", JobOutcome(status="green"))]
    await client.get("/metrics")
    store.jobs = []
    assert ("issuewright_recent_jobs", "green") not in numbers((await client.get("/metrics")).text)


async def test_without_the_store_the_process_still_has_its_numbers(
    client: httpx2.AsyncClient, store: MemoryStore
) -> None:
    await client.post("/webhook", content=PAYLOAD, headers=signed())
    store.error = InfrastructureError("no database")
    answer = await client.get("/metrics")
    found = numbers(answer.text)
    assert answer.status_code == 200
    assert found[("issuewright_deliveries_total", "issues", "stored")] == 1
    assert ("issuewright_jobs", "queued") not in found
    assert found[("issuewright_recent_tokens",)] != 0


def test_two_applications_in_a_process_do_not_share_numbers() -> None:
    first, second = Metrics(), Metrics()
    first.answered("issues", "stored", 0.001)
    key = ("issuewright_deliveries_total", "issues", "stored")
    assert numbers(first.page().decode())[key] == 1
    assert key not in numbers(second.page().decode())


@pytest.mark.parametrize("seconds", [0.0005, 0.049, 12.0])
def test_the_time_of_an_answer_falls_into_a_bucket(seconds: float) -> None:
    metrics = Metrics()
    metrics.answered("issues", "stored", seconds)
    found = numbers(metrics.page().decode())
    assert found[("issuewright_delivery_seconds_bucket", "0.05")] == (seconds <= 0.05)
