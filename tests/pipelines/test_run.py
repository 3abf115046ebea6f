"""Recording, resuming and metering of a Run, with fakes for model and sandbox."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipelines.budget import Budget, Meter
from pipelines.candidate import Record
from pipelines.errors import BudgetExceeded, InfrastructureError, ModelError
from pipelines.ledger import Ledger
from pipelines.model.protocol import Message, ModelRequest
from pipelines.model.scripted import ScriptedModel
from pipelines.run import Progress, Run, Services
from sandbox import FakeBackend, Limits, Sandbox, SandboxBroken


def request(text: str, **options: object) -> ModelRequest:
    messages = (Message(role="user", content=text),)
    return ModelRequest.model_validate({"role": "executor", "messages": messages, "max_tokens": 10} | options)


LIMITS = Limits()


class Echo(Record):
    text: str


@dataclass(frozen=True)
class EchoJob:
    text: str
    label: str = "echo"
    limits: Limits = LIMITS
    result_type: type[Echo] = Echo

    def digest(self) -> str:
        return self.text

    async def run(self, box: Sandbox) -> Echo:
        await box.put_files({"text": self.text.encode()})
        return Echo(text=(await box.get_files()).files["text"].decode())


class BrokenJob(EchoJob):
    async def run(self, box: Sandbox) -> Echo:
        raise SandboxBroken("the engine went away")


class FullDiskJob(EchoJob):
    async def run(self, box: Sandbox) -> Echo:
        raise OSError(28, "No space left on device")


def start(tmp_path: Path, model: ScriptedModel | None, **options: object) -> Run:
    backend = FakeBackend() if model else None
    meter = Meter(Budget.model_validate(options))
    return Run(Services(model, backend, Ledger(tmp_path / "ledger.sqlite3"), meter), seed=7)


async def test_a_finished_call_is_never_made_again(tmp_path: Path) -> None:
    first = start(tmp_path, ScriptedModel(["one", "two"]))
    assert (await first.complete(request("q"), label="")).text == "one"
    silent = ScriptedModel([])
    second = start(tmp_path, silent)
    assert (await second.complete(request("q"), label="")).text == "one"
    assert silent.requests == []


async def test_the_same_request_twice_is_two_calls(tmp_path: Path) -> None:
    run = start(tmp_path, ScriptedModel(["one", "two"]))
    texts = [(await run.complete(request("q"), label="")).text for _ in range(2)]
    again = start(tmp_path, None)
    assert texts == ["one", "two"]
    assert [(await again.complete(request("q"), label="")).text for _ in range(2)] == texts


async def test_branches_keep_their_answers_whatever_order_they_finish_in(tmp_path: Path) -> None:
    run = start(tmp_path, ScriptedModel(lambda asked: f"seed {asked.seed}"))
    forks = [run.fork(f"sample-{number}") for number in range(5)]

    async def ask(fork: Run, delay: float) -> str:
        await asyncio.sleep(delay)
        return (await fork.complete(request("q", seed=fork.seed, temperature=0.7), label="")).text

    texts = await asyncio.gather(*(ask(fork, 0.02 * (5 - index)) for index, fork in enumerate(forks)))
    again = start(tmp_path, None)
    forks = [again.fork(f"sample-{number}") for number in range(5)]
    assert await asyncio.gather(*(ask(fork, 0) for fork in forks)) == texts
    assert len(set(texts)) == 5


async def test_a_replay_without_the_answer_says_which_is_missing(tmp_path: Path) -> None:
    run = start(tmp_path, None)
    with pytest.raises(InfrastructureError, match=r"greedy: a\.py.*root"):
        await run.complete(request("q"), label="greedy: a.py")


async def test_answers_from_the_ledger_count_as_spent(tmp_path: Path) -> None:
    first = start(tmp_path, ScriptedModel(["one"]))
    await first.complete(request("q"), label="")
    second = start(tmp_path, None)
    await second.complete(request("q"), label="")
    assert second.services.meter.spent == first.services.meter.spent
    assert second.services.meter.spent.model_calls == 1


async def test_a_used_up_budget_stops_the_call_before_it_is_made(tmp_path: Path) -> None:
    model = ScriptedModel(["one", "two"])
    run = start(tmp_path, model, model_calls=1)
    await run.complete(request("q"), label="")
    with pytest.raises(BudgetExceeded, match="model_calls"):
        await run.complete(request("other"), label="")
    assert len(model.requests) == 1


async def test_an_unusable_answer_is_recorded_and_met_again(tmp_path: Path) -> None:
    first = start(tmp_path, ScriptedModel([ModelError("nothing but white space")]))
    with pytest.raises(ModelError, match="white space"):
        await first.complete(request("q"), label="")
    again = start(tmp_path, None)
    with pytest.raises(ModelError, match="white space"):
        await again.complete(request("q"), label="")


async def test_a_refusal_of_the_budget_is_recorded_and_met_again(tmp_path: Path) -> None:
    first = start(tmp_path, ScriptedModel(["one"]), model_calls=1)
    await first.complete(request("q"), label="")
    with pytest.raises(BudgetExceeded):
        await first.complete(request("other"), label="")
    again = start(tmp_path, None, model_calls=9)
    await again.complete(request("q"), label="")
    with pytest.raises(BudgetExceeded, match="model_calls"):
        await again.complete(request("other"), label="")


async def test_a_server_that_is_down_is_not_recorded(tmp_path: Path) -> None:
    first = start(tmp_path, ScriptedModel([InfrastructureError("down")]))
    with pytest.raises(InfrastructureError):
        await first.complete(request("q"), label="")
    again = start(tmp_path, ScriptedModel(["up"]))
    assert (await again.complete(request("q"), label="")).text == "up"


async def test_a_finished_job_is_never_done_again(tmp_path: Path) -> None:
    first = start(tmp_path, ScriptedModel([]))
    assert await first.execute(EchoJob("x")) == Echo(text="x")
    again = start(tmp_path, None)
    assert await again.execute(EchoJob("x")) == Echo(text="x")
    with pytest.raises(InfrastructureError, match="echo"):
        await again.execute(EchoJob("y"))


async def test_a_broken_sandbox_is_an_infrastructure_error_and_nothing_is_stored(tmp_path: Path) -> None:
    run = start(tmp_path, ScriptedModel([]))
    with pytest.raises(InfrastructureError, match="the engine went away"):
        await run.execute(BrokenJob("x"))
    with pytest.raises(InfrastructureError, match="No space left"):
        await run.execute(FullDiskJob("x"))
    assert list(run.services.ledger.entries()) == []


async def test_decisions_are_recorded_and_shown(tmp_path: Path) -> None:
    shown: list[Progress] = []
    services = Services(None, None, Ledger(tmp_path / "ledger.sqlite3"), Meter(Budget()), shown.append)
    run = Run(services, seed=0)
    run.decide("sample", "2 of 3 given tests")
    run.fork("repair-1").decide("keep", "better")
    assert [(d.branch, d.what) for d in services.ledger.decisions()] == [
        ("root", "sample"),
        ("root/repair-1", "keep"),
    ]
    assert [progress.stage for progress in shown] == ["sample", "keep"]


def test_forks_draw_their_own_seeds_and_the_same_ones_each_time(tmp_path: Path) -> None:
    one, two = start(tmp_path, None), start(tmp_path, None)
    names = [f"sample-{number}" for number in range(20)]
    seeds = [one.fork(name).seed for name in names]
    assert seeds == [two.fork(name).seed for name in names]
    assert len(set(seeds)) == 20
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert one.fork("a").random().random() == two.fork("a").random().random()
