"""One execution of a Strategy: everything a strategy may touch, recorded and metered."""

import asyncio
import hashlib
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pydantic import BaseModel

from pipelines.budget import Meter, Spent
from pipelines.errors import BudgetExceeded, InfrastructureError, ModelError
from pipelines.ledger import EntryKey, EntryKind, Ledger, Stored
from pipelines.model.protocol import Completion, Model, ModelRequest
from sandbox import Limits, Sandbox, SandboxBackend, SandboxError

ResultT = TypeVar("ResultT", bound=BaseModel, covariant=True)


class SandboxJob(Protocol[ResultT]):
    """A piece of work for a fresh box whose result can be stored."""

    @property
    def label(self) -> str:
        """What it does, for the record."""
        ...

    @property
    def limits(self) -> Limits:
        """Caps of the box."""
        ...

    @property
    def result_type(self) -> type[ResultT]:
        """The type its stored result is read back as."""
        ...

    def digest(self) -> str:
        """Hash of everything that decides the result."""
        ...

    async def run(self, box: Sandbox) -> ResultT:
        """Do the work in a box."""
        ...


class Progress(BaseModel):
    """Something a person watching may want to know."""

    stage: str
    detail: str = ""
    spent: Spent = Spent()

    @property
    def tokens(self) -> int:
        """Tokens so far."""
        return self.spent.tokens


Listener = Callable[[Progress], None]


@dataclass(frozen=True)
class Services:
    """What a Run works with; None for what a replay does without."""

    model: Model | None
    backend: SandboxBackend | None
    ledger: Ledger
    meter: Meter
    listener: Listener = lambda _: None
    job: str = ""
    """Whom the boxes serve, for operators."""
    boxes: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(2))


class Run:
    """One branch of a Run. Concurrent work is done in forks, so that keys never depend on arrival order."""

    def __init__(self, services: Services, *, seed: int, branch: str = "root") -> None:
        self.services = services
        self.branch = branch
        self.seed = seed
        self._occurrences: Counter[tuple[str, str]] = Counter()
        self._decisions = 0

    def fork(self, name: str) -> "Run":
        """A branch with its own keys and its own seed."""
        branch = f"{self.branch}/{name}"
        seed = int.from_bytes(hashlib.sha256(f"{self.seed}:{branch}".encode()).digest()[:4], "big") >> 1
        return Run(self.services, seed=seed, branch=branch)

    def random(self) -> random.Random:
        """A generator that gives the same draws whenever this branch is repeated."""
        return random.Random(self.seed)  # noqa: S311

    def decide(self, what: str, why: str) -> None:
        """Record a choice and its reason, and show it."""
        self.services.ledger.decide(self.branch, self._decisions, what, why)
        self._decisions += 1
        self.report(what, why)

    def report(self, stage: str, detail: str = "") -> None:
        """Tell whoever watches."""
        spent = self.services.meter.spent.model_copy()
        self.services.listener(Progress(stage=stage, detail=detail, spent=spent))

    async def complete(self, request: ModelRequest, *, label: str) -> Completion:
        """Ask the model, or take the answer from the Ledger; the same request twice is two calls.

        Raises BudgetExceeded before the call, InfrastructureError and ModelError from it.
        """
        key = self._key("model", request.digest())
        stored = self._find(key)
        if stored is not None:
            completion = Completion.model_validate_json(stored.result)
        else:
            self._check_budget(key, label, self.services.meter.check_model)
            completion = await self._ask(key, request, label)
            stored = Stored(completion.model_dump_json(), completion.seconds)
            self.services.ledger.store(key, stored, label=label, request=request.model_dump_json())
        self.services.meter.charge_call(
            request.role, completion.prompt_tokens, completion.completion_tokens, model=completion.model
        )
        return completion

    def _find(self, key: EntryKey) -> Stored | None:
        stored = self.services.ledger.find(key)
        if stored is not None and stored.failure:
            raise (BudgetExceeded if stored.failure == "budget" else ModelError)(stored.result)
        return stored

    def _check_budget(self, key: EntryKey, label: str, check: Callable[[], None]) -> None:
        """A refusal is recorded like an answer: a replay, which takes no time, must meet it again."""
        try:
            check()
        except BudgetExceeded as refusal:
            self.services.ledger.store(key, Stored(str(refusal), 0.0, "budget"), label=label, request="")
            raise

    async def _ask(self, key: EntryKey, request: ModelRequest, label: str) -> Completion:
        if self.services.model is None:
            raise InfrastructureError(
                f"the recording has no answer for {label!r} in {self.branch}: "
                "the run was interrupted before it, or this issuewright asks differently"
            )
        try:
            return await self.services.model.complete(request)
        except ModelError as error:
            stored = Stored(str(error), 0.0, "model")
            self.services.ledger.store(key, stored, label=label, request=request.model_dump_json())
            raise

    async def execute(self, job: SandboxJob[ResultT]) -> ResultT:
        """Do a job in a fresh box, or take its result from the Ledger.

        Raises BudgetExceeded before it, InfrastructureError when the sandbox itself fails.
        """
        key = self._key("sandbox", job.digest())
        stored = self._find(key)
        if stored is None:
            self._check_budget(key, job.label, self.services.meter.check_sandbox)
            result, seconds = await self._in_box(job)
            stored = Stored(result.model_dump_json(), seconds)
            self.services.ledger.store(key, stored, label=job.label, request=job.digest())
        self.services.meter.charge_sandbox(stored.seconds)
        return job.result_type.model_validate_json(stored.result)

    async def _in_box(self, job: SandboxJob[ResultT]) -> tuple[ResultT, float]:
        backend = self.services.backend
        if backend is None:
            raise InfrastructureError(f"the recording has no result for {job.label!r} in {self.branch}")
        clock = asyncio.get_running_loop().time
        async with self.services.boxes:
            started = clock()
            try:
                box = await backend.create(job.limits, job=self.services.job)
                try:
                    return await job.run(box), clock() - started
                finally:
                    await box.destroy()
            except (SandboxError, OSError) as error:
                raise InfrastructureError(f"the {backend.name} sandbox failed: {error}") from error

    def _key(self, kind: EntryKind, digest: str) -> EntryKey:
        occurrence = self._occurrences[kind, digest]
        self._occurrences[kind, digest] += 1
        return EntryKey(kind, self.branch, digest, occurrence)
