"""Candidates for questions of several hops, and what speaks for each: lexical scores and the graph's edges, as numbers.

A passage of a later hop may share no word with the question. It is found from a *lender*: a passage that scores well and
names it, is named by it, or shares a rare name with it. What a lender and the passage hold *together* tells more than either
alone. The ranker weighs these numbers; nothing here is fitted, no model is run, and vectors are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lqr.retrieval.bm25 import BM25Index, DoubleArray, FloatArray, best
from lqr.retrieval.entities import TitleIndex, simple_terms
from lqr.retrieval.graph import BESIDE, NAMED_BY, NAMES, SHARES, PassageGraph
from lqr.retrieval.tokenizer import tokenize
from lqr.types import Passage

LENDERS = 32  # passages whose edges are followed, in each of two rounds
POOL = 220  # candidates at most: they hold 92 % of the gold passages of MuSiQue's training questions
LEXICAL, SPREAD, NAMED = 20, 80, 20  # of them by BM25 alone, after two rounds of lending, and by a title in the question
SHARE = 0.5  # of its score that a passage lends along an edge of weight 1
NAMED_BONUS, NAMED_FULL = 0.4, 12.0  # what a title in the question adds, and the summed rarity from which it adds all of it
WINDOW = 8  # terms before and after a name that tell what is said of it
READ = 16  # lenders whose text is read for that

FEATURES = (
    *("lexical", "lexical_share", "lexical_rank", "spread1", "spread1_rank", "spread2", "spread2_rank"),
    *("title_cover", "title_mass", "named_length", "named_mass", "cover"),
    *("lent_names", "lent_named_by", "lent_shares", "lent_beside", "sum_names", "sum_named_by", "lent_by_named"),
    *("union_names", "union_named_by", "union_shares", "adds_names", "adds_named_by", "adds_shares"),
    *("lender_place", "window", "lender_title", "query_terms", "query_named", "query_compares"),
)
_COMPARES = frozenset("both or same older younger first earlier later between more".split())
_KIND_NAMES = {NAMES: "names", NAMED_BY: "named_by", SHARES: "shares", BESIDE: "beside"}

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Candidates:
    """``rows`` of the index, ascending, shape ``(c,)``, and their features, shape ``(c, len(FEATURES))``.

    ``held`` says how much of the question each one says, by term, shape ``(t, c)``; all of it adds up to less than 1.
    """

    rows: Rows
    features: FloatArray
    held: DoubleArray


@dataclass(frozen=True)
class _Edges:
    """Edges between candidates: positions of both ends in the pool, weight, kind, and the lender's score as a share."""

    source: Rows
    target: Rows
    weight: DoubleArray
    kind: npt.NDArray[np.int8]
    score: DoubleArray


