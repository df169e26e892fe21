"""Fits the calibration of confidence on rows of a benchmark run over the dev half of a question set.

An answer is *right* if all its key facts are in it, nothing forbidden is, and it was right to answer. Refusals are left
out: they show no confidence. Knows nothing of how the answers were made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lqr.errors import ReadError
from lqr.grounding.calibration import FEATURES, Calibration, expected_calibration_error, features_of, risk_coverage_area

SEED = 13
FEWEST = 40


def is_right(row: Mapping[str, Any]) -> bool:
    """Whether the answer of a row holds all that was asked and nothing that must not be said."""
    return row["expect"] != "refuse" and all(row["facts"]) and not row["forbidden"]


def table(rows: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, float]], list[bool]]:
    """Features and outcomes of the answered rows."""
    used = [row for row in rows if not row["refused"] and row.get("gate")]
    features = [features_of(_gate(row), row["gate"], len(row["cited"]), row["route"] == "complex") for row in used]
    return features, [is_right(row) for row in used]


def _gate(row: Mapping[str, Any]) -> float:
    """The gate's own probability; rows of older runs hold it only where the confidence stands now."""
    return float(row["gate"].get("probability", row["gate_probability"]))


def fit(rows: Sequence[Mapping[str, Any]], out: Path) -> dict[str, float]:
    """Fit on ``rows``, write ``out/confidence.json``; returns cross-validated figures.

    Raises:
        ReadError: fewer than 40 answered rows, or all of one outcome.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    features, right = table(rows)
    if len(right) < FEWEST or len(set(right)) < 2:
        raise ReadError(
            f"{len(right)} answered rows with {sum(right)} right ones; at least {FEWEST}, of both outcomes, are needed"
        )
    x = np.array([[values[name] for name in FEATURES] for values in features])
    model = LogisticRegression(C=0.1, max_iter=2000)  # a hundred rows and eight features: held close to the mean
    split = StratifiedKFold(5, shuffle=True, random_state=SEED)
    held = cross_val_predict(model, x, np.array(right), cv=split, method="predict_proba")[:, 1].tolist()
    model.fit(x, np.array(right))
    weights = {"bias": round(float(model.intercept_[0]), 4)}
    weights |= {name: round(float(value), 4) for name, value in zip(FEATURES, model.coef_[0], strict=True)}
    figures = {"n": float(len(right)), **figures_of(held, right)}
    out.mkdir(parents=True, exist_ok=True)
    record = {"weights": weights, "seed": SEED, "cross_validation": figures}
    (out / "confidence.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return figures


def measure(rows: Sequence[Mapping[str, Any]], calibration: Calibration) -> dict[str, float]:
    """Figures of ``calibration`` on rows that it was not fitted on, beside the gate's own probability."""
    features, right = table(rows)
    raw = [_gate(row) for row in rows if not row["refused"] and row.get("gate")]
    calibrated = figures_of([calibration.probability(values) for values in features], right)
    return {"n": float(len(right)), **calibrated, **{f"gate_{name}": value for name, value in figures_of(raw, right).items()}}


def figures_of(probabilities: Sequence[float], right: Sequence[bool]) -> dict[str, float]:
    """Calibration error, area under the risk-coverage curve, the same in random order, share of right answers."""
    return {
        "ece": round(expected_calibration_error(probabilities, right), 4),
        "risk_coverage_area": round(risk_coverage_area(probabilities, right), 4),
        "risk_coverage_area_random": round(1 - sum(right) / len(right), 4),
        "right": round(sum(right) / len(right), 4),
    }
