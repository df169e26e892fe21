"""Fits the refusal gate: a logistic regression over the gate's features, on rows of a benchmark run.

The rows are those of the dev half of a question set; ``expect`` says whether an answer was right to give. Fits
nothing else; where the line is drawn is a setting (``refusal_threshold``).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lqr.errors import ReadError
from lqr.grounding.refusal import FEATURES
from lqr.training.cross_encoder import calibration_error

SEED = 13


def fit(rows: Sequence[dict[str, Any]], out: Path, *, folds: int = 5, refused: float = 0.06) -> dict[str, float]:
    """Fit on ``rows`` (``gate`` features, ``expect``), write ``out/gate.json``; returns cross-validated figures.

    The bias is moved so that the share ``refused`` of the answerable questions falls below one half: which mistake is the
    worse one is a decision, not a fact of the data.

    Raises:
        ReadError: fewer than ten rows of either kind have features.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    used = [row for row in rows if row.get("gate")]
    x = np.array([[row["gate"].get(name, 0.0) for name in FEATURES] for row in used])
    y = np.array([row["expect"] != "refuse" for row in used], dtype=int)
    if min(y.sum(), len(y) - y.sum()) < 10:
        raise ReadError(f"{int(len(y) - y.sum())} rows to refuse and {int(y.sum())} to answer; at least ten of each are needed")
    model = LogisticRegression(C=1.0, class_weight="balanced", random_state=SEED, max_iter=1000)
    split = StratifiedKFold(folds, shuffle=True, random_state=SEED)
    held = cross_val_predict(model, x, y, cv=split, method="predict_proba")[:, 1]
    logits = np.log(held / (1 - held))
    shift = float(np.quantile(logits[y == 1], refused))
    figures = {
        "n": len(y),
        "refuse": int(len(y) - y.sum()),
        "answered_that_must_be_refused": round(float((logits[y == 0] >= shift).mean()), 4),
        "refused_that_can_be_answered": round(float((logits[y == 1] < shift).mean()), 4),
        "auc": round(float((logits[y == 1][:, None] > logits[y == 0][None, :]).mean()), 4),
        "ece_before_shift": calibration_error(logits, y),
    }
    model.fit(x, y)
    weights = {"bias": round(float(model.intercept_[0]) - shift, 4)}
    weights |= {name: round(float(value), 4) for name, value in zip(FEATURES, model.coef_[0], strict=True)}
    out.mkdir(parents=True, exist_ok=True)
    record = {"weights": weights, "seed": SEED, "cross_validation": figures}
    (out / "gate.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return figures
