"""Writes an answer by choosing sentences, without a language model: every sentence is quoted and cites its passage.

The units are sentences, list items and table rows of the kept passages. A unit is scored for the question (and, for a
complex one, for each of its parts); the chosen few are put in order, led by the one that answers most directly, and a
sentence that leans on the one before it ("It ...", "This breed ...") brings that one, or its heading, along.
Knows nothing of how passages were found; makes no text of its own beyond "Yes.", "No." and headings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lqr.answer_type import expects, shows
from lqr.blend import Blend, blended, logit
from lqr.text import content_words, holds, plain
from lqr.types import Claim, Hit, Passage, Scorer
from lqr.writing.company import bare, with_ban
from lqr.writing.layout import PROHIBITS, write
from lqr.writing.rows import whole_tables
from lqr.writing.units import Unit, apart, asked_apart, of_people_unasked, points_elsewhere, units_of

# A unit must be at least this share of the best one to be said too, and this probable in itself. On the 82 common questions of
# the fit whose found sentences were judged, 54 % of what is said belongs in the answer, and 68 % of what belongs there is said;
# with 0.25 and 0.08 it is 57 and 68 %, but on the other 82 the ideal pieces said fall by 7 points, as much of the rest missing.
KEEP_SHARE = 0.2
KEEP_FLOOR = 0.05
# Of the best, for a unit of another document than the best's: judged by hand, 13 of 33 of those mislead, 12 of 103 others.
OTHER_SHARE = 0.6
REDUNDANT = 0.88  # cosine above which two sentences say the same
MAX_UNITS = {"short": 3, "long": 5}
WRONG_KIND = 0.55  # weight of a sentence without a figure where a figure was asked for
APART = 0.5  # weight of a sentence on look-alikes, first aid or people, true of another case, where none was asked for
REPEATS = 0.4  # a sentence whose figures were all said must bring at least this share of new words
MAX_LIST = 8

_LONG = re.compile(
    r"\b(?:how (?:do|can|should|to)|what (?:should|can|do|must) i|what to do|signs?|symptoms?|"
    r"steps?|prevent|control|treat|manage|why|explain|tell me|what is the difference|differen|"
    r"compare|about|describe|programme|schedule|ways?)\b",
    re.IGNORECASE,
)
_ENUMERATES = re.compile(
    r"\b(?:signs?|symptoms?|steps?|how (?:do|can|should|to)|what (?:should|can|must) i do|what to do|"
    r"which|what are|list|ways|measures|prevent|control|causes|tools?|equipment|checklist|rules)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")


Beside = Callable[[Sequence[str], Sequence[Passage]], Mapping[tuple[int, str], float]]
AskedAbout = Callable[[str, str], Sequence[tuple[str, float]] | None]


@dataclass(frozen=True, slots=True)
class Composition:
    """The chosen claims in order and the text in which they stand; ``best`` is the strongest unit's probability."""

    text: str
    claims: tuple[Claim, ...]
    best: float
    part_scores: tuple[float, ...] = ()


def unit_features(unit: Unit, encoder: float, cosine: float, passage: float) -> dict[str, float]:
    """What the logistic sees of any unit: the encoder's probability, the cosine with the question, its passage's probability."""
    return {
        "encoder": logit(encoder),
        "cosine": cosine,
        "passage": logit(passage),
        "row": float(unit.kind == "row"),
        "item": float(unit.kind == "item"),
    }


def nearest(unit: Unit, asked: Sequence[tuple[str, float]]) -> float:
    """The cosine of the nearest question that this very unit answers, of those asked about its passage; 0.0 without any."""
    text = plain(unit.text)
    return max((cosine for snippet, cosine in asked if holds(text, snippet)), default=0.0)


