"""The second round of ranking: what a candidate's neighbours turned out to be worth.

In the first round a passage borrows from lenders that are only as good as their words. Once the ranker has scored all candidates
they lend again, now by those scores, and what the best ones leave unsaid of the question counts for who says it (stacking in the
manner of Wolpert 1992, over a graph). It reads no text and runs no model.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lqr.retrieval.bm25 import DoubleArray, FloatArray
from lqr.retrieval.graph import NAMED_BY, NAMES, SHARES, PassageGraph
from lqr.retrieval.paths import Candidates

LEADERS = 3  # best candidates whose edges, and whose silence, are looked at one by one
_KINDS = {NAMES: "names", NAMED_BY: "named_by", SHARES: "shares"}

FEATURES = (
    *("score", "rank", "behind_first", "behind_fifth"),
    *("lent_names", "lent_named_by", "lent_shares", "adds_names", "adds_named_by", "adds_shares", "sum_lent", "gives"),
    *(f"{what}_{place}" for place in range(LEADERS) for what in ("edge", "new")),
    "new_to_all",
)


def features(graph: PassageGraph, found: Candidates, scores: DoubleArray) -> FloatArray:
    """What the second round sees of each candidate, shape ``(c, len(FEATURES))``.

    Args:
        scores: log-odds of the first round, shape ``(c,)``.
    """
    count, held = len(found.rows), found.held
    if not count:
        return np.zeros((0, len(FEATURES)), dtype=np.float32)
    order = np.argsort(-scores, kind="stable")
    probability = 1 / (1 + np.exp(-scores))
    source, target, weight, kind = _inner_edges(graph, found.rows)
    adds = np.where(held[:, source] > 0, 0.0, held[:, target]).sum(axis=0)
    lent = probability[source] * weight

    def highest(values: DoubleArray, at: npt.NDArray[np.int64], chosen: npt.NDArray[np.bool_]) -> DoubleArray:
        most = np.zeros(count)
        np.maximum.at(most, at[chosen], values[chosen])
        return most

    everyone = np.ones(len(source), dtype=bool)
    columns = {
        "score": scores,
        "rank": np.log1p(np.argsort(order, kind="stable")),
        "behind_first": scores - scores[order[0]],
        "behind_fifth": scores - scores[order[min(4, count - 1)]],
        "sum_lent": np.bincount(target, weights=lent, minlength=count) * 1.0,
        "gives": highest(probability[target] * weight, source, everyone),
    }
    for number, name in _KINDS.items():
        columns[f"lent_{name}"] = highest(lent, target, kind == number)
        columns[f"adds_{name}"] = highest(lent * adds, target, kind == number)
    unsaid = np.ones(len(held))
    for place in range(LEADERS):
        leader = int(order[min(place, count - 1)])
        columns[f"edge_{place}"] = highest(weight, target, source == leader)
        columns[f"new_{place}"] = np.where(held[:, [leader]] > 0, 0.0, held).sum(axis=0)
        unsaid = np.where(held[:, leader] > 0, 0.0, unsaid)
    columns["new_to_all"] = (held * unsaid[:, None]).sum(axis=0)
    return np.stack([columns[name] for name in FEATURES], axis=1).astype(np.float32)


def _inner_edges(
    graph: PassageGraph, rows: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], DoubleArray, npt.NDArray[np.int8]]:
    """Edges that begin and end among ``rows``: positions of both ends in ``rows``, weight and kind."""
    sources, positions = graph.leaving(rows)
    targets = graph.weights.indices[positions]
    at = np.minimum(np.searchsorted(rows, targets), len(rows) - 1)
    inside = rows[at] == targets
    kept = positions[inside]
    return np.searchsorted(rows, sources[inside]), at[inside], graph.weights.data[kept].astype(np.float64), graph.kinds[kept]
