"""The common collection and one visitor's own documents, searched side by side as if they were one.

Both are read, neither is changed, and nothing is copied from one into the other: each keeps its own indexes, and what they
find is fused by rank. What depends on statistics (how rare a word is) counts both. Knows no session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from lqr.corpus.store import DocumentInfo, Store
from lqr.retrieval.bm25 import FloatArray, how_rare, idf
from lqr.retrieval.fusion import reciprocal_rank_fusion
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
        found = (*own, *base)
        lexical = self._lexical(query, [hit.passage.id for hit in found])
        hits = {
            hit.passage.id: replace(hit, scores={**hit.scores, "bm25": score}) for hit, score in zip(found, lexical, strict=True)
        }
        if mode in ("bm25", "dense"):
            alike = (replace(hit, score=hit.scores[mode]) for hit in hits.values())
            return sorted(alike, key=lambda hit: (-hit.score, hit.passage.id))
        near = sorted((i for i in hits if "dense" in hits[i].scores), key=lambda i: -hits[i].scores["dense"])
        rankings = [[hit.passage.id for hit in own], [hit.passage.id for hit in base], near]
        fused = reciprocal_rank_fusion(rankings, k=self._rrf_k)
        named = ("rrf",) if mode == "hybrid" else ()
        return [replace(hits[i], score=score, scores={**hits[i].scores, **dict.fromkeys(named, score)}) for i, score in fused]

    def expand(self, hits: Sequence[Hit], hops: int = 2, limit: int | None = None, *, query: str = "") -> list[Hit]:
        """As :meth:`Retriever.expand`; no edge leads from one collection into the other."""
        top = max((hit.score for hit in hits), default=0.0)
        reached: list[Hit] = []
        for part, own in ((self._own, True), (self._base, False)):
            seeds = [hit for hit in hits if self._is_own(hit.passage.id) == own]
            found = part.expand(seeds, hops, limit, query=query)  # weighs them by the best of its own; here the best of all is 1
            share = max((hit.score for hit in seeds), default=0.0) / top if found else 1.0
            reached += (
                replace(hit, score=hit.score * share, scores={**hit.scores, "graph": hit.scores["graph"] * share})
                for hit in found
            )
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

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """As :meth:`Retriever.encode`."""
        return self._base.encode(texts)

    def signals(self, query: str, ids: Sequence[str]) -> tuple[list[float], list[float], list[float | None]]:
        """As :meth:`Retriever.signals`.

        In a collection of three passages no word is rare, so BM25 scores are reckoned with the frequencies of both
        collections; else those of own passages would always stand below the others.
        """
        found: dict[str, tuple[float, float | None]] = {}
        for part, own in ((self._own, True), (self._base, False)):
            if mine := [passage_id for passage_id in ids if self._is_own(passage_id) == own]:
                cosines, _, asked = part.signals(query, mine)
                found.update(zip(mine, zip(cosines, asked, strict=True), strict=True))
        return [found[i][0] for i in ids], self._lexical(query, ids), [found[i][1] for i in ids]

    def asked_about(self, query: str, passage_id: str) -> list[tuple[str, float]] | None:
        """As :meth:`Retriever.asked_about`."""
        return self._of(passage_id).asked_about(query, passage_id)

    def saturations(self, terms: Sequence[str], ids: Sequence[str]) -> FloatArray:
        """As :meth:`Retriever.saturations`; a passage's length counts against the mean of its own collection."""
        found = np.zeros((len(terms), len(ids)), dtype=np.float32)
        for part, own in ((self._own, True), (self._base, False)):
            if places := [place for place, passage_id in enumerate(ids) if self._is_own(passage_id) == own]:
                found[:, places] = part.saturations(terms, [ids[place] for place in places])
        return found

    def holders(self, term: str) -> int:
        """As :meth:`Retriever.holders`, in both collections."""
        return self._own.holders(term) + self._base.holders(term)

    def rarity(self, term: str) -> float:
        """As :meth:`Retriever.rarity`, over both collections."""
        return how_rare(self.holders(term), len(self))

    def _lexical(self, query: str, ids: Sequence[str]) -> list[float]:
        """BM25 of passages of either collection, with the frequencies of both."""
        terms = tokenize(query)
        rarities = np.array([idf(self.holders(term), len(self)) for term in terms], dtype=np.float32)
        return [float(score) for score in rarities @ self.saturations(terms, ids)]

    def _of(self, name: str) -> Retriever:
        return self._own if self._is_own(name) else self._base
