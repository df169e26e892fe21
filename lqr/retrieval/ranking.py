"""The orders in which a snapshot's passages can stand for a query: by scores, along the graph, along paths.

Pure functions of one immutable snapshot. They know no store, do not embed, and do not decide what is relevant.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from lqr.errors import RetrievalError
from lqr.retrieval.bm25 import FloatArray, best
from lqr.retrieval.fusion import reciprocal_rank_fusion
from lqr.retrieval.index import Snapshot
from lqr.retrieval.paths import FEATURES
from lqr.retrieval.ranker import Ranker
from lqr.retrieval.tokenizer import tokenize
from lqr.types import Hit

Mode = Literal["hybrid", "bm25", "dense", "graph", "paths", "read"]
LENDERS = 20  # best passages that lend to their neighbours in the graph mode
# The share of their score that they lend. On 200 training questions of HotpotQA over 4,000 passages, all gold passages are among
# the first five for 62 % without lending, 74 % at 0.2, and 81 % from 0.4 to 0.7; more than needed costs one-step questions
# their first place.
SHARE = 0.4


def ranked(snapshot: Snapshot, query: str, vector: FloatArray, k: int, mode: Mode, *, wide: int, rrf_k: int) -> list[Hit]:
    """The best ``k`` in a mode that compares vectors: :func:`by_graph` or :func:`by_scores`, whose arguments it takes."""
    if mode == "graph":
        return by_graph(snapshot, query, vector, k)
    return by_scores(snapshot, query, vector, k, mode, wide=max(k, wide), rrf_k=rrf_k)


def by_scores(snapshot: Snapshot, query: str, vector: FloatArray, k: int, mode: Mode, *, wide: int, rrf_k: int) -> list[Hit]:
    """The best ``k`` by BM25 (``bm25``), by cosine (``dense``), or by both and the asked questions fused (``hybrid``).

    Args:
        vector: the query's, unit length.
        wide: how many each ranking gives before the fusion.
        rrf_k: the constant of reciprocal rank fusion.
    """
    lexical = snapshot.bm25.scores(tokenize(query))
    by_bm25 = [row for row, _ in best(lexical, wide, above=0.0)] if mode != "dense" else []
    by_dense = [row for row, _ in snapshot.dense.search(vector[None, :], wide)[0]] if mode != "bm25" else []
    fused: dict[int, float] = {}
    if mode == "hybrid":
        by_asked = [row for row, _ in snapshot.asked.search(vector, wide)]
        ids = [[snapshot.passages[row].id for row in rows] for rows in (by_bm25, by_dense, by_asked) if rows]
        pairs = reciprocal_rank_fusion(ids, k=rrf_k)[:k]
        fused = {snapshot.rows[passage_id]: score for passage_id, score in pairs}
        ranked = list(fused)
    else:
        ranked = (by_bm25 or by_dense)[:k]
    hits = []
    for row in ranked:
        scores = {"bm25": float(lexical[row]), "dense": float(snapshot.vectors[row] @ vector)}
        if mode == "hybrid":
            scores["rrf"] = fused[row]
        hits.append(Hit(snapshot.passages[row], scores["rrf" if mode == "hybrid" else mode], scores))
    return hits


def by_graph(snapshot: Snapshot, query: str, vector: FloatArray, k: int) -> list[Hit]:
    """The best ``k`` by the mean of BM25 and cosine, both as a share of the best one's, lent along the graph's edges."""
    lexical = snapshot.bm25.scores(tokenize(query))
    cosines = np.maximum(snapshot.vectors @ vector, 0.0)
    shares = [scores.astype(np.float64) / max(float(scores.max()), 1e-9) for scores in (lexical, cosines)]
    own = (shares[0] + shares[1]) / 2
    lenders = [row for row, _ in best(own, LENDERS, above=0.0)]
    total = snapshot.graph.spread(own, lenders, SHARE)
    hits = []
    for row, score in best(total, k, above=0.0):
        scores = {"bm25": float(lexical[row]), "dense": float(cosines[row]), "graph": score}
        hits.append(Hit(snapshot.passages[row], score, scores))
    return hits


def by_paths(snapshot: Snapshot, ranker: Ranker | None, query: str, k: int) -> list[Hit]:
    """The best ``k`` by the fitted ranker, of what BM25 and two rounds along the graph reach.

    Raises:
        RetrievalError: there is no ranker.
    """
    if ranker is None:
        raise RetrievalError("mode paths needs models/ranker; fit it with `python -m benchmarks.retrieval fit`, or use graph")
    found = snapshot.paths.find(query)
    hits = []
    for place, score in best(ranker.scores(snapshot.graph, found), k):
        features = dict(zip(FEATURES, map(float, found.features[place]), strict=True))
        kept = {"bm25": features["lexical"], "graph": features["spread2"], "paths": score}
        hits.append(Hit(snapshot.passages[int(found.rows[place])], score, kept))
    return hits
