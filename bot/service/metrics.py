"""Numbers for Prometheus, in a registry of their own."""

import math
from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from bot.jobs.types import JobState, JobView

Result = Literal["stored", "duplicate", "ignored", "ping", "refused", "not_stored", "failed"]
OTHER = "other"
"""Stands for every event that no behaviour is for: the header is not signed, so anyone could invent names."""

RECENT_HOURS = 24
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """What this process answered, and how the Jobs of all processes stand."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._deliveries = Counter(
            "issuewright_deliveries", "Deliveries answered.", ("event", "result"), registry=registry
        )
        self._seconds = Histogram(
            "issuewright_delivery_seconds",
            "Time until a delivery was answered.",
            buckets=_BUCKETS,
            registry=registry,
        )
        self._live = Gauge(
            "issuewright_jobs", "Jobs that wait (queued) or work (running).", ("state",), registry=registry
        )
        self._ended = Gauge(
            "issuewright_recent_jobs",
            f"Jobs ordered within the last {RECENT_HOURS} hours that are over, by their end.",
            ("status",),
            registry=registry,
        )
        self._tokens = Gauge("issuewright_recent_tokens", "Tokens that these Jobs spent.", registry=registry)

    def answered(self, event: str, result: Result, seconds: float) -> None:
        """Count an answer."""
        self._deliveries.labels(event, result).inc()
        self._seconds.observe(seconds)

    def show_jobs(self, live: Mapping[JobState, int], recent: Sequence[JobView]) -> None:
        """How the Jobs stand now; the queue's length is the number of queued ones."""
        self.forget_jobs()
        for state, number in live.items():
            self._live.labels(state).set(number)
        ended = [view for view in recent if not view.live]
        for end, number in Tally(_end(view) for view in ended).items():
            self._ended.labels(end).set(number)
        self._tokens.set(sum(view.outcome.spent.tokens for view in ended if view.outcome))

    def forget_jobs(self) -> None:
        """How the Jobs stand is not known."""
        self._live.clear()
        self._ended.clear()
        self._tokens.set(math.nan)

    def page(self) -> bytes:
        """All of it in Prometheus' text format."""
        return generate_latest(self.registry)


def _end(view: JobView) -> str:
    """The outcome's status; of a Job without one, its state."""
    return view.outcome.status if view.outcome else view.state
