"""Reciprocal rank fusion: several rankings into one, by ranks alone.

Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods",
SIGIR 2009: an item scores the sum of ``weight / (k + rank)`` over the rankings that hold it. Scores of different
retrievers are not comparable, ranks are.
"""

from __future__ import annotations

from collections.abc import Sequence


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[str]], *, k: int = 60, weights: Sequence[float] | None = None
) -> list[tuple[str, float]]:
    """Fuse rankings of ids, best first, into ``(id, score)``, best first; equal scores are ordered by id.

    Args:
        rankings: one list of ids each; of an id named twice in a list the first place counts.
        k: damps the lead of the first places; 60 in the paper.
        weights: one for each ranking, 1 by default.

    Raises:
        ValueError: ``weights`` and ``rankings`` differ in number.
    """
    if weights is None:
        weights = [1.0] * len(rankings)
    scores: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