class PathFinder:
    """Finds and describes candidates over one snapshot's BM25 index and graph; safe to use from several threads."""

    def __init__(self, passages: Sequence[Passage], bm25: BM25Index, graph: PassageGraph) -> None:
        """Read the titles of ``passages``; row ``i`` of ``bm25`` and ``graph`` is ``passages[i]``."""
        self._passages, self._bm25, self._graph = passages, bm25, graph
        self._by_document: dict[str, list[int]] = {}
        for row, passage in enumerate(passages):
            self._by_document.setdefault(passage.document_id, []).append(row)
        self._titles = TitleIndex({name: passages[rows[0]].title for name, rows in self._by_document.items()})
        terms = {name: simple_terms(passages[rows[0]].title) for name, rows in self._by_document.items()}
        self._title_terms = [terms[passage.document_id] for passage in passages]

    def find(self, query: str) -> Candidates:
        """The candidates for ``query``; none if it shares no term with any passage."""
        terms = list(dict.fromkeys(simple_terms(query)))
        lexical = self._bm25.scores(tokenize(query)).astype(np.float64)
        if not lexical.any():
            nothing = np.zeros((0, len(FEATURES)), dtype=np.float32)
            return Candidates(np.zeros(0, dtype=np.int64), nothing, np.zeros((len(terms), 0)))
        rarity = {term: self._bm25.rarity(term) for term in terms}
        own = lexical / lexical.max()
        named = self._named(query, rarity)
        called = sorted(named, key=lambda row: -named[row][1] - own[row])[: 2 * NAMED]
        for row in called:
            own[row] += NAMED_BONUS * min(1.0, named[row][1] / NAMED_FULL)
        first = self._graph.spread(own, _top(own, LENDERS), SHARE)
        lenders = _top(first, LENDERS)
        second = self._graph.spread(first, lenders, SHARE)
        chosen = dict.fromkeys([*lenders, *_top(lexical, LEXICAL), *_top(second, SPREAD), *called[:NAMED]])
        sources, positions = self._graph.leaving(np.array(lenders, dtype=np.int64))
        targets, weights = self._graph.weights.indices[positions], self._graph.weights.data[positions].astype(np.float64)
        for edge in np.argsort(-first[sources] * weights, kind="stable"):
            if len(chosen) >= POOL:
                break
            chosen[int(targets[edge])] = None
        rows = np.array(sorted(chosen), dtype=np.int64)
        at = np.minimum(np.searchsorted(rows, targets), len(rows) - 1)
        held = rows[at] == targets
        edges = _Edges(
            np.searchsorted(rows, sources[held]),
            at[held],
            weights[held],
            self._graph.kinds[positions[held]],
            first[sources[held]] / first.max(),
        )
        own_features = self._of_passages(rows, lexical, first, second, named, rarity)
        held = self._held(rows, terms, rarity)
        features = own_features | self._of_edges(rows, edges, own_features, held, rarity)
        features |= {
            "query_terms": np.full(len(rows), float(len(terms))),
            "query_named": np.full(len(rows), float(len(named))),
            "query_compares": np.full(len(rows), float(len(_COMPARES & set(query.lower().split())))),
        }
        return Candidates(rows, np.stack([features[name] for name in FEATURES], axis=1).astype(np.float32), held)

    def _named(self, query: str, rarity: dict[str, float]) -> dict[int, tuple[int, float]]:
        """Rows of the documents that the question names: how many terms the name has, and their summed rarity."""
        found: dict[int, tuple[int, float]] = {}
        for document_id, alias in self._titles.named_in(simple_terms(query)).items():
            mass = sum(rarity[term] for term in alias)
            found.update((row, (len(alias), mass)) for row in self._by_document[document_id])
        return found

    def _of_passages(
        self,
        rows: Rows,
        lexical: DoubleArray,
        first: DoubleArray,
        second: DoubleArray,
        named: dict[int, tuple[int, float]],
        rarity: dict[str, float],
    ) -> dict[str, DoubleArray]:
        masses = []
        for row in rows:
            title = self._title_terms[row]
            held = sum(rarity.get(term, 0.0) for term in title)
            masses.append((held, held / max(sum(rarity.get(term) or self._bm25.rarity(term) for term in title), 1e-9)))
        names = [named.get(int(row), (0, 0.0)) for row in rows]
        return {
            "lexical": lexical[rows],
            "lexical_share": lexical[rows] / lexical.max(),
            "lexical_rank": _ranks(lexical[rows]),
            "spread1": first[rows] / first.max(),
            "spread1_rank": _ranks(first[rows]),
            "spread2": second[rows] / second.max(),
            "spread2_rank": _ranks(second[rows]),
            "title_mass": np.array([mass for mass, _ in masses]),
            "title_cover": np.array([cover for _, cover in masses]),
            "named_length": np.array([float(length) for length, _ in names]),
            "named_mass": np.array([mass for _, mass in names]),
        }

    def _of_edges(
        self, rows: Rows, edges: _Edges, own: dict[str, DoubleArray], held: DoubleArray, rarity: dict[str, float]
    ) -> dict[str, DoubleArray]:
        union = np.maximum(held[:, edges.source], held[:, edges.target]).sum(axis=0)
        adds = np.where(held[:, edges.source] > 0, 0.0, held[:, edges.target]).sum(axis=0)
        lent = edges.score * edges.weight
        order = np.argsort(np.argsort(-own["spread1"], kind="stable"), kind="stable")
        place = 1.0 / (1.0 + order.astype(np.float64))

        def highest(values: DoubleArray, chosen: npt.NDArray[np.bool_]) -> DoubleArray:
            found = np.zeros(len(rows))
            np.maximum.at(found, edges.target[chosen], values[chosen])
            return found

        features = {"cover": held.sum(axis=0)}
        for kind, name in _KIND_NAMES.items():
            of_kind = edges.kind == kind
            features[f"lent_{name}"] = highest(lent, of_kind)
            if kind in (NAMES, NAMED_BY):
                weights = lent[of_kind]
                features[f"sum_{name}"] = np.bincount(edges.target[of_kind], weights=weights, minlength=len(rows)) * 1.0
            if kind != BESIDE:
                features[f"union_{name}"] = highest(union * np.sqrt(edges.weight), of_kind)
                features[f"adds_{name}"] = highest(adds * lent, of_kind)
        naming = edges.kind == NAMES
        features["lent_by_named"] = highest(lent * (own["named_mass"] > 0)[edges.source], naming)
        features["lender_place"] = highest(place[edges.source], naming)
        features["lender_title"] = highest(own["title_cover"][edges.source] * edges.weight, naming)
        features["window"] = self._windows(rows, edges, place, rarity) / sum(rarity.values())
        return features

    def _held(self, rows: Rows, terms: Sequence[str], rarity: dict[str, float]) -> DoubleArray:
        """How much of the question's rarity each row holds, by term; see :class:`Candidates`."""
        # 2.2 belongs to the fitted ranker; it is no bound: this BM25 (Lucene's) saturates at 1, so a term counts 0.76 at most
        most = np.array([2.2 * rarity[term] for term in terms])[:, None]
        held: DoubleArray = np.minimum(self._bm25.contributions(terms, rows) / (0.6 * most), 1.0) * most / most.sum()
        return held

    def _windows(self, rows: Rows, edges: _Edges, place: DoubleArray, rarity: dict[str, float]) -> DoubleArray:
        """Rarity of the question's terms that stand beside a candidate's name in a lender ("directed by NAME")."""
        found = np.zeros(len(rows))
        texts: dict[int, tuple[str, ...]] = {}
        for edge in np.flatnonzero((edges.kind == NAMES) & (place[edges.source] >= 1 / READ)):
            source, target = int(edges.source[edge]), int(edges.target[edge])
            name = self._title_terms[rows[target]]
            if not name:
                continue
            if source not in texts:
                texts[source] = simple_terms(self._passages[rows[source]].text)
            text = texts[source]
            titles = {*self._title_terms[rows[source]], *name}
            for at in (i for i, term in enumerate(text) if term == name[0]):
                near = {*text[max(0, at - WINDOW) : at + len(name) + WINDOW]} - titles
                mass = sum(rarity[term] for term in sorted(near & rarity.keys())) * float(edges.score[edge])
                found[target] = max(found[target], mass)
        return found


def _top(scores: DoubleArray, k: int) -> list[int]:
    return [row for row, _ in best(scores, k, above=0.0)]


def _ranks(scores: DoubleArray) -> DoubleArray:
    """``ln(1 + rank)`` of each score, the best having rank 0."""
    ranks: DoubleArray = np.log1p(np.argsort(np.argsort(-scores, kind="stable"), kind="stable"))
    return ranks
