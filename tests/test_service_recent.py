"""The means over the last answers, against a slow computation; and nothing of a single answer before there are enough."""

from __future__ import annotations

import dataclasses
import random
import threading

import pytest

from lqr.service.recent import EVERY, KEPT, WINDOW, Recent
from lqr.types import Answer, Confidence, Evaluation, Trace


def answer(groundedness: float | None, relevance: float = 0.5, level: str = "rich", *, refused: bool = False) -> Answer:
    figures = None if groundedness is None else Evaluation(groundedness, relevance, quoted=2, partial=1)
    return Answer("a secret", (), (), refused, Confidence(level, "why"), Trace("a secret?"), evaluation=figures)  # type: ignore[arg-type]


def test_a_point_after_every_five_and_none_before() -> None:
    recent = Recent()
    for number in range(1, 3 * EVERY):
        recent.add(answer(1.0))
        assert len(recent.points) == number // EVERY
    assert recent.total == 3 * EVERY - 1


def test_means_are_those_of_the_last_window() -> None:
    rng = random.Random(13)
    recent, given = Recent(), []
    for _ in range(2 * WINDOW + 3):
        refused = rng.random() < 0.3
        given.append(
            answer(None, level="none", refused=True)
            if refused
            else answer(rng.random(), rng.random(), rng.choice(["rich", "thin"]))
        )
        recent.add(given[-1])
    point = recent.points[-1]
    last = given[point.total - WINDOW : point.total]
    figures = [(a.evaluation, a.confidence.level) for a in last if a.evaluation]
    assert point.questions == WINDOW
    assert point.refused == pytest.approx(sum(a.refused for a in last) / WINDOW)
    assert point.groundedness == pytest.approx(sum(e.groundedness for e, _ in figures) / len(figures))
    assert point.relevance == pytest.approx(sum(e.relevance for e, _ in figures) / len(figures))
    assert point.rich == pytest.approx(sum(level == "rich" for _, level in figures) / len(figures))
    assert (point.quoted, point.supported, point.partial) == (2 * len(figures), 0, len(figures))


def test_refusals_count_as_refusals_only_and_fixed_replies_as_nothing() -> None:
    recent = Recent()
    for _ in range(EVERY):
        recent.add(answer(None, level="none"))  # a greeting returned
        recent.add(answer(None, level="none", refused=True))
    assert recent.total == EVERY
    (point,) = recent.points
    assert (point.refused, point.groundedness, point.relevance, point.rich) == (1.0, None, None, None)


def test_only_the_last_points_are_kept_and_no_text() -> None:
    recent = Recent()
    for _ in range(EVERY * (KEPT + 3)):
        recent.add(answer(1.0))
    assert len(recent.points) == KEPT
    assert recent.points[-1].total == EVERY * (KEPT + 3)
    assert all(isinstance(value, int | float) for point in recent.points for value in dataclasses.astuple(point))
    assert "secret" not in repr(vars(recent))


def test_answers_of_several_threads_are_all_counted() -> None:
    recent = Recent()
    threads = [threading.Thread(target=lambda: [recent.add(answer(1.0)) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert recent.total == 200
    assert [point.total for point in recent.points] == [EVERY * n for n in range(1, 200 // EVERY + 1)]
