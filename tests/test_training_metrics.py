"""Figures against scikit-learn and against looking at every threshold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from lqr.training.metrics import best_threshold, expected_calibration_error, summary

scored = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 20).map(lambda n: n / 20)), min_size=1, max_size=30)


@settings(deadline=None, max_examples=40)  # scikit-learn is slow at its first call
@given(scored)
def test_same_as_scikit_learn(rows: list[tuple[int, float]]) -> None:
    labels, probabilities = [y for y, _ in rows], [p for _, p in rows]
    said = [int(p >= 0.5) for p in probabilities]
    found = summary(labels, probabilities)
    assert found["accuracy"] == pytest.approx(accuracy_score(labels, said), abs=1e-4)
    assert found["precision"] == pytest.approx(precision_score(labels, said, zero_division=0), abs=1e-4)
    assert found["recall"] == pytest.approx(recall_score(labels, said, zero_division=0), abs=1e-4)
    assert found["f1"] == pytest.approx(f1_score(labels, said, zero_division=0), abs=1e-4)
    both = f1_score(labels, said, average="macro", labels=[0, 1], zero_division=0)
    assert found["macro_f1"] == pytest.approx(both, abs=1e-4)


@settings(deadline=None)
@given(scored)
def test_no_other_threshold_is_better(rows: list[tuple[int, float]]) -> None:
    labels, probabilities = [y for y, _ in rows], [p for _, p in rows]

    def right(threshold: float) -> int:
        return sum((p >= threshold) == bool(y) for y, p in rows)

    best = best_threshold(labels, probabilities)
    assert right(best) == max(right(t / 40) for t in range(41))


def test_ties_go_to_the_middle() -> None:
    assert best_threshold([0, 1], [0.2, 0.7]) == pytest.approx(0.45)


def test_calibration_by_hand() -> None:
    # bin 0.0-0.1: mean 0.05, share 0; bin 0.9-1.0: mean 0.95, share 0.5
    assert expected_calibration_error([0, 0, 1, 0], [0.05, 0.05, 0.95, 0.95]) == pytest.approx(0.5 * 0.05 + 0.5 * 0.45)


def test_certain_and_right_is_calibrated() -> None:
    assert expected_calibration_error([0, 1], [0.0, 1.0]) == 0


def test_nothing_to_measure() -> None:
    with pytest.raises(ValueError, match="no rows"):
        summary([], [])
    with pytest.raises(ValueError, match=r"shorter|longer"):
        summary([1], [0.1, 0.2])
