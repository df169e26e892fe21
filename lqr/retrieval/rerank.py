"""Orders a pool: the pair encoder's logit, the cosine, the BM25 score and the nearest asked question of each passage.

The weights are fitted on questions kept apart for it; without them the pair encoder decides alone. It does not decide
what is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lqr.blend import Blend, blended, logit
from lqr.types import Hit

Scorer = Callable[[Sequence[tuple[str, tuple[str, str]]]], list[float]]
# (query, ids) -> cosines, BM25 scores, cosines of the nearest asked question
Signals = Callable[[str, Sequence[str]], tuple[list[float], list[float], list[float]]]


@dataclass(frozen=True)
class Reranker:
    """Scores the passages of a pool for one or more questions."""

    scorer: Scorer
    signals: Signals
    blend: Blend

    def scores(self, questions: Sequence[str], hits: Sequence[Hit]) -> list[list[float]]:
        """For each question, the probability that each hit helps; shape ``(len(questions), len(hits))``."""
        texts = [(hit.passage.topic, hit.passage.text) for hit in hits]
        flat = self.scorer([(question, text) for question in questions for text in texts])
        rows = []
        for number, question in enumerate(questions):
            encoder = flat[number * len(texts) : (number + 1) * len(texts)]
            rows.append([blended(self.blend.passage, features) for features in self.features(question, hits, encoder)])
        return rows

    def features(self, question: str, hits: Sequence[Hit], encoder: Sequence[float]) -> list[dict[str, float]]:
        """What the logistic sees of each hit. ``lexical`` is the BM25 score over the best of the pool."""
        cosines, lexical, asked = self.signals(question, [hit.passage.id for hit in hits])
        top = max(lexical, default=0.0) or 1.0
        return [
            {
                "encoder": logit(encoder[i]),
                "cosine": cosines[i],
                "lexical": lexical[i] / top,
                "asked": asked[i],
                "row": float(hit.passage.kind == "table_row"),
            }
            for i, hit in enumerate(hits)
        ]
