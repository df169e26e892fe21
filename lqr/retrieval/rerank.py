"""Orders a pool: the pair encoder's logit, the cosine and the BM25 score of each passage in one logistic.

A cross-encoder of 22M parameters reads better than it remembers names; BM25 is the other way round. Their blend ranks
better than either (models/README.md). The weights are fitted on questions kept apart for it; without them the pair
encoder decides alone. It does not decide what is dropped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lqr.errors import WeightsError
from lqr.types import Hit

PASSAGE_FEATURES = ("encoder", "cosine", "lexical", "row")
UNIT_FEATURES = ("encoder", "cosine", "passage", "row", "item")
Scorer = Callable[[Sequence[tuple[str, tuple[str, str]]]], list[float]]
Signals = Callable[[str, Sequence[str]], tuple[list[float], list[float]]]  # (query, ids) -> cosines, BM25 scores


@dataclass(frozen=True, slots=True)
class Blend:
    """Weights in log-odds for passages and for the units of the writer; ``bias`` among them."""

    passage: Mapping[str, float] = field(default_factory=lambda: {"encoder": 1.0})
    unit: Mapping[str, float] = field(default_factory=lambda: {"encoder": 1.0})

    @classmethod
    def load(cls, folder: Path) -> Blend:
        """The weights in ``folder/blend.json``, or those that leave the encoder alone.

        Raises:
            WeightsError: the file is malformed or names unknown features.
        """
        path = folder / "blend.json"
        if not path.is_file():
            return cls()
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            passage = {str(k): float(v) for k, v in raw["passage"].items()}
            unit = {str(k): float(v) for k, v in raw["unit"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            again = "fit it again with `python -m benchmarks.fit blend`"
            raise WeightsError(f"models/{folder.name}/blend.json: {error!r}; {again}") from error
        unknown = (set(passage) - {*PASSAGE_FEATURES, "bias"}) | (set(unit) - {*UNIT_FEATURES, "bias"})
        if unknown or not all(map(math.isfinite, [*passage.values(), *unit.values()])):
            raise WeightsError(f"models/{folder.name}/blend.json: unknown or endless weights ({', '.join(sorted(unknown))})")
        return cls(passage, unit)


@dataclass(frozen=True)
class Reranker:
    """Scores the passages of a pool for one or more questions."""

    scorer: Scorer
    signals: Signals
    blend: Blend

    def scores(self, questions: Sequence[str], hits: Sequence[Hit]) -> list[list[float]]:
        """For each question, the probability that each hit helps; shape ``(len(questions), len(hits))``."""
        texts = [(hit.passage.heading.replace(" > ", ". "), hit.passage.text) for hit in hits]
        flat = self.scorer([(question, text) for question in questions for text in texts])
        rows = []
        for number, question in enumerate(questions):
            encoder = flat[number * len(texts) : (number + 1) * len(texts)]
            rows.append([blended(self.blend.passage, features) for features in self.features(question, hits, encoder)])
        return rows

    def features(self, question: str, hits: Sequence[Hit], encoder: Sequence[float]) -> list[dict[str, float]]:
        """What the logistic sees of each hit. ``lexical`` is the BM25 score over the best of the pool."""
        cosines, lexical = self.signals(question, [hit.passage.id for hit in hits])
        top = max(lexical, default=0.0) or 1.0
        return [
            {
                "encoder": logit(encoder[i]),
                "cosine": cosines[i],
                "lexical": lexical[i] / top,
                "row": float(hit.passage.kind == "table_row"),
            }
            for i, hit in enumerate(hits)
        ]


def blended(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    """The logistic: a probability."""
    total = weights.get("bias", 0.0) + sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def logit(probability: float) -> float:
    """Log-odds, kept within those of 0.0001 and 0.9999."""
    clipped = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(clipped / (1 - clipped))
