"""Layered retrieval: a simple question once, a complex one in two steps (Huang et al. 2024, section 3.2).

``RD1 = R(q1)``; then, for each of the best passages ``d_i`` of RD1, ``RD2 = R(q1, q2, d_i)``, with q2's ``#1`` replaced by
what ``d_i`` is about. All lists are fused by reciprocal rank and the graph adds what they point to. It decides neither
the route nor what is relevant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lqr.retrieval.fusion import reciprocal_rank_fusion
from lqr.retrieval.retriever import Retriever
from lqr.settings import Settings
from lqr.text import content_words, sentences, truncate
from lqr.types import Decomposition, Hit

GRAPH_LIMIT = 8  # passages that the graph may add to a pool
POOL = 24  # passages that the relevance model reads; each costs it milliseconds


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The pool, best first; the queries put; the number of retrieval steps; the sub-questions as finally asked."""

    hits: tuple[Hit, ...]
    queries: tuple[str, ...]
    steps: int
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class LayeredRetrieval:
    """Runs the retrievals of one question over a :class:`Retriever`."""

    retriever: Retriever
    settings: Settings

    def retrieve(self, question: str, parts: Decomposition | None) -> Retrieved:
        """The candidate pool for ``question``; ``parts`` is None for a simple one."""
        if parts is None:
            hits = self.retriever.search(question)
            return Retrieved(self._with_graph(question, hits), (question,), 1)
        first = self.retriever.search(parts.first)
        seeds = first[: self.settings.expand]
        second_questions = [self._resolved(parts, hit) for hit in seeds] or [parts.second]
        # (q1, q2, d_i) as one query: the passage is cut to what it says about q1, or its length would drown the questions
        second_queries = list(
            dict.fromkeys(
                f"{question} {second} {self._gist(parts.first, hit)}"
                for second, hit in zip(second_questions, seeds, strict=False)
            )
        )
        asked = list(dict.fromkeys([question, *second_questions[:2], *second_queries]))
        lists = [first, *self.retriever.search_many(asked)]
        fused = fuse(lists, self.settings.rrf_k)
        return Retrieved(
            self._with_graph(question, fused), (parts.first, *asked), 1 + len(asked), (parts.first, second_questions[0])
        )

    def _with_graph(self, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        head = list(hits[:POOL])
        known = {hit.passage.id for hit in head}
        reached = self.retriever.expand(head[:6], hops=2, limit=GRAPH_LIMIT, query=question)
        added = [hit for hit in reached if hit.passage.id not in known]
        return (*head[: POOL - len(added)], *added)

    @staticmethod
    def _resolved(parts: Decomposition, hit: Hit) -> str:
        return parts.second.replace("#1", hit.passage.title) if "#1" in parts.second else parts.second

    def _gist(self, question: str, hit: Hit) -> str:
        """The sentence of the passage that shares most words with q1."""
        asked = set(content_words(question))
        best = max(sentences(hit.passage.text) or [hit.passage.text], key=lambda s: len(asked & set(content_words(s))))
        return truncate(re.sub(r"\s+", " ", best), 200)


def fuse(lists: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """Reciprocal rank fusion of hit lists; a hit keeps its best scores of each kind."""
    merged: dict[str, Hit] = {}
    for hits in lists:
        for hit in hits:
            old = merged.get(hit.passage.id)
            if old is None:
                merged[hit.passage.id] = hit
            else:
                scores = {key: max(old.scores.get(key, 0.0), hit.scores.get(key, 0.0)) for key in {*old.scores, *hit.scores}}
                merged[hit.passage.id] = replace(old, scores=scores)
    ranked = reciprocal_rank_fusion([[hit.passage.id for hit in hits] for hits in lists], k=k)
    return [replace(merged[passage_id], score=score) for passage_id, score in ranked]
