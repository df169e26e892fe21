"""From what the gate and the writer found to the probability that an answer is right; and how good such a probability is.

One logistic whose weights come from ``models/gate/confidence.json``, fitted on the dev half of a question set
(:mod:`lqr.training.confidence`). The gate's own probability says whether an answer should be given, with a bias moved
on purpose; this one says how often such answers hold all that was asked. It reads no text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lqr import manifest
from lqr.errors import WeightsError

FEATURES = ("gate", "evidence", "relevance", "coverage", "weakest_part", "said", "passages", "complex", "answer")


@dataclass(frozen=True, slots=True)
class Calibration:
    """Weights in log-odds for :data:`FEATURES`, and ``bias``."""

    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability, in (0, 1), that the answer is right."""
        total = self.weights["bias"] + sum(self.weights.get(name, 0.0) * features.get(name, 0.0) for name in FEATURES)
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))

    @classmethod
    def load(cls, folder: Path) -> Calibration | None:
        """The weights in ``folder/confidence.json``; None where none are installed.

        Raises:
            WeightsError: the file is not a map of the known features with a bias, or not what the manifest says.
        """
        manifest.verify(folder)
        path = folder / "confidence.json"
        if not path.is_file():
            return None
        again = "fit it again with `python -m benchmarks.confidence fit DEV.json`"
        try:
            weights = {str(k): float(v) for k, v in json.loads(path.read_text(encoding="utf-8"))["weights"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise WeightsError(f"models/{folder.name}/confidence.json: {error!r}; {again}") from error
        if set(weights) - {*FEATURES, "bias"} or "bias" not in weights or not all(map(math.isfinite, weights.values())):
            raise WeightsError(f"models/{folder.name}/confidence.json: unknown or endless weights, or no bias; {again}")
        return cls(weights)


def features_of(
    gate_probability: float, gate: Mapping[str, float], passages: int, complex_question: bool, answer: float
) -> dict[str, float]:
    """:data:`FEATURES` of an answer that cites ``passages`` passages: in [0, 1], but ``gate`` and ``answer`` in log-odds.

    Args:
        gate: what the gate weighed.
        complex_question: whether it was looked up in two parts.
        answer: relevance of the answer to the question (:class:`lqr.types.Evaluation`).
    """
    named = {name: gate.get(name, 0.0) for name in ("evidence", "relevance", "coverage", "weakest_part", "said")}
    return {
        **named,
        "gate": _log_odds(gate_probability),
        "passages": min(passages, 3) / 3,
        "complex": float(complex_question),
        "answer": _log_odds(answer),
    }


def _log_odds(probability: float) -> float:
    clipped = min(max(probability, 1e-3), 1 - 1e-3)
    return math.log(clipped / (1 - clipped))


def expected_calibration_error(probabilities: Sequence[float], right: Sequence[bool], bins: int = 10) -> float:
    """Mean distance of probability and share of right answers over ``bins`` equal bins, weighed by size (Guo et al. 2017)."""
    error = 0.0
    for b in range(bins):
        inside = [i for i, p in enumerate(probabilities) if min(int(p * bins), bins - 1) == b]
        if inside:
            error += abs(sum(probabilities[i] - right[i] for i in inside)) / len(probabilities)
    return error


def risk_coverage_area(probabilities: Sequence[float], right: Sequence[bool]) -> float:
    """Area under the risk-coverage curve: mean error rate of the surest 1, 2, ... n answers (Geifman and El-Yaniv 2017).

    In a random order it is the error rate of all; equal probabilities share their places.
    """
    order = sorted(range(len(right)), key=lambda i: -probabilities[i])
    area, wrong, at = 0.0, 0.0, 0
    while at < len(order):
        tie = at
        while tie < len(order) and probabilities[order[tie]] == probabilities[order[at]]:
            tie += 1
        share = sum(not right[i] for i in order[at:tie]) / (tie - at)
        for place in range(at, tie):
            wrong += share
            area += wrong / (place + 1)
        at = tie
    return area / len(right) if right else 0.0
