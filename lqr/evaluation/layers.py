"""Layered Query Retrieval for short answers (Huang et al. 2024, section 3.2), as the strategies ``lqr`` and ``oracle`` run it.

Router, decomposer, retriever and relevance model are the product's, in its order. Two things differ, since a public set wants a
name or a date and not sentences: what the generator answers to q1 stands for ``#1`` in q2, where the product takes a name of the
best sentence; and the relevance model reads only the first few, which keep the retriever's order beside its own. A step is a
search: one for a simple question, up to four for a complex one (the whole, q1, q2, and the graph's where the first stage follows
no edges). It knows no gold answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lqr.blend import logit
from lqr.evaluation.comparing import Comparison, comparison
from lqr.evaluation.generators import Generated
from lqr.evaluation.stages import DEPTH, Clock, Outcome, Stages
from lqr.retrieval.layered import fuse
from lqr.retrieval.reading import WEIGHT
from lqr.types import Decomposition, Hit, Passage, Route

JUDGED = 4  # passages of two layers that the relevance model reads; each costs as much as half a window of the reader
TOGETHER = 3  # passages of a chain and one to spare: they fill one window of the reader, so that two hops are read together
STEP = 2  # best passages of a part, in which its answer is looked for
READ_THERE = 0.0  # score of the reader above which it takes an answer for likelier than that the passages hold none
_PERSON = re.compile(
    r"What is (?:the |an? |[\w'’.,() -]+['’]s? )?(?:\w+ )?(?:\w+(?:er|or|ist|ian)|spouse|wife|husband|child|son|king|queen)\b"
)


def layered(question: str, route: Route, stages: Stages, clock: Clock) -> Outcome:
    """Answer ``question`` (or only retrieve for it): once if simple, in two layers if complex.

    Raises:
        LqrError: a stage failed.
    """
    walk = _Walk(question, stages, clock)
    whole = walk.search(question)
    if route.label == "simple":
        head = whole[: stages.k]
        kept, dropped = walk.judge([(question, hit) for hit in head])
        read = tuple(hit.passage for hit in kept[: stages.k])
        answer = stages.answer(question, read, clock)
        return walk.outcome((*kept, *dropped, *whole[len(head) :]), read, answer, route, None)
    with clock.timed("decompose"):
        # Left out, the question stands for both parts: two steps all the same, led by what the first one found.
        pipeline = stages.pipeline
        divided = pipeline.decomposer(question, entities=pipeline.entities) if stages.decomposition else None
        parts = divided or Decomposition(question, question, "none")
    if stages.answers and stages.comparison and (compared := comparison(question, parts)) and (found := walk.compare(compared)):
        read = tuple(walk.read.values())
        chosen = {hit.passage.id: hit for hit in walk.found.values() if hit.passage.id in walk.read}
        return walk.outcome((*chosen.values(), *whole), read, found, route, parts)
    return walk.two_layers(whole, parts, route)


@dataclass
class _Walk:
    """What has been asked and found on the way of one question."""

    question: str
    stages: Stages
    clock: Clock
    queries: list[str] = field(default_factory=list)
    reaches: int = 0
    thoughts: list[Generated] = field(default_factory=list)
    found: dict[str, Hit] = field(default_factory=dict)
    read: dict[str, Passage] = field(default_factory=dict)

    def search(self, query: str) -> list[Hit]:
        """The first stage for ``query``, best first."""
        self.queries.append(query)
        with self.clock.timed("retrieve"):
            hits = self.stages.search(query)
        self.found = {hit.passage.id: hit for hit in hits} | self.found
        return hits

    def reach(self) -> list[Hit]:
        """What the graph adds for the whole question; a search of its own where the first stage doesn't follow edges."""
        self.reaches += self.stages.reaches
        with self.clock.timed("retrieve"):
            return self.stages.reach(self.question)

    def ask(self, question: str, passages: Sequence[Passage]) -> Generated:
        """The generator's answer to a part; it is kept as a thought."""
        self.read.update((passage.id, passage) for passage in passages)
        with self.clock.timed("think"):
            self.thoughts.append(self.stages.generator.answer(question, passages))
        return self.thoughts[-1]

    def judge(self, pairs: Sequence[tuple[str, Hit]]) -> tuple[list[Hit], list[Hit]]:
        """``(kept, dropped)``, best first: the retriever's log-odds and the relevance model's for the question beside each hit.

        The best two stay even below the threshold, as in the product.
        """
        stages, judged = self.stages, []
        with self.clock.timed("relevance"):
            for asked in dict.fromkeys(question for question, _ in pairs):
                hits = [hit for question, hit in pairs if question == asked]
                for hit, score in zip(hits, stages.pipeline.reranker.scores([asked], hits)[0], strict=True):
                    total = hit.scores.get("paths", 0.0) + WEIGHT * logit(score)
                    judged.append(replace(hit, score=total, scores={**hit.scores, "relevance": score}))
        judged.sort(key=lambda hit: -hit.score)
        threshold = stages.pipeline.settings.relevance_threshold
        keeps = [place < 2 or hit.scores["relevance"] >= threshold for place, hit in enumerate(judged)]
        return [h for h, k in zip(judged, keeps, strict=True) if k], [h for h, k in zip(judged, keeps, strict=True) if not k]

    def two_layers(self, whole: list[Hit], parts: Decomposition, route: Route) -> Outcome:
        """``RD1`` for q1, its answer into q2, ``RD2`` for q2. Where the chain holds, q2's answer is the answer.

        Else the question is read as a whole, in the best of all that was found; this is what costs the most.
        """
        first = self.search(parts.first) if parts.first != self.question else whole
        early = [hit.passage for hit in _alternating(first, whole)[:STEP]]
        one = self.ask(_for_a_name(parts.first), early) if "#1" in parts.second and early and self.stages.answers else None
        named = (one.text if one else "") or (early[0].title if early else "") or parts.first.rstrip("?")
        second = parts.second.replace("#1", named)
        resolved = replace(parts, second=second)
        later = self.search(second) if second not in self.queries else whole
        reached = self.reach()
        pool = fuse([whole, first, later, reached], self.stages.pipeline.settings.rrf_k)
        late = [hit.passage for hit in later[:STEP]]
        if one is not None and any(names(passage, one) for passage in late):
            two = self.ask(second, late)
            if holds(one, two, late):
                chain = [hit for name in (one.passage_id, two.passage_id) for hit in pool if hit.passage.id == name]
                answer = replace(two, read=0, written=0)  # its tokens are counted with the thoughts
                return self.outcome((*chain, *pool), tuple(self.read.values()), answer, route, resolved)
        # What the question itself found leads: where the chain does not hold, q2 may have been asked about the wrong thing.
        base = pool if reached else whole
        asked = {hit.passage.id: (self.question, hit) for hit in base[: JUDGED - 1]}
        for query, hits in ((second, later), (parts.first, first), (self.question, base)):
            for hit in hits[:JUDGED]:
                if len(asked) < JUDGED:
                    asked.setdefault(hit.passage.id, (query, hit))
        kept, dropped = self.judge(list(asked.values()))
        read = tuple(hit.passage for hit in kept[: min(TOGETHER, self.stages.k)])
        answered = self.stages.answer(self.question, read, self.clock)
        return self.outcome((*kept, *dropped, *pool), read, answered, route, resolved)

    def compare(self, compared: Comparison) -> Generated | None:
        """What follows from the answers about each side; None where nothing does."""
        said: list[Generated] = []
        for option in compared.options:
            name = option
            if compared.who:
                who = compared.who.format(option)
                name = self.ask(who, [hit.passage for hit in self.search(who)[:STEP]]).text
            if not name:
                return None
            asked = compared.ask.format(name)
            said.append(self.ask(asked, [hit.passage for hit in self.search(asked)[:STEP]]))
        text = compared.verdict((said[0].text, said[1].text))
        home = said[compared.options.index(text)] if text in compared.options else said[0]
        return replace(home, text=text, read=0, written=0) if text else None  # its tokens are counted with the thoughts

    def outcome(
        self,
        ranked: Sequence[Hit],
        read: Sequence[Passage],
        answer: Generated | None,
        route: Route,
        parts: Decomposition | None,
    ) -> Outcome:
        """What is handed on; a passage that stands twice counts where it stands first."""
        ids = tuple(dict.fromkeys(hit.passage.id for hit in ranked))[:DEPTH]
        queries = tuple(self.queries)
        return Outcome(ids, tuple(read), answer, len(queries) + self.reaches, route, parts, queries, tuple(self.thoughts))


