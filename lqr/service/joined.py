"""The common collection and one visitor's own documents, searched side by side as if they were one.

Both are read, neither is changed, and nothing is copied from one into the other: each keeps its own indexes, and what they
find is fused by rank. What depends on statistics (how rare a word is) counts both. Knows no session.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from lqr.corpus.store import DocumentInfo, Store
from lqr.retrieval.bm25 import K1, B, FloatArray
from lqr.retrieval.fusion import reciprocal_rank_fusion
from lqr.retrieval.index import index_terms
from lqr.retrieval.ranking import Mode
from lqr.retrieval.retriever import Retriever
from lqr.retrieval.tokenizer import tokenize
from lqr.types import Document, Hit, Passage

IsOwn = Callable[[str], bool]  # whether an id, of a passage or a document, is one of the visitor's own


class JoinedStore:
    """What the pipeline asks of a store, of two."""

    def __init__(self, base: Store, own: Store, is_own: IsOwn) -> None:
        self._base, self._own, self._is_own = base, own, is_own

    def document(self, document_id: str) -> Document:
        """The document.

        Raises:
            KeyError: neither holds it.
        """
        return (self._own if self._is_own(document_id) else self._base).document(document_id)

    def documents(self) -> list[DocumentInfo]:
        """All documents, the visitor's own first."""
        return [*self._own.documents(), *self._base.documents()]


