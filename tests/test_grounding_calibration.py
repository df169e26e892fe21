"""Calibration error and risk-coverage area against slow definitions; the file of weights is checked."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
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


def row(right: bool, gate: float, answer: float = 0.5, number: int = 0) -> dict[str, Any]:
    return {
        "id": f"item-{number // 2}-{number % 2}", "expect": "answer", "facts": [right], "forbidden": [], "refused": False,
        "cited": ["a"], "sub_questions": [], "gate": {"probability": gate, "evidence": gate}, "evaluation": {"relevance": answer},
        "confidence": {"level": "rich" if answer > 0.5 else "thin"},
    }  # fmt: skip


def rows(number: int, chance: Callable[[float, float], float]) -> list[dict[str, Any]]:
    rng = random.Random(13)
    made = []
    for n in range(number):
        gate, answer = rng.uniform(0.1, 0.95), rng.random()
        made.append(row(rng.random() < chance(gate, answer), gate, answer, n))
    return made


def test_fit_finds_what_tells_right_from_wrong_and_measures_it(tmp_path: Path) -> None:
    made = rows(1000, lambda gate, answer: answer)
    figures = fit(made[:600], tmp_path)
    assert figures["risk_coverage_area"] < figures["gate_risk_coverage_area"]
    assert figures["brier"] < figures["gate_brier"]
    assert figures["rich"] + figures["thin"] == figures["n"] == 600
    assert figures["rich_right"] > figures["right"] > figures["thin_right"]
    calibration = Calibration.load(tmp_path)
    assert calibration is not None
    sure, unsure = (calibration.probability(features_of(0.5, {"evidence": 0.5}, 1, False, answer)) for answer in (0.9, 0.1))
    assert sure > unsure + 0.3
    found = measure(made[600:], calibration)
    assert found["ece"] < 0.12
    shown = [r for r in made[600:] if r["confidence"]["level"] == "rich"]
    assert found["shown_rich"] == len(shown)
    assert found["shown_rich_right"] == pytest.approx(sum(is_right(r) for r in shown) / len(shown), abs=1e-4)


def test_a_fit_that_is_no_better_than_the_gate_is_not_kept(tmp_path: Path) -> None:
    figures = fit(rows(600, lambda gate, answer: gate), tmp_path)
    assert figures["brier"] >= figures["gate_brier"]
    assert Calibration.load(tmp_path) is None


def test_rows_that_cannot_be_fitted_are_named(tmp_path: Path) -> None:
    made = rows(60, lambda gate, answer: answer)
    with pytest.raises(ReadError, match="at least 40"):
        fit(made[:10], tmp_path)
    with pytest.raises(ReadError, match="at least 40"):
        fit([r for r in made if is_right(r)] * 3, tmp_path)
    with pytest.raises(ReadError, match="agriculture"):
        fit([*made, {**made[0], "evaluation": None}], tmp_path)


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
