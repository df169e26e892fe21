"""Questions in, passages out: BM25 and MiniLM fused by reciprocal rank, and the walk over the passage graph.

A search reads one immutable snapshot from start to end; :meth:`Retriever.refresh` builds the next one beside it and swaps
it in, so searches never wait for an ingest and never see half of one. It does not decide what is relevant.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from lqr.errors import RetrievalError
from lqr.retrieval import ranking
from lqr.retrieval.bm25 import FloatArray, how_rare
from lqr.retrieval.bolt import BoltGraph
from lqr.retrieval.dense import Embedder, QueryCache
from lqr.retrieval.index import AskedOf, PassageSource, Progress, Snapshot, open_snapshot
from lqr.retrieval.ranker import Ranker
from lqr.retrieval.ranking import Mode
from lqr.retrieval.reading import READ, reread
from lqr.retrieval.rule_edges import DECLARED
from lqr.retrieval.shipped import write_shipped
from lqr.retrieval.tokenizer import tokenize
from lqr.retrieval.walks import Walks
from lqr.settings import Settings
from lqr.types import Hit, Passage, Scorer

MAX_QUERY = 2000  # characters; what follows would only cost time, the embedder reads 256 tokens


class Retriever:
    """Search over one store. All methods may be called from several threads."""

    def __init__(
        self,
        store: PassageSource,
        embedder: Embedder,
        settings: Settings,
        folder: Path,
        progress: Progress | None = None,
        asked_of: AskedOf | None = None,
        shipped: Path | None = None,
    ) -> None:
        """Load or build the indexes of ``store`` in ``folder / "index"``; see :meth:`open`."""
        self._store = store
        self._embedder = embedder
        self._settings = settings
        self._folder = folder
        self._asked_of = asked_of
        self._shipped = shipped
        self._queries = QueryCache(embedder)
        self._refreshing = threading.Lock()
        self._ranker = Ranker.load(settings.models / "ranker")
        self._scorer: Scorer | None = None
        self._walks = Walks(BoltGraph.of_settings(settings, folder.name))
        self._snapshot = self._build(progress)
        self._walks.publish(self._snapshot.graph, self._snapshot.passages)

    @classmethod
    def open(
        cls,
        store: PassageSource,
        embedder: Embedder,
        settings: Settings,
        folder: Path,
        progress: Progress | None = None,
        *,
        asked_of: AskedOf | None = None,
        shipped: Path | None = None,
    ) -> Retriever:
        """A retriever whose indexes agree with the store.

        Args:
            folder: the store's folder.
            progress: called with ``(done, total)`` while texts are embedded.
            asked_of: gives the questions by which passages are found as well, by passage id.
            shipped: a file of vectors that came with the documents, see :mod:`lqr.retrieval.shipped`.

        Raises:
            RetrievalError: the store can't be indexed.
        """
        return cls(store, embedder, settings, folder, progress, asked_of, shipped)

    def _build(self, progress: Progress | None) -> Snapshot:
        return open_snapshot(
            self._store,
            self._embedder,
            self._folder,
            device="gpu" if self._settings.profile == "gpu" else "cpu",
            progress=progress,
            asked_of=self._asked_of,
            shipped=self._shipped,
        )

    def close(self) -> None:
        """Close the connection to a graph server, if there is one."""
        self._walks.close()

    def save_vectors(self, path: Path, documents: Collection[str]) -> int:
        """Write the vectors of ``documents`` (ids), and of the questions about them, to ``path``; returns how many.

        Raises:
            OSError: it can't be written.
        """
        held = self._snapshot.vectors_of(documents)
        write_shipped(path, self._embedder, held)
        return len(held)

    @property
    def embedder(self) -> Embedder:
        """What the vectors come from, for other collections to share."""
        return self._embedder

    @property
    def generation(self) -> int:
        """The store's generation that searches see."""
        return self._snapshot.generation

    def __len__(self) -> int:
        """Number of passages that searches see."""
        return len(self._snapshot.passages)

    @property
    def ranks_paths(self) -> bool:
        """Whether the mode ``paths`` can be used: its ranker is there."""
        return self._ranker is not None

    def refresh(self, progress: Progress | None = None, *, anew: bool = False) -> bool:
        """Take in the store's changes; returns whether there were any. When it returns, deleted passages are in no index.

        Args:
            anew: look also where the generation is the same, as the store is another one.

        Raises:
            RetrievalError: the store can't be indexed; searches go on with the old snapshot.
        """
        with self._refreshing:
            if not anew and self._store.generation == self._snapshot.generation:
                return False
            self._snapshot = self._build(progress)
            self._walks.publish(self._snapshot.graph, self._snapshot.passages)
            return True

    def search(self, query: str, k: int | None = None, *, mode: Mode = "hybrid") -> list[Hit]:
        """The best ``k`` passages for ``query`` (``settings.candidates`` by default), best first.

        ``Hit.scores`` always holds ``bm25`` and ``dense`` (the cosine), and ``rrf`` in the hybrid mode; ``score`` is that
        of the mode. A query without a letter or digit finds nothing.

        ``graph`` is for questions of two steps: each passage scores the mean of its BM25 score and cosine, both as a share of the
        best one's, and the best lend a share of theirs along the graph's edges. ``paths`` is for questions of several steps: the
        fitted ranker orders what BM25 and two rounds along the graph reach; no vectors are used, so ``dense`` is missing.
        ``read`` is ``paths`` whose best ``READ`` the relevance model has read, see :meth:`read_with`.

        Raises:
            RetrievalError: an unknown ``mode``, ``paths`` where ``models/ranker`` is missing, or ``read`` without a scorer.
        """
        return self.search_many([query], k, mode=mode)[0]

    def search_many(self, queries: Sequence[str], k: int | None = None, *, mode: Mode = "hybrid") -> list[list[Hit]]:
        """:meth:`search` for each query, embedded together and answered from the same snapshot.

        Raises:
            RetrievalError: an unknown ``mode``.
        """
        if mode not in get_args(Mode):
            raise RetrievalError(f"unknown retrieval mode {mode!r}; it may be {', '.join(get_args(Mode))}")
        k = self._settings.candidates if k is None else k
        snapshot = self._snapshot
        results: list[list[Hit]] = [[] for _ in queries]
        asked = [i for i, query in enumerate(queries) if any(map(str.isalnum, query))]
        if k <= 0 or not asked or not snapshot.passages:
            return results
        texts = [queries[i].strip()[:MAX_QUERY] for i in asked]
        if mode in ("paths", "read"):
            for i, text in zip(asked, texts, strict=True):
                found = ranking.by_paths(snapshot, self._ranker, text, max(k, READ))
                results[i] = (reread(self._scorer, text, found) if mode == "read" else found)[:k]
            return results
        wide, rrf_k = self._settings.candidates, self._settings.rrf_k
        for i, text, vector in zip(asked, texts, self._queries.encode(texts), strict=True):
            results[i] = ranking.ranked(snapshot, text, vector, k, mode, wide=wide, rrf_k=rrf_k)
        return results

    def read_with(self, scorer: Scorer) -> None:
        """Give the relevance model that the mode ``read`` orders by; called once, when the stages are put together."""
        self._scorer = scorer

    def expand(self, hits: Sequence[Hit], hops: int = 2, limit: int | None = None, *, query: str = "") -> list[Hit]:
        """Passages within ``hops`` steps of ``hits`` in the graph, without the hits themselves, best first.

        ``Hit.scores["graph"]`` is the walk's weight, the best hit counting 1; ``why`` tells the way in words. With a ``query``
        its cosine is in ``scores["dense"]`` and ``score`` is the weight times the cosine: the walk knows no question, and a
        passage names many things that were not asked for. ``limit`` is ``settings.candidates`` by default.
        """
        limit = self._settings.candidates if limit is None else limit
        snapshot = self._snapshot
        top = max((hit.score for hit in hits), default=0.0)
        if top <= 0 or limit <= 0:
            return []
        seeds = {hit.passage.id: hit.score / top for hit in hits if hit.score > 0}
        asked = any(map(str.isalnum, query))
        most = limit * 10 if asked else limit
        walked = self._walks.ask(snapshot.graph, lambda graph: graph.expand(seeds, hops, most, label=snapshot.heading))
        reached = [found for found in walked if found[0] in snapshot.rows]  # another process may have changed a server's copy
        rows = [snapshot.rows[passage_id] for passage_id, _, _ in reached]
        if not asked:
            return [
                Hit(snapshot.passages[row], weight, {"graph": weight}, why)
                for row, (_, weight, why) in zip(rows, reached, strict=True)
            ]
        cosines = snapshot.vectors[rows] @ self._queries.encode([query.strip()[:MAX_QUERY]])[0]
        found = [
            Hit(snapshot.passages[row], weight * max(float(cosine), 0.0), {"graph": weight, "dense": float(cosine)}, why)
            for row, cosine, (_, weight, why) in zip(rows, cosines, reached, strict=True)
        ]
        return sorted(found, key=lambda hit: (-hit.score, hit.passage.id))[:limit]

    def company(self, passage_id: str) -> list[tuple[Passage, float, str]]:
        """Rules that a rule cites, is cited by, is part of or was replaced by: ``(passage, weight, phrase)``, strongest first."""
        snapshot = self._snapshot
        edges = self._walks.ask(snapshot.graph, lambda graph: graph.edges(passage_id))
        return [
            (snapshot.passages[snapshot.rows[target]], weight, phrase)
            for target, weight, phrase in edges
            if phrase in DECLARED and target in snapshot.rows
        ]

    def rule(self, number: str) -> list[Passage]:
        """The passages of the rule ``number``; empty if the collection does not hold it."""
        snapshot = self._snapshot
        return [snapshot.passages[row] for row in snapshot.rules.rows(number)]

    def signals(self, query: str, ids: Sequence[str]) -> tuple[list[float], list[float], list[float | None]]:
        """Cosine, BM25 score and cosine of the nearest asked question of given passages, in the order of ``ids``.

        0.0 for a passage that is no longer there; None for the last where the collection has no asked questions.
        """
        snapshot = self._snapshot
        vector = self._queries.encode([query.strip()[:MAX_QUERY]])[0]
        lexical = snapshot.bm25.scores(tokenize(query))
        rows = [snapshot.rows.get(passage_id) for passage_id in ids]
        cosines = [0.0 if row is None else float(snapshot.vectors[row] @ vector) for row in rows]
        scores = [0.0 if row is None else float(lexical[row]) for row in rows]
        if not len(snapshot.asked.rows):
            return cosines, scores, [None] * len(rows)
        asked = snapshot.asked.scores(vector)
        return cosines, scores, [0.0 if row is None else float(asked[row]) for row in rows]

    def asked_about(self, query: str, passage_id: str) -> list[tuple[str, float]] | None:
        """For each question that people ask about a passage: the snippet of it that answers, and the cosine with ``query``.

        None where the collection has no asked questions.
        """
        snapshot = self._snapshot
        if not len(snapshot.asked.rows):
            return None
        row = snapshot.rows.get(passage_id)
        vector = self._queries.encode([query.strip()[:MAX_QUERY]])[0]
        return [] if row is None else snapshot.asked.about(row, vector)

    def passages_of(self, document_id: str) -> list[Passage]:
        """The passages of a document in reading order; empty if it is not in the index."""
        snapshot = self._snapshot
        return [snapshot.passages[row] for row in snapshot.documents.get(document_id, ())]

    def holders(self, term: str) -> int:
        """How many passages hold a term of the tokenizer."""
        return self._snapshot.bm25.holders(term)

    def rarity(self, term: str) -> float:
        """How rare a term of the tokenizer is: its inverse document frequency over the highest possible, in [0, 1].

        1.0 for a term that no passage holds, about 0 for one that every passage holds.
        """
        index = self._snapshot.bm25
        return how_rare(index.holders(term), index.size)

    def saturations(self, terms: Sequence[str], ids: Sequence[str]) -> FloatArray:
        """What each term of the tokenizer counts in each passage beside its rarity, shape ``(len(terms), len(ids))``, in [0, 1).

        Times the terms' rarity in any collection they add up to BM25 there; 0.0 for what is not held or not there.
        """
        snapshot = self._snapshot
        found = np.zeros((len(terms), len(ids)), dtype=np.float32)
        places = [place for place, passage_id in enumerate(ids) if passage_id in snapshot.rows]
        rows = np.array([snapshot.rows[ids[place]] for place in places], dtype=np.int64)
        rarities = np.array([snapshot.bm25.rarity(term) for term in terms], dtype=np.float32)
        found[:, places] = snapshot.bm25.contributions(terms, rows) / rarities[:, None]
        return found

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors of any texts, shape ``(len(texts), dimension)``; not remembered."""
        return self._embedder.encode(texts)