class JoinedRetriever:
    """The questions that stages put to a :class:`~lqr.retrieval.retriever.Retriever`, put to two."""

    def __init__(self, base: Retriever, own: Retriever, is_own: IsOwn, *, rrf_k: int = 60) -> None:
        """Both must have the same embedder: their cosines are compared."""
        self._base, self._own, self._is_own, self._rrf_k = base, own, is_own, rrf_k

    def __len__(self) -> int:
        """Number of passages that searches see."""
        return len(self._base) + len(self._own)

    @property
    def ranks_paths(self) -> bool:
        """As :attr:`Retriever.ranks_paths`; both have the same ranker."""
        return self._base.ranks_paths

    def search(self, query: str, k: int | None = None, *, mode: Mode = "hybrid") -> list[Hit]:
        """As :meth:`Retriever.search`; without ``k`` as many hits as both give."""
        return self.search_many([query], k, mode=mode)[0]

    def search_many(self, queries: Sequence[str], k: int | None = None, *, mode: Mode = "hybrid") -> list[list[Hit]]:
        """As :meth:`Retriever.search_many`.

        Cosines of one embedder can be compared, and BM25 scores with the frequencies of both; for the other modes each hit
        has its rank in its own collection and its rank by cosine among all, fused by reciprocal rank (Cormack et al. 2009).
        """
        lists = (part.search_many(queries, k, mode=mode) for part in (self._own, self._base))
        return [self._fused(query, own, base, mode)[:k] for query, own, base in zip(queries, *lists, strict=True)]

    def _fused(self, query: str, own: Sequence[Hit], base: Sequence[Hit], mode: Mode) -> list[Hit]:
        lexical = self._lexical(query, [hit.passage.id for hit in own])
        own = [replace(hit, scores={**hit.scores, "bm25": score}) for hit, score in zip(own, lexical, strict=True)]
        if mode == "bm25":
            own = [replace(hit, score=hit.scores[mode]) for hit in own]
        if mode in ("bm25", "dense"):
            return sorted((*own, *base), key=lambda hit: (-hit.score, hit.passage.id))
        hits = {hit.passage.id: hit for hit in (*own, *base)}
        near = sorted((i for i in hits if "dense" in hits[i].scores), key=lambda i: -hits[i].scores["dense"])
        rankings = [[hit.passage.id for hit in own], [hit.passage.id for hit in base], near]
        fused = reciprocal_rank_fusion(rankings, k=self._rrf_k)
        named = ("rrf",) if mode == "hybrid" else ()
        return [replace(hits[i], score=score, scores={**hits[i].scores, **dict.fromkeys(named, score)}) for i, score in fused]

    def expand(self, hits: Sequence[Hit], hops: int = 2, limit: int | None = None, *, query: str = "") -> list[Hit]:
        """As :meth:`Retriever.expand`; no edge leads from one collection into the other."""
        own = [hit for hit in hits if self._is_own(hit.passage.id)]
        base = [hit for hit in hits if not self._is_own(hit.passage.id)]
        reached = [*self._own.expand(own, hops, limit, query=query), *self._base.expand(base, hops, limit, query=query)]
        return sorted(reached, key=lambda hit: (-hit.score, hit.passage.id))[:limit]

    def company(self, passage_id: str) -> list[tuple[Passage, float, str]]:
        """As :meth:`Retriever.company`."""
        return self._of(passage_id).company(passage_id)

    def rule(self, number: str) -> list[Passage]:
        """As :meth:`Retriever.rule`."""
        return [*self._own.rule(number), *self._base.rule(number)]

    def passages_of(self, document_id: str) -> list[Passage]:
        """As :meth:`Retriever.passages_of`."""
        return self._of(document_id).passages_of(document_id)

    def passage_vectors(self, ids: Sequence[str]) -> FloatArray:
        """As :meth:`Retriever.passage_vectors`."""
        if not ids:
            return self._base.passage_vectors(ids)
        return np.concatenate([self._of(passage_id).passage_vectors([passage_id]) for passage_id in ids])

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """As :meth:`Retriever.encode`."""
        return self._base.encode(texts)

    def signals(self, query: str, ids: Sequence[str]) -> tuple[list[float], list[float], list[float | None]]:
        """As :meth:`Retriever.signals`.

        In a collection of three passages no word is rare, so the BM25 scores of own passages are reckoned with the
        frequencies of both collections; else they would always stand below those of the others.
        """
        found: dict[str, tuple[float, float, float | None]] = {}
        for part, own in ((self._own, True), (self._base, False)):
            mine = [passage_id for passage_id in ids if self._is_own(passage_id) == own]
            if mine:
                cosines, lexical, asked = part.signals(query, mine)
                if own:
                    lexical = self._lexical(query, mine)
                found.update(zip(mine, zip(cosines, lexical, asked, strict=True), strict=True))
        return tuple([found[i][kind] for i in ids] for kind in range(3))  # type: ignore[return-value]

    def asked_about(self, query: str, passage_id: str) -> list[tuple[str, float]] | None:
        """As :meth:`Retriever.asked_about`."""
        return self._of(passage_id).asked_about(query, passage_id)

    def _lexical(self, query: str, ids: Sequence[str]) -> list[float]:
        """BM25 of own passages (the formula of :mod:`lqr.retrieval.bm25`), with document frequencies over both collections."""
        documents = dict.fromkeys(passage_id.rpartition("-")[0] for passage_id in ids)
        bags = {p.id: Counter(index_terms(p)) for document in documents for p in self._own.passages_of(document)}
        lengths = {passage_id: bag.total() for passage_id, bag in bags.items()}
        mean = sum(lengths.values()) / max(len(lengths), 1) or 1.0
        size = len(self)
        weights = {}
        for term in dict.fromkeys(tokenize(query)):
            held = self._held(term)
            weights[term] = math.log(1 + (size - held + 0.5) / (held + 0.5))
        scores = []
        for passage_id in ids:
            bag = bags.get(passage_id, Counter())
            norm = K1 * (1 - B + B * lengths.get(passage_id, 0) / mean)
            scores.append(sum(weight * bag[term] / (bag[term] + norm) for term, weight in weights.items() if bag[term]))
        return scores

    def rarity(self, term: str) -> float:
        """As :meth:`Retriever.rarity`, over both collections."""
        held, size = self._held(term), len(self)
        return 1.0 if not held else max(0.0, math.log((size + 1) / held) / math.log(size + 1))

    def _held(self, term: str) -> int:
        """How many passages hold ``term``; one alone in its collection counts as none, as its rarity there is 1 as well."""
        total = 0
        for part in (self._own, self._base):
            rarity, size = part.rarity(term), len(part)
            total += round((size + 1) ** (1 - rarity)) if rarity < 1.0 else 0
        return total

    def _of(self, name: str) -> Retriever:
        return self._own if self._is_own(name) else self._base