def holds(one: Generated, two: Generated, passages: Sequence[Passage]) -> bool:
    """Whether the chain of two answers holds: q2 was read, rather than guessed, in a passage that names the answer to q1.

    Never for a generator that gives neither scores nor passages.
    """
    home = next((passage for passage in passages if passage.id == two.passage_id), None)
    if home is None or not two.text or two.score is None or two.score <= READ_THERE:
        return False
    first, second = one.text.lower(), two.text.lower()
    return names(home, one) and first not in second and second not in first  # the first answer again answers nothing


def names(passage: Passage, one: Generated) -> bool:
    """Whether ``passage`` holds the answer to q1, in its heading or its text."""
    return bool(one.text) and one.text.lower() in f"{passage.topic}. {passage.text}".lower()


def _for_a_name(question: str) -> str:
    """ "What is the director of X?" as "Who is the director of X?": the first would be answered with what a director is."""
    return f"Who is{question[7:]}" if _PERSON.match(question) else question


def _alternating(*lists: Sequence[Hit]) -> list[Hit]:
    """The best of each list in turn, each passage once."""
    depth = max(map(len, lists), default=0)
    taken: dict[str, Hit] = {}
    for hit in (hits[place] for place in range(depth) for hits in lists if place < len(hits)):
        taken.setdefault(hit.passage.id, hit)
    return list(taken.values())
