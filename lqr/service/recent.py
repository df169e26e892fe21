"""How the answers of this process measure up over time: means of the last few, never one answer by itself.

Holds numbers only, in memory, since the start: no question, no answer, no address, no time of day. A new point is made
after every :data:`EVERY` questions, so that even numbers can't be taken apart into those of one visitor's answer.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from lqr.types import Answer, ConfidenceLevel, Evaluation

WINDOW = 20  # questions that a point is the mean of
EVERY = 5  # questions from one point to the next
KEPT = 60  # points: the last 300 questions


@dataclass(frozen=True, slots=True)
class Point:
    """Means over the last ``questions`` (at most :data:`WINDOW`) of the ``total`` questions so far.

    Groundedness, relevance and ``rich`` (share of the answers that are well covered) are of the answered ones, None where
    all were refused: a refusal claims nothing, and would pull a mean down for being careful. The counts are of claims.
    """

    total: int
    questions: int
    refused: float
    groundedness: float | None
    relevance: float | None
    rich: float | None
    quoted: int
    supported: int
    partial: int
    unsupported: int


class Recent:
    """Collects the figures of answers. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._window: deque[tuple[Evaluation | None, ConfidenceLevel]] = deque(maxlen=WINDOW)
        self._points: deque[Point] = deque(maxlen=KEPT)
        self._total = 0

    def add(self, answer: Answer) -> None:
        """Count ``answer`` if it answers or refuses a question; greetings and other fixed replies are left out."""
        if answer.evaluation is None and not answer.refused:
            return
        with self._lock:
            self._total += 1
            self._window.append((answer.evaluation, answer.confidence.level))
            if self._total % EVERY == 0:
                self._points.append(_point(self._total, tuple(self._window)))

    @property
    def total(self) -> int:
        """Questions answered or refused so far."""
        with self._lock:
            return self._total

    @property
    def points(self) -> tuple[Point, ...]:
        """All points, oldest first; none before :data:`EVERY` questions."""
        with self._lock:
            return tuple(self._points)


def _point(total: int, window: Sequence[tuple[Evaluation | None, ConfidenceLevel]]) -> Point:
    answered = [(figures, level) for figures, level in window if figures is not None]
    figures = [figures for figures, _ in answered]
    return Point(
        total=total,
        questions=len(window),
        refused=1 - len(answered) / len(window),
        groundedness=_mean([f.groundedness for f in figures]),
        relevance=_mean([f.relevance for f in figures]),
        rich=_mean([float(level == "rich") for _, level in answered]),
        quoted=sum(f.quoted for f in figures),
        supported=sum(f.supported for f in figures),
        partial=sum(f.partial for f in figures),
        unsupported=sum(f.unsupported for f in figures),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
