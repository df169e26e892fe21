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
from lqr.grounding.confidence import RICH

SEED = 13
LEVELS = ("rich", "thin")
FEWEST = 40


def is_right(row: Mapping[str, Any]) -> bool:
    """Whether the answer of a row holds all that was asked and nothing that must not be said."""
    return row["expect"] != "refuse" and all(row["facts"]) and not row["forbidden"]


def answered(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows whose question was judged by the gate and answered: no refusals, no fixed replies."""
    return [row for row in rows if not row["refused"] and row.get("gate")]


def table(rows: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, float]], list[bool]]:
    """Features and outcomes of the answered rows.

    Raises:
        ReadError: the rows are of a run that did not evaluate its answers.
    """
    used = answered(rows)
    if not all(row.get("evaluation") and "probability" in row["gate"] for row in used):
        raise ReadError("the rows hold no evaluation of their answers; run `python -m benchmarks.agriculture` again")
    features = [
        features_of(
            row["gate"]["probability"],
            row["gate"],
            len(row["cited"]),
            bool(row["sub_questions"]),
            row["evaluation"]["relevance"],
        )
        for row in used
    ]
    return features, [is_right(row) for row in used]


def fit(rows: Sequence[Mapping[str, Any]], out: Path) -> dict[str, float]:
    """Fit on ``rows`` and return cross-validated figures; write ``out/confidence.json`` if they beat the gate's own probability.

    Better means a smaller Brier score, which falls both with honest probabilities and with a better order. The turns of a
    dialogue stay in one fold: they share a subject, and often the passage that is right or wrong.

    Raises:
        ReadError: fewer than 40 answered rows, or all of one outcome, or of a run without evaluations.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict

    features, right = table(rows)
    if len(right) < FEWEST or len(set(right)) < 2:
        raise ReadError(
            f"{len(right)} answered rows with {sum(right)} right ones; at least {FEWEST}, of both outcomes, are needed"
        )
    used = answered(rows)
    x, y = np.array([[values[name] for name in FEATURES] for values in features]), np.array(right)
    model = LogisticRegression(C=0.1, max_iter=2000)  # a hundred rows and nine features: held close to the mean
    split = StratifiedGroupKFold(5, shuffle=True, random_state=SEED)
    dialogues = [row["id"].rsplit("-", 1)[0] for row in used]
    held = cross_val_predict(model, x, y, groups=dialogues, cv=split, method="predict_proba")[:, 1].tolist()
    figures = {"n": float(len(right)), **figures_of(held, right), **levels_of(held, right), **_of_gate(used, right)}
    if figures["brier"] < figures["gate_brier"]:
        model.fit(x, y)
        weights = {"bias": round(float(model.intercept_[0]), 4)}
        weights |= {name: round(float(value), 4) for name, value in zip(FEATURES, model.coef_[0], strict=True)}
        out.mkdir(parents=True, exist_ok=True)
        record = {"weights": weights, "seed": SEED, "cross_validation": figures}
        (out / "confidence.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return figures


def measure(rows: Sequence[Mapping[str, Any]], calibration: Calibration) -> dict[str, float]:
    """Figures of ``calibration`` on rows that it was not fitted on, beside the gate's own probability.

    ``shown_`` is what the answers were really shown as, whatever else (a doubtful sentence, passages that differ) made them thin.
    """
    features, right = table(rows)
    used = answered(rows)
    shown = {level: [ok for row, ok in zip(used, right, strict=True) if row["confidence"]["level"] == level] for level in LEVELS}
    calibrated = [calibration.probability(values) for values in features]
    return {
        "n": float(len(right)),
        **figures_of(calibrated, right),
        **levels_of(calibrated, right),
        **{f"shown_{level}": float(len(found)) for level, found in shown.items()},
        **{f"shown_{level}_right": round(sum(found) / len(found), 4) for level, found in shown.items() if found},
        **_of_gate(used, right),
    }


def _of_gate(used: Sequence[Mapping[str, Any]], right: Sequence[bool]) -> dict[str, float]:
    raw = [float(row["gate"]["probability"]) for row in used]
    return {f"gate_{name}": value for name, value in figures_of(raw, right).items() if name != "right"}


def figures_of(probabilities: Sequence[float], right: Sequence[bool]) -> dict[str, float]:
    """Calibration error, Brier score, area under the risk-coverage curve, the same in random order, share of right answers."""
    return {
        "ece": round(expected_calibration_error(probabilities, right), 4),
        "brier": round(sum((p - ok) ** 2 for p, ok in zip(probabilities, right, strict=True)) / len(right), 4),
        "risk_coverage_area": round(risk_coverage_area(probabilities, right), 4),
        "risk_coverage_area_random": round(1 - sum(right) / len(right), 4),
        "right": round(sum(right) / len(right), 4),
    }


def levels_of(probabilities: Sequence[float], right: Sequence[bool]) -> dict[str, float]:
    """How many answers are rich and thin by probability alone, and what share of each is right."""
    levels = {
        "rich": [ok for p, ok in zip(probabilities, right, strict=True) if p >= RICH],
        "thin": [ok for p, ok in zip(probabilities, right, strict=True) if p < RICH],
    }
    counts = {level: float(len(found)) for level, found in levels.items()}
    return counts | {f"{level}_right": round(sum(found) / len(found), 4) for level, found in levels.items() if found}
