"""Counts and times of answers in Prometheus' text format, for ``/metrics``.

A registry of its own for each application, nothing global. No label ever holds a question, a name or an address: the
values of every label come from the short lists here and from the pipeline's stages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

Outcome = Literal["answered", "refused", "replied", "stopped", "timeout", "failed"]
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)  # seconds
_STAGE_BUCKETS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60)


class Metrics:
    """What is counted. Safe to use from several threads."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=registry)  # resident memory, open files, CPU seconds (Linux)
        self._answers = Counter("lqr_answers", "Questions by what became of them", ["outcome"], registry=registry)
        self._seconds = Histogram(
            "lqr_answer_seconds", "From the start of the work to its end", registry=registry, buckets=_BUCKETS
        )
        self._stages = Histogram("lqr_stage_seconds", "Time in each stage", ["stage"], registry=registry, buckets=_STAGE_BUCKETS)
        self._refused = Counter("lqr_requests_refused", "Requests turned away at the door", ["reason"], registry=registry)
        for outcome in ("answered", "refused", "replied", "stopped", "timeout", "failed"):
            self._answers.labels(outcome)  # a rate over a series that is not there yet is no zero
        for reason in ("rate", "size", "closing"):
            self._refused.labels(reason)

    def gauge(self, name: str, description: str, read: Callable[[], float]) -> None:
        """Show ``read()`` as ``lqr_<name>`` whenever the page is asked for."""
        Gauge(f"lqr_{name}", description, registry=self.registry).set_function(read)

    def answered(self, outcome: Outcome, seconds: float, stages: Mapping[str, float]) -> None:
        """Count one question; ``stages`` as in :attr:`lqr.types.Trace.seconds`."""
        self._answers.labels(outcome).inc()
        self._seconds.observe(seconds)
        for stage, spent in stages.items():
            if stage != "total":
                self._stages.labels(stage).observe(spent)

    def turned_away(self, reason: Literal["rate", "size", "closing"]) -> None:
        """Count one request that was not let in."""
        self._refused.labels(reason).inc()

    def text(self) -> bytes:
        """The page of metrics."""
        return generate_latest(self.registry)
