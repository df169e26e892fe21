"""Layered retrieval: a simple question once, a complex one in two steps (Huang et al. 2024, section 3.2).

``RD1 = R(q1)``; then, for each of the best passages ``d_i`` of RD1, ``RD2 = R(q2', s_i)``: q2 with its ``#1`` replaced by what
the best sentence ``s_i`` of ``d_i`` names, alone and with that sentence behind it. The paper's ``R(q1, q2, d_i)`` puts q1 and
the whole of ``d_i`` into the query; a passage of many subjects then draws the search away. All lists are fused by reciprocal
rank and the graph adds what they point to. It decides neither the route nor what is relevant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from lqr.retrieval.continuity import Thread, thread
from lqr.retrieval.fusion import reciprocal_rank_fusion
from lqr.retrieval.retriever import Retriever
from lqr.settings import Settings
from lqr.text import content_words, sentences, truncate
from lqr.types import Decomposition, Hit, Scorer, Turn

GRAPH_LIMIT = 8  # passages that the graph may add to a pool
POOL = 28  # passages that the relevance model reads for a question; each costs it milliseconds
HALF_POOL = 16  # and for the first part of a complex one

# "Where do Tan sheep come from?", "What is the home county of ...": the answer is a place.
_ASKS_PLACE = re.compile(
    r"^(?:in |from )?(?:where\b|(?:which|what)\b.*?\b(?:home|regions?|provinces?|count(?:y|ies)|countr(?:y|ies)|areas?|places?|"
    r"prefectures?|districts?|plateaus?|towns?|villages?)\b)",
    re.IGNORECASE,
)

Names = Callable[[str], list[str]]


def _none(text: str) -> list[str]:
    """The names in a collection that knows none."""
    return []


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Candidate pools, best first, each with the question that it was found for; the queries put; the retrieval steps.

    A simple question has one pool. A complex one has two, for q1 and for q2 as finally asked: a passage is read for the
    part that found it, which is half the reading of reading all for both. ``thread`` holds what a follow-up goes on from.
    """

    questions: tuple[str, ...]
    pools: tuple[tuple[Hit, ...], ...]
    queries: tuple[str, ...]
    steps: int
    thread: Thread = field(default_factory=Thread)

    @property
    def parts(self) -> tuple[str, ...]:
        """The sub-questions; empty for a simple question."""
        return self.questions if len(self.questions) > 1 else ()

    @property
    def hits(self) -> tuple[Hit, ...]:
        """All candidates once, those of the first pool first."""
        return tuple({hit.passage.id: hit for pool in reversed(self.pools) for hit in reversed(pool)}.values())[::-1]