class Composer:
    """Chooses and orders units.

    Args:
        scorer: the evidence model.
        encode: gives unit vectors, for redundancy.
        beside: what is left of a sentence's weight where its article is on another thing than a part of the question, by place
            among the parts and id of the passage (:func:`lqr.selection.on_another_thing`).
        asked: what :meth:`~lqr.retrieval.retriever.Retriever.asked_about` gives: which piece of a passage answers which question.
    """

    name = "composer"

    def __init__(
        self,
        scorer: Scorer,
        encode: Callable[[Sequence[str]], Any],
        blend: Blend | None = None,
        *,
        beside: Beside = lambda parts, passages: {},
        asked: AskedAbout = lambda question, passage_id: None,
    ) -> None:
        self._scorer, self._encode, self._blend, self._beside, self._asked = scorer, encode, blend or Blend(), beside, asked

    def of_documents(self, beside: Beside, asked: AskedAbout) -> Composer:
        """The same composer for other documents."""
        return Composer(self._scorer, self._encode, self._blend, beside=beside, asked=asked)

    def compose(
        self, question: str, parts: Sequence[str], hits: Sequence[Hit], *, allowed: Callable[[str], bool] = lambda text: True
    ) -> Composition:
        """An answer to ``question`` from ``hits`` (best first).

        Args:
            question: the standalone question.
            parts: its sub-questions with ``#1`` already resolved; empty for a simple question.
            hits: kept passages; the relevance score of a hit weighs its sentences.
            allowed: whether a sentence may be said at all, for one about another animal or crop.
        """
        units = [unit for rank, hit in enumerate(hits) for unit in units_of(hit.passage, rank) if allowed(unit.text)]
        if not units:
            return Composition("", (), 0.0)
        relevance = {hit.passage.id: hit.score for hit in hits}
        vectors = self._encode([unit.text for unit in units])
        scored, part_scores = self._score(question, parts, units, relevance, vectors)
        best = max(unit.score for unit in scored)
        beside = self._beside(parts or (question,), [hit.passage for hit in hits])
        scored = [replace(u, score=u.score * beside.get((u.part, u.passage.id), 1.0) * _standing(question, u)) for u in scored]
        chosen = self._choose(question, parts, scored, vectors)
        text, claims = write(question, chosen, scored, parts)
        return Composition(text, claims, best, part_scores)

    def _score(
        self, question: str, parts: Sequence[str], units: list[Unit], relevance: dict[str, float], vectors: Any
    ) -> tuple[list[Unit], tuple[float, ...]]:
        texts = [(unit.passage.topic, unit.text) for unit in units]
        asked = parts or (question,)
        flat = self._scorer([(q, text) for q in asked for text in texts])
        by_part = [
            self._blended(q, units, flat[n * len(texts) : (n + 1) * len(texts)], relevance, vectors) for n, q in enumerate(asked)
        ]
        scored = []
        for i, unit in enumerate(units):
            answers = [scores[i] for scores in by_part]
            part = max(range(len(answers)), key=answers.__getitem__)
            value = answers[part]
            if not shows(unit.text, expects(asked[part])):
                value *= WRONG_KIND
            scored.append(replace(unit, score=value, part=part))
        return scored, tuple(max(scores) for scores in by_part) if parts else ()

    def _blended(
        self, question: str, units: Sequence[Unit], encoder: Sequence[float], relevance: dict[str, float], vectors: Any
    ) -> list[float]:
        vector = self._encode([question])[0]
        about = {passage_id: self._asked(question, passage_id) for passage_id in dict.fromkeys(u.passage.id for u in units)}
        scores = []
        for i, unit in enumerate(units):
            features = unit_features(unit, encoder[i], float(vectors[i] @ vector), relevance.get(unit.passage.id, 0.0))
            near = about[unit.passage.id]
            features |= {} if near is None else {"asked": nearest(unit, near)}
            scores.append(blended(self._blend.of_unit(features), features))
        return scores

    def _choose(self, question: str, parts: Sequence[str], scored: list[Unit], vectors: Any) -> list[Unit]:
        limit = MAX_UNITS["long" if parts or _LONG.search(question) else "short"]
        alike = vectors @ vectors.T
        place = {unit.key: i for i, unit in enumerate(scored)}
        chosen: list[Unit] = []

        def take(candidates: list[Unit], room: int) -> None:
            ranked = sorted(candidates, key=lambda u: -u.score)
            if not ranked:
                return
            first = ranked[0]
            taken = 0
            for unit in ranked:
                if taken >= room:
                    break
                if taken and unit.score < max(KEEP_FLOOR, _share(unit, first) * first.score):
                    continue
                if any(unit.key == c.key or alike[place[unit.key], place[c.key]] > REDUNDANT for c in chosen):
                    continue
                if taken and not _adds(unit, chosen):
                    continue
                chosen.append(unit)
                taken += 1

        if parts:
            for number in range(len(parts)):
                take([u for u in scored if u.part == number], (limit + 1) // len(parts))
            if not chosen:
                take(scored, limit)
        else:
            take(scored, limit)
        chosen = with_ban(question, self._whole_lists(question, chosen, scored), scored, limit, floor=KEEP_FLOOR)
        return whole_tables(question, chosen, scored)

    def _whole_lists(self, question: str, chosen: list[Unit], scored: list[Unit]) -> list[Unit]:
        """Half a list of steps or signs is a wrong answer: take the list whole when the question asks for one."""
        if not chosen:
            return chosen
        lead = max(chosen, key=lambda u: u.score)
        fellows = [u for u in scored if u.passage.id == lead.passage.id and u.kind == "item"]
        if lead.kind == "item" and len(fellows) >= 3 and _ENUMERATES.search(question):
            first = max(
                0, min(fellows.index(lead) - MAX_LIST // 2, len(fellows) - MAX_LIST)
            )  # of a long list, what is around the lead
            others = [u for u in chosen if u.passage.id != lead.passage.id]
            rest = [u for u in others if u.part == lead.part and u.score >= 0.6 * lead.score]
            return [*fellows[first : first + MAX_LIST], *rest[:2], *(u for u in others if u.part != lead.part)]
        return chosen


def _adds(unit: Unit, chosen: Sequence[Unit]) -> bool:
    """Whether ``unit`` says something that ``chosen`` do not: new words, and more of them where it has no new figure.

    What it forbids is worth saying in other words.
    """
    said = {bare(word) for c in chosen for word in content_words(c.text)}
    own = {bare(word) for word in content_words(unit.text)}
    new = own - said
    figures = set(_FIGURE.findall(unit.text))
    repeats = bool(figures) and figures <= {figure for c in chosen for figure in _FIGURE.findall(c.text)}
    return len(new) >= (max(3, REPEATS * len(own)) if repeats and not PROHIBITS.search(unit.text) else 3)


def _share(unit: Unit, first: Unit) -> float:
    """Of the score of ``first``, the best: what ``unit`` must reach to be said too."""
    return KEEP_SHARE if unit.passage.document_id == first.passage.document_id else OTHER_SHARE


def _standing(question: str, unit: Unit) -> float:
    """What a unit's place or form leaves of its score: a pointer is said only where nothing else is."""
    if unit.kind != "row" and points_elsewhere(unit.text):
        return 0.0
    aside = (apart(unit.passage) and not asked_apart(question, unit.passage)) or of_people_unasked(question, unit.text)
    return APART if aside else 1.0
