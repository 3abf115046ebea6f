"""Direct: the greedy answer, and only where it is not proven, samples, a vote and repairs.

The order of means follows what was measured for small models: given tests over outputs' agreement over
everything else, repair at most twice, keep the best (design section 4).
"""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from pipelines.candidate import Candidate
from pipelines.checks.job import check
from pipelines.checks.mutate import vote_calls
from pipelines.checks.observe import observe
from pipelines.checks.vote import best_index, soft_vote
from pipelines.coding import Sampling, files_digest, repair_candidate, write_candidate
from pipelines.concurrency import together
from pipelines.errors import BudgetExceeded, ModelError
from pipelines.run import Run
from pipelines.strategies.base import Attempt, Solution
from pipelines.task import Task


class DirectParameters(BaseModel):
    """How far `direct` goes beyond the first answer; all zero is the plain greedy answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    samples: int = Field(default=8, ge=0)
    temperature: float = Field(default=0.7, ge=0, le=2)
    repairs: int = Field(default=2, ge=0)
    vote_inputs: int = Field(default=16, ge=0)


class Direct:
    """The strategy `direct`."""

    name = "direct"

    def __init__(self, parameters: DirectParameters | None = None) -> None:
        self.parameters = parameters or DirectParameters()

    async def solve(self, run: Run, task: Task) -> Solution:
        """Greedy answer, given tests; on failure samples and a vote; then repairs of the best."""
        attempts: list[Attempt] = []
        try:
            if await self._first_is_proven(run, task, attempts):
                return Solution(best=attempts[0])
            attempts += await self._sample(run, task)
            best = await self._select(run, task, attempts)
        except BudgetExceeded as limit:
            run.decide("stop", str(limit))
            best = _most_passed(attempts)
            return Solution(best=best, others=_without(attempts, best), stopped=str(limit))
        if best is None:
            return Solution(best=None)
        best, stopped = await self._repair(run, task, best)
        return Solution(best=best, others=_without(attempts, best), stopped=stopped)

    async def _first_is_proven(self, run: Run, task: Task, attempts: list[Attempt]) -> bool:
        first = await self._attempt(run.fork("greedy"), task, "greedy", Sampling())
        if first is None:
            run.decide("sample", "the first answer could not be used")
            return False
        attempts.append(first)
        if not task.given:
            run.decide("sample", "the issue gives no example, so agreement must speak for the answer")
            return False
        if first.verdict.all_passed:
            run.decide("accept", f"the first answer passes all {len(task.given)} given tests")
            return True
        run.decide(
            "sample", f"the first answer passes {first.verdict.passed} of {len(task.given)} given tests"
        )
        return False

    async def _sample(self, run: Run, task: Task) -> list[Attempt]:
        forks = [run.fork(f"sample-{number}") for number in range(1, self.parameters.samples + 1)]
        temperature = self.parameters.temperature
        drawn = await together(
            self._sample_one(fork, task, f"sample {number}", Sampling(temperature, fork.seed))
            for number, fork in enumerate(forks, start=1)
        )
        return [attempt for attempt in drawn if attempt is not None]

    async def _sample_one(self, run: Run, task: Task, origin: str, sampling: Sampling) -> Attempt | None:
        """One sample; when the Budget ends, the samples already drawn still count."""
        try:
            return await self._attempt(run, task, origin, sampling)
        except BudgetExceeded as limit:
            run.decide("discard", f"{origin}: {limit}")
            return None

    async def _attempt(self, run: Run, task: Task, origin: str, sampling: Sampling) -> Attempt | None:
        try:
            candidate = await write_candidate(run, task, origin=origin, sampling=sampling)
        except ModelError as error:
            run.decide("discard", f"{origin}: {error}")
            return None
        return await _tested(run, task, candidate)

    async def _select(self, run: Run, task: Task, attempts: Sequence[Attempt]) -> Attempt | None:
        """Most given tests first, soft vote second, the greedy answer on ties."""
        distinct = _distinct(attempts)
        if len(distinct) < 2:
            return distinct[0] if distinct else None
        leading = max(attempt.verdict.passed for attempt in distinct)
        finalists = [attempt for attempt in distinct if attempt.verdict.passed == leading]
        votes = await self._votes(run, task, finalists, attempts)
        best = finalists[best_index([leading] * len(finalists), votes)]
        run.decide(
            f"choose {best.candidate.origin}",
            f"{leading} of {len(task.given)} given tests, {len(finalists)} candidates level, "
            f"agreement {max(votes):.1f}",
        )
        return best

    async def _votes(
        self, run: Run, task: Task, finalists: Sequence[Attempt], attempts: Sequence[Attempt]
    ) -> list[float]:
        """Each finalist's agreement, where a candidate that was drawn several times weighs as often."""
        calls = vote_calls(task, rng=run.random(), limit=self.parameters.vote_inputs)
        if len(finalists) < 2 or not calls:
            return [0.0] * len(finalists)
        observed = await together(
            observe(run.fork(f"vote-{index}"), task, attempt.candidate, calls, label="outputs for the vote")
            for index, attempt in enumerate(finalists)
        )
        drawn = [_times_drawn(attempt, attempts) for attempt in finalists]
        crowd = [answers for answers, times in zip(observed, drawn, strict=True) for _ in range(times)]
        scores = soft_vote(crowd)
        first = [sum(drawn[:index]) for index in range(len(drawn))]
        return [scores[position] for position in first]

    async def _repair(self, run: Run, task: Task, best: Attempt) -> tuple[Attempt, str]:
        """Up to the set number of repairs of the best so far; each is tested again, the better is kept.

        Returns the best and, where the Budget ended it, why it stopped.
        """
        seen = {files_digest(best.candidate.files)}
        for number in range(1, self.parameters.repairs + 1):
            if not task.given or best.verdict.all_passed:
                break
            fork = run.fork(f"repair-{number}")
            origin = f"repair {number} of {best.candidate.origin}"
            try:
                repaired = await self._try_repair(fork, task, best, origin, number)
            except BudgetExceeded as limit:
                fork.decide("stop", str(limit))
                return best, str(limit)
            if repaired is None:
                continue
            if files_digest(repaired.candidate.files) in seen:
                fork.decide("discard", f"{origin} changes nothing")
                continue
            seen.add(files_digest(repaired.candidate.files))
            better = repaired.verdict.passed > best.verdict.passed
            fork.decide(
                "keep" if better else "reject",
                f"{origin} passes {repaired.verdict.passed} given tests, before {best.verdict.passed}",
            )
            best = repaired if better else best
        return best, ""

    async def _try_repair(
        self, run: Run, task: Task, best: Attempt, origin: str, number: int
    ) -> Attempt | None:
        # The second try of the same code must be able to say something else.
        sampling = Sampling() if number == 1 else Sampling(self.parameters.temperature, run.seed)
        try:
            candidate = await repair_candidate(
                run, task, best.candidate, best.verdict, origin=origin, sampling=sampling
            )
        except ModelError as error:
            run.decide("discard", f"{origin}: {error}")
            return None
        return await _tested(run, task, candidate)


async def _tested(run: Run, task: Task, candidate: Candidate) -> Attempt:
    run.report("testing", candidate.origin)
    return Attempt(candidate, await check(run, task, candidate, task.given, label="given tests"))


def _distinct(attempts: Sequence[Attempt]) -> list[Attempt]:
    first: dict[str, Attempt] = {}
    for attempt in attempts:
        first.setdefault(files_digest(attempt.candidate.files), attempt)
    return list(first.values())


def _times_drawn(attempt: Attempt, attempts: Sequence[Attempt]) -> int:
    digest = files_digest(attempt.candidate.files)
    return sum(files_digest(other.candidate.files) == digest for other in attempts)


def _most_passed(attempts: Sequence[Attempt]) -> Attempt | None:
    return max(attempts, key=lambda attempt: attempt.verdict.passed, default=None)


def _without(attempts: Sequence[Attempt], best: Attempt | None) -> tuple[Attempt, ...]:
    return tuple(attempt for attempt in attempts if attempt is not best)