@dataclass(frozen=True)
class LayeredRetrieval:
    """Runs the retrievals of one question over a :class:`Retriever`.

    Args:
        scorer: the evidence model; finds the sentence of a first-step passage that answers q1.
        names: finds the names in that sentence, which stand for ``#1``.
        places: finds the names of places alone, for a q1 that asks for one.
    """

    retriever: Retriever
    settings: Settings
    scorer: Scorer
    names: Names
    places: Names = _none

    def retrieve(self, question: str, parts: Decomposition | None, history: Sequence[Turn] = (), beside: str = "") -> Retrieved:
        """The candidate pool for ``question``; ``parts`` is None for a simple one.

        Args:
            history: the turns that ``question`` follows up; empty if it stands alone.
            beside: what a simple question is searched by as well; see :class:`~lqr.types.Rewrite`.
        """
        behind = thread(history, "" if parts or beside == question else beside, self.retriever)
        if parts is None:
            queries, hits = self._once(question, behind.beside)
            return Retrieved((question,), (self._with_graph(question, hits, hits, POOL),), queries, 1, behind)
        first = self.retriever.search(parts.first)
        seeds, gists = self._seeds(parts.first, first)
        # with nothing found for q1, its own words stand for its answer: a bare #1 must reach no model
        bare = parts.second.replace("#1", parts.first.rstrip("?"))
        seconds = [self._resolved(question, parts, hit, gist) for hit, gist in zip(seeds, gists, strict=True)] or [bare]
        layered = [f"{second} {gist}" for second, gist in zip(seconds, gists, strict=False)]  # q2 and what answers q1
        asked = [query for query in dict.fromkeys([*seconds, *layered]) if query not in (question, parts.first)]
        # the graph's reading of the question: a passage lends score to those it links to, so a second hop may come first;
        # and the fitted ranker's, where there is one
        whole = [self.retriever.search(question, mode="graph")]
        if self.retriever.ranks_paths:
            whole.append(self.retriever.search(question, mode="paths"))
        later = fuse([*self.retriever.search_many(asked), *whole], self.settings.rrf_k)
        earlier = fuse([first, *whole], self.settings.rrf_k)[:HALF_POOL]
        pools = (tuple(earlier), self._with_graph(seconds[0], later, seeds, POOL))
        queries = (parts.first, question, *asked)
        return Retrieved((parts.first, seconds[0]), pools, queries, len(queries), behind)

    def _once(self, question: str, beside: str) -> tuple[tuple[str, ...], list[Hit]]:
        """The queries put for a simple question, and what they found."""
        if not beside:
            return (question,), self.retriever.search(question)
        own, others = self.retriever.search_many((question, beside))
        # the gate weighs how near a passage is to the question: what only the other query found must not look near
        found = [replace(hit, scores={}, why="found with the last question") for hit in others]
        return (question, beside), fuse([own, found], self.settings.rrf_k)

    def _seeds(self, first: str, hits: Sequence[Hit]) -> tuple[list[Hit], list[str]]:
        """The first-step passages d_i, those whose best sentence answers q1 first, and that sentence of each."""
        candidates = list(hits[: 2 * self.settings.expand])
        spans = [(number, sentence) for number, hit in enumerate(candidates) for sentence in sentences(hit.passage.text)]
        scores = self.scorer([(first, (candidates[number].passage.topic, sentence)) for number, sentence in spans])
        best: dict[int, tuple[float, str]] = {}
        for (number, sentence), score in zip(spans, scores, strict=True):
            if number not in best or score > best[number][0]:
                best[number] = (score, sentence)
        asks_place = _ASKS_PLACE.match(first) is not None  # then a sentence without a place answers only where none has one

        def place(number: int) -> tuple[bool, float]:
            score, sentence = best[number]
            return asks_place and not self.places(sentence), -score

        order = sorted(best, key=place)[: self.settings.expand]
        return [candidates[number] for number in order], [truncate(re.sub(r"\s+", " ", best[number][1]), 240) for number in order]

    def _resolved(self, question: str, parts: Decomposition, hit: Hit, gist: str) -> str:
        """q2 with ``#1`` replaced by the names in the sentence that answers q1, or by its passage's title."""
        if "#1" not in parts.second:
            return parts.second
        if _ASKS_PLACE.match(parts.first):
            told = (gist, hit.passage.text, hit.passage.heading)
            if place := next((places[0] for places in map(self.places, told) if places), ""):
                return parts.second.replace("#1", place)
        asked = _letters(question)
        new = [name for name in dict.fromkeys(self.names(gist)) if _letters(name) not in asked and content_words(name)]
        # a proper name ("Ningxia") answers where a common one ("ewes") only happens to stand in the sentence
        proper = [name for name in new if name[:1].isupper() and name not in gist[: len(name)]]
        return parts.second.replace("#1", (proper or new or [hit.passage.title])[0])

    def _with_graph(self, question: str, hits: Sequence[Hit], seeds: Sequence[Hit], size: int) -> tuple[Hit, ...]:
        """``hits`` and what the graph reaches from the best ``seeds``, at most ``size`` together."""
        head = list(hits[:size])
        known = {hit.passage.id for hit in head}
        reached = self.retriever.expand(seeds[:6], hops=2, limit=GRAPH_LIMIT, query=question)
        added = [hit for hit in reached if hit.passage.id not in known]
        return (*head[: size - len(added)], *added)


def _letters(text: str) -> str:
    """Lower case without spaces and hyphens: "fine wool" is "Fine-wool"."""
    return re.sub(r"[\W_]+", "", text.lower())


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
