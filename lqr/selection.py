"""Which passages of a pool an answer may be written from: kept, or dropped with the reason.

It strings together the reranker, the scope of the collection, the rules in force and the tables. It writes nothing, and does
not judge whether what is left holds an answer: that is the gate's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from lqr.corpus.profile import Profile
from lqr.entities import TopicFinder
from lqr.grounding.refusal import beside, out_of_scope
from lqr.grounding.rules import RuleChecker, out_of_force
from lqr.retrieval.layered import Retrieved
from lqr.retrieval.rerank import Reranker
from lqr.settings import Settings
from lqr.types import Hit, Passage

ROWS_BESIDE = 40  # rows that a kept one brings along: the writer reads them all, and a visitor's table may have thousands
# Of the weight of a sentence, what an article on another animal, crop or region leaves, which speaks of the asked one by the way,
# and one on another topic than the article that is named. At 0.25 the latter lost "is the colostrum any good?".
OTHER_ANIMAL, OTHER_TOPIC = 0.25, 0.5
SAME_TABLE = "a row of the same table"  # ``Hit.why`` of a row that came along with another one


@dataclass(frozen=True, slots=True)
class Selection:
    """Chooses passages with the stages of one pipeline.

    Args:
        passages_of: the passages of a document by its id, in reading order.
        rules: of a rule book; None for other collections.
    """

    settings: Settings
    profile: Profile
    reranker: Reranker
    passages_of: Callable[[str], Sequence[Passage]]
    rules: RuleChecker | None = None

    def choose(self, question: str, found: Retrieved) -> tuple[list[Hit], list[Hit]]:
        """``(kept, dropped)``: what helps is kept, what is about another animal or crop is dropped; best first.

        For a complex question the parts take turns: the second hop would otherwise lose its place to five passages that
        all answer the first. The best two stay even below the threshold: the gate judges them, and says so. A table's row
        brings the other rows along, so that the writer can compare.
        """
        scored: dict[str, Hit] = {}
        rankings = []
        for part, pool in zip(found.questions, found.pools, strict=True):
            scores = self.reranker.scores([part], pool)[0]
            ahead = [found.thread.lifted(score, hit.passage) for hit, score in zip(pool, scores, strict=True)]
            for hit, score, place in zip(pool, scores, ahead, strict=True):
                old = scored.get(hit.passage.id)
                if old is None or old.score < score:
                    lifted = {"ahead": round(place, 4)} if place != score else {}
                    scored[hit.passage.id] = replace(
                        hit, score=score, scores={**hit.scores, "relevance": round(score, 4), **lifted}
                    )
            order = sorted(range(len(pool)), key=lambda i, ahead=ahead: -ahead[i])  # type: ignore[misc]
            rankings.append([pool[i].passage.id for i in order])
        kept: list[Hit] = []
        dropped: list[Hit] = []
        for passage_id in _take_turns(rankings):
            hit = scored[passage_id]
            other = self._barred(question, hit.passage)
            if other:
                dropped.append(replace(hit, why=other))
            elif len(kept) < self.settings.top_k and (
                hit.scores.get("ahead", hit.score) >= self.settings.relevance_threshold or len(kept) < 2
            ):
                kept.append(hit)
            else:
                dropped.append(hit)
        if self.rules is not None:
            kept = self.rules.with_company(question, kept, scored, lambda passage: not self._barred(question, passage))
        beside = self._rows_beside(kept)
        rows = {hit.passage.id for hit in beside}
        taken = rows | {hit.passage.id for hit in kept}
        return [*kept, *beside], [hit for hit in dropped if hit.passage.id not in taken]

    def _barred(self, question: str, passage: Passage) -> str:
        return out_of_scope(self.profile, question, passage) or out_of_force(self.profile.rules, question, passage)

    def _rows_beside(self, kept: Sequence[Hit]) -> list[Hit]:
        """The other rows of the tables that kept rows stand in, of a long table the ``ROWS_BESIDE`` nearest to the best row."""
        found = {hit.passage.id for hit in kept}
        tables = set()
        rows: list[Hit] = []
        for hit in kept:
            table = hit.passage.document_id, hit.passage.section
            if hit.passage.kind != "table_row" or table in tables:
                continue
            tables.add(table)
            others = [
                passage
                for passage in self.passages_of(hit.passage.document_id)
                if passage.kind == "table_row" and passage.section == hit.passage.section and passage.id not in found
            ]
            place = hit.passage.position
            near = sorted(others, key=lambda passage, place=place: abs(passage.position - place))[:ROWS_BESIDE]  # type: ignore[misc]
            rows.extend(Hit(passage, hit.score, hit.scores, SAME_TABLE) for passage in sorted(near, key=lambda p: p.position))
        return rows


def on_another_thing(
    profile: Profile, named_in: TopicFinder, parts: Sequence[str], passages: Sequence[Passage]
) -> dict[tuple[int, str], float]:
    """What is left of the weight of a passage for a part of a question: by ``(place in parts, passage id)``, where not all is.

    Little is where its article is on another animal, crop or region (:func:`~lqr.grounding.refusal.beside`); some where it is
    on any thing but the one that the title of another article names: what "Hypocalcaemia in ewes" says of pregnancy toxaemia
    goes behind "Pregnancy toxaemia". The latter only where every part names it: of two things that are set against one another
    either article may tell of both, and what is asked of an answer stands in other articles than what the answer was sought with.
    """
    titles = {passage.title for passage in passages}
    named = titles.intersection(*(named_in(part, titles) for part in parts))
    left: dict[tuple[int, str], float] = {}
    for place, part in enumerate(parts):
        for passage in passages:
            if beside(profile, part, passage):
                left[place, passage.id] = OTHER_ANIMAL
            elif named and passage.title not in named:
                left[place, passage.id] = OTHER_TOPIC
    return left


def _take_turns(rankings: Sequence[Sequence[str]]) -> list[str]:
    """The best of each ranking not yet taken, in turn, until all are empty."""
    taken: dict[str, None] = {}
    for place in zip_longest(*rankings):
        taken.update((passage_id, None) for passage_id in place if passage_id is not None)
    return list(taken)
