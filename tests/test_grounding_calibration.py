"""Calibration error and risk-coverage area against slow definitions; the file of weights is checked."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from lqr.errors import ReadError, WeightsError
from lqr.grounding.calibration import (
    Calibration,
    expected_calibration_error,
    features_of,
    risk_coverage_area,
)
from lqr.training.confidence import fit, is_right, measure


def test_area_is_the_mean_over_all_coverages() -> None:
    rng = random.Random(13)
    probabilities = rng.sample([i / 1000 for i in range(1000)], 60)
    right = [rng.random() < p for p in probabilities]
    order = [r for _, r in sorted(zip(probabilities, right, strict=True), reverse=True)]
    slow = sum(order[:k].count(False) / k for k in range(1, 61)) / 60
    assert risk_coverage_area(probabilities, right) == pytest.approx(slow)
    assert risk_coverage_area([0.5] * 60, right) == pytest.approx(right.count(False) / 60)  # no order at all


def test_calibration_error() -> None:
    assert expected_calibration_error([0.75] * 4, [True, True, True, False]) == pytest.approx(0)
    assert expected_calibration_error([0.95, 0.95, 0.15, 0.15], [True, False, False, False]) == pytest.approx(
        0.5 * 0.45 + 0.5 * 0.15
    )
    assert expected_calibration_error([1.0], [True]) == 0


def row(right: bool, gate: float) -> dict[str, Any]:
    return {
        "expect": "answer", "facts": [right], "forbidden": [], "refused": False, "gate_probability": 0.5, "cited": ["a"],
        "route": "simple", "gate": {"probability": gate, "evidence": gate},
    }  # fmt: skip


def test_fit_finds_what_tells_right_from_wrong_and_measures_it(tmp_path: Path) -> None:
    rng = random.Random(13)
    rows = [row(rng.random() < gate, gate) for gate in (rng.uniform(0.1, 0.95) for _ in range(1000))]
    figures = fit(rows[:600], tmp_path)
    assert figures["risk_coverage_area"] < figures["risk_coverage_area_random"]
    calibration = Calibration.load(tmp_path)
    assert calibration is not None
    assert calibration.probability(features_of(0.9, {"evidence": 0.9}, 1, False)) > calibration.probability(
        features_of(0.2, {"evidence": 0.2}, 1, False)
    )
    assert measure(rows[600:], calibration)["ece"] < 0.12
    with pytest.raises(ReadError, match="at least 40"):
        fit(rows[:10], tmp_path)


def test_right_means_all_facts_and_nothing_forbidden() -> None:
    assert is_right(row(True, 0.5))
    assert not is_right({**row(True, 0.5), "forbidden": ["yes"]})
    assert not is_right({**row(True, 0.5), "facts": [True, False]})
    assert not is_right({**row(True, 0.5), "expect": "refuse"})


@pytest.mark.parametrize(
    "content", ["[]", "{", json.dumps({"weights": {"gate": 1}}), json.dumps({"weights": {"bias": 0, "mood": 1}})]
)
def test_a_damaged_file_is_named(tmp_path: Path, content: str) -> None:
    assert Calibration.load(tmp_path) is None
    (tmp_path / "confidence.json").write_text(content)
    with pytest.raises(WeightsError, match=r"confidence\.json"):
        Calibration.load(tmp_path)
