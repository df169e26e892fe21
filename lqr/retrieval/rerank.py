"""Orders a pool: the pair encoder's logit, the cosine, the BM25 score and the nearest asked question of each passage.

The weights are fitted on questions kept apart for it; without them the pair encoder decides alone. The encoder is slow, the
other signals are not: it reads only the passages that these put first. It does not decide what is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lqr.blend import Blend, blended, logit
from lqr.types import Hit, Scorer

# (query, ids) -> cosines, BM25 scores, cosines of the nearest asked question; None for a passage of a collection without any
Signals = Callable[[str, Sequence[str]], tuple[list[float], list[float], list[float | None]]]

# Passages of a pool that the encoder reads. On 52 pools of 16 and 28 (dev half of the agricultural questions) the first place
# is the same as with all read, and 98 % of the first three; at 10 it is 98 and 95 %.
READ = 14
UNREAD = 0.0  # what an unread passage counts as having got from the encoder


@dataclass(frozen=True)
class Reranker:
    """Scores the passages of a pool for one or more questions."""

    scorer: Scorer
    signals: Signals
    blend: Blend
    read: int = READ

    def scores(self, questions: Sequence[str], hits: Sequence[Hit]) -> list[list[float]]:
        """For each question, the probability that each hit helps; shape ``(len(questions), len(hits))``.

        Where the signals besides the encoder say the same of two, the one earlier in ``hits`` is read first.
        """
        seen = [self.features(question, hits, [UNREAD] * len(hits)) for question in questions]
        chosen = [sorted(range(len(hits)), key=lambda i, row=row: -self._blended(row[i]))[: self.read] for row in seen]  # type: ignore[misc]
        wanted = [(number, i) for number, places in enumerate(chosen) for i in places]
        texts = [(hit.passage.topic, hit.passage.text) for hit in hits]
        for (number, i), probability in zip(wanted, self.scorer([(questions[n], texts[i]) for n, i in wanted]), strict=True):
            seen[number][i]["encoder"] = logit(probability)
        return [[self._blended(features) for features in row] for row in seen]

    def _blended(self, features: Mapping[str, float]) -> float:
        return blended(self.blend.of_passage(features), features)

    def features(self, question: str, hits: Sequence[Hit], encoder: Sequence[float]) -> list[dict[str, float]]:
        """What the logistic sees of each hit. ``lexical`` is the BM25 score over the best of the pool.

        ``asked`` is left out where the hit's collection has no asked questions: then it says nothing, neither for nor against.
        """
        cosines, lexical, asked = self.signals(question, [hit.passage.id for hit in hits])
        top = max(lexical, default=0.0) or 1.0
        rows = []
        for i, hit in enumerate(hits):
            row = {
                "encoder": logit(encoder[i]),
                "cosine": cosines[i],
                "lexical": lexical[i] / top,
                "row": float(hit.passage.kind == "table_row"),
            }
            near = asked[i]
            rows.append(row if near is None else {**row, "asked": near})
        return rows
