"""Writes an answer by choosing sentences, without a language model: every sentence is quoted and cites its passage.

The units are sentences, list items and table rows of the kept passages. A unit is scored for the question (and, for a
complex one, for each of its parts); the chosen few are put in order, led by the one that answers most directly, and a
sentence that leans on the one before it ("It ...", "This breed ...") brings that one, or its heading, along.
Knows nothing of how passages were found; makes no text of its own beyond "Yes.", "No." and headings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lqr.answer_type import expects, shows
from lqr.retrieval.rerank import Blend, blended, logit
from lqr.text import content_words, sentence_spans, words
from lqr.types import Claim, Hit, Passage

Scorer = Callable[[Sequence[tuple[str, tuple[str, str]]]], list[float]]  # pairs of question and (heading, text)

# A unit must be at least this share of the best one to be said too, and this probable in itself.
KEEP_SHARE = 0.45
KEEP_FLOOR = 0.12
REDUNDANT = 0.88  # cosine above which two sentences say the same
MAX_UNITS = {"short": 3, "long": 5}
WRONG_KIND = 0.55  # weight of a sentence without a figure where a figure was asked for
MAX_LIST = 8
MAX_ROWS = 6

_OWN_MARK = re.compile(r"[\[［【〔]\s*(\^?\d[\d\s,;–-]*)[\]］】〕]")
_LIST_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_DANGLING = re.compile(
    r"^(?:it|its|they|their|them|these|those|this|that|such|he|she|both|either|neither|the same|"
    r"the (?:breed|disease|worm|pest|plant|crop|animal|condition|treatment|latter|former|figures?|"
    r"table|rule)|"
    r"however|therefore|thus|so|but|also|otherwise|instead|then|afterwards|in (?:this|that|these|"
    r"such) cases?|for (?:this|that) reason|as a result|because of (?:this|that))\b(?! (?:is|are) (?:a|"
    r"the) )",
    re.IGNORECASE,
)
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
_POLAR = re.compile(
    r"^(?:(?:so|and|but|then|also|well),? )*(?:can|could|should|may|must|is|are|was|were|does|"
    r"do|did|will|would|has|have|am)\b(?!.*\?\s*\w)",
    re.IGNORECASE,
)
_PROHIBITS = re.compile(
    r"^(?:do not|don't|never|avoid)\b|\b(?:must (?:not|never)|should (?:not|never)|cannot|can not|"
    r"can never|may not|is not (?:safe|allowed|suitable|enough|possible|necessary|needed)|are not (?:safe|"
    r"allowed|suitable)|"
    r"unsafe|not be (?:fed|given|used|grazed|mixed|sold|eaten|drunk|stored|sown|sprayed))\b",
    re.IGNORECASE,
)
_ALLOWS = re.compile(
    r"\b(?:can (?:safely )?be|may (?:safely )?be|(?:is|are) (?:safe|suitable|allowed)|can (?:safely )?(?:eat|"
    r"graze|drink|be|catch|pass|spread|infect|kill|cause))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, list item or table row, with its place and scores."""

    passage: Passage
    rank: int  # of its passage, 0 = best
    index: int  # among the passage's units
    start: int
    end: int
    text: str
    kind: str  # sentence | item | row
    score: float = 0.0
    part: int = 0  # which sub-question it answers best

    @property
    def key(self) -> tuple[str, int]:
        return self.passage.id, self.index


@dataclass(frozen=True, slots=True)
class Composition:
    """The chosen claims in order and the text in which they stand; ``best`` is the strongest unit's probability."""

    text: str
    claims: tuple[Claim, ...]
    best: float
    part_scores: tuple[float, ...] = ()


def units_of(hit: Hit, rank: int) -> list[Unit]:
    """The units of one passage, in order. A list's lead-in ("Signs are:") is no unit; it goes with the first item."""
    passage = hit.passage
    if passage.kind == "table_row":
        return [Unit(passage, rank, 0, 0, len(passage.text), passage.text, "row")]
    listed = passage.kind == "list_item"
    units: list[Unit] = []
    for start, end in _item_spans(passage.text) if listed else sentence_spans(passage.text):
        marker = _LIST_ITEM.match(passage.text[start:end])
        start += marker.end() if marker else 0
        text = passage.text[start:end]
        if content_words(text) and not text.endswith((":", "：")):
            units.append(Unit(passage, rank, len(units), start, end, text, "item" if listed or marker else "sentence"))
    return units


def _item_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of the items of a list passage; items stand apart by line breaks and may hold several sentences."""
    return [(match.start(), match.end()) for match in re.finditer(r"\S[^\n]*(?<=\S)", text)]


class Composer:
    """Chooses and orders units. ``scorer`` is the evidence model; ``encode`` gives unit vectors for redundancy."""

    name = "composer"

    def __init__(self, scorer: Scorer, encode: Callable[[Sequence[str]], Any], blend: Blend | None = None) -> None:
        self._scorer, self._encode, self._blend = scorer, encode, blend or Blend()

    def compose(self, question: str, parts: Sequence[str], hits: Sequence[Hit]) -> Composition:
        """An answer to ``question`` from ``hits`` (best first).

        Args:
            question: the standalone question.
            parts: its sub-questions with ``#1`` already resolved; empty for a simple question.
            hits: kept passages; the relevance score of a hit weighs its sentences.
        """
        units = [unit for rank, hit in enumerate(hits) for unit in units_of(hit, rank)]
        if not units:
            return Composition("", (), 0.0)
        relevance = {hit.passage.id: hit.score for hit in hits}
        vectors = self._encode([unit.text for unit in units])
        scored, part_scores = self._score(question, parts, units, relevance, vectors)
        best = max(unit.score for unit in scored)
        chosen = self._choose(question, parts, scored, vectors)
        text, claims = _write(question, chosen, scored, parts)
        return Composition(text, claims, best, part_scores)

    def _score(
        self, question: str, parts: Sequence[str], units: list[Unit], relevance: dict[str, float], vectors: Any
    ) -> tuple[list[Unit], tuple[float, ...]]:
        texts = [(unit.passage.heading.replace(" > ", ". "), unit.text) for unit in units]
        asked = (question, *parts)
        flat = self._scorer([(q, text) for q in asked for text in texts])
        whole, *by_part = (
            self._blended(q, units, flat[n * len(texts) : (n + 1) * len(texts)], relevance, vectors) for n, q in enumerate(asked)
        )
        scored = []
        for i, unit in enumerate(units):
            answers = [scores[i] for scores in by_part]
            part = max(range(len(answers)), key=answers.__getitem__) if answers else 0
            value = max(whole[i], 0.9 * max(answers)) if answers else whole[i]
            if not shows(unit.text, expects(parts[part] if parts else question)):
                value *= WRONG_KIND
            scored.append(replace(unit, score=value, part=part))
        return scored, tuple(max(scores) for scores in by_part)

    def _blended(
        self, question: str, units: Sequence[Unit], encoder: Sequence[float], relevance: dict[str, float], vectors: Any
    ) -> list[float]:
        asked = self._encode([question])[0]
        return [
            blended(
                self._blend.unit,
                {
                    "encoder": logit(encoder[i]),
                    "cosine": float(vectors[i] @ asked),
                    "passage": logit(relevance.get(unit.passage.id, 0.0)),
                    "row": float(unit.kind == "row"),
                    "item": float(unit.kind == "item"),
                },
            )
            for i, unit in enumerate(units)
        ]

    def _choose(self, question: str, parts: Sequence[str], scored: list[Unit], vectors: Any) -> list[Unit]:
        limit = MAX_UNITS["long" if parts or _LONG.search(question) else "short"]
        similar = {(a.key, b.key): float(vectors[i] @ vectors[j]) for i, a in enumerate(scored) for j, b in enumerate(scored)}
        chosen: list[Unit] = []

        def take(candidates: list[Unit], room: int) -> None:
            ranked = sorted(candidates, key=lambda u: -u.score)
            if not ranked:
                return
            bar = max(KEEP_FLOOR, KEEP_SHARE * ranked[0].score)
            taken = 0
            for unit in ranked:
                if taken >= room or (unit.score < bar and taken):
                    break
                if any(unit.key == c.key or similar[unit.key, c.key] > REDUNDANT for c in chosen):
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
        return self._whole_lists(question, chosen, scored)

    def _whole_lists(self, question: str, chosen: list[Unit], scored: list[Unit]) -> list[Unit]:
        """Half a list of steps or signs is a wrong answer: take the list whole when the question asks for one."""
        if not chosen:
            return chosen
        lead = max(chosen, key=lambda u: u.score)
        fellows = [u for u in scored if u.passage.id == lead.passage.id and u.kind == "item"]
        if lead.kind == "item" and len(fellows) >= 3 and _ENUMERATES.search(question):
            rest = [u for u in chosen if u.passage.id != lead.passage.id and u.score >= 0.6 * lead.score]
            return [*fellows[:MAX_LIST], *rest[:2]]
        return chosen


def _adds(unit: Unit, chosen: Sequence[Unit]) -> bool:
    said = {word for c in chosen for word in content_words(c.text)}
    return len([w for w in set(content_words(unit.text)) if w not in said]) >= 3


def _write(question: str, chosen: list[Unit], scored: Sequence[Unit], parts: Sequence[str]) -> tuple[str, tuple[Claim, ...]]:
    if not chosen:
        return "", ()
    lead = max(chosen, key=lambda u: u.score)
    ordered = _ordered(chosen, lead, parts)
    verdict = _verdict(question, lead)
    by_place = {unit.key: unit for unit in scored}
    claims: list[Claim] = []
    lines: list[str] = []
    paragraph: list[str] = []
    numbers: dict[str, int] = {}
    previous: Unit | None = None
    headed: set[str] = set()

    def flush() -> None:
        if paragraph:
            lines.append(" ".join(paragraph))
            paragraph.clear()

    several = len({u.passage.document_id for u in ordered}) > 1
    together = Counter(u.passage.id for u in ordered if u.kind == "item")
    for unit in ordered:
        number = numbers.setdefault(unit.passage.id, len(numbers) + 1)
        text, quotes = _stand_alone(unit, previous, by_place)
        text = _OWN_MARK.sub(r"(\1)", text)  # a document's own "[12]" must not pass for one of our citations
        if unit is ordered[0] and verdict:
            text = f"{verdict} {text}"
        if unit.kind == "row" or together[unit.passage.id] > 1:
            flush()
            where = unit.passage.heading
            if where not in headed and (
                unit.kind == "row" or previous is None or previous.passage.section != unit.passage.section
            ):
                lines.append(f"{where}:")
            headed.add(where)
            lines.append(f"- {text} [{number}]")
        else:
            if (
                paragraph
                and previous
                and (previous.passage.document_id != unit.passage.document_id or unit.part != previous.part)
            ):
                flush()
            if (
                several
                and not _names_subject(f"{question} {unit.text}", unit.passage)
                and (previous is None or previous.passage.document_id != unit.passage.document_id)
            ):
                text = f"{unit.passage.title}: {text}"
            paragraph.append(f"{text} [{number}]")
        claims.append(Claim(text, (unit.passage.id,), "quoted", quotes))
        previous = unit
    flush()
    return _join(lines), tuple(claims)


def _ordered(chosen: list[Unit], lead: Unit, parts: Sequence[str]) -> list[Unit]:
    """The lead's passage first, then by score of passage; inside a passage by position, but the lead leads.

    For two parts: the first part's sentences, then the second's.
    """
    best: dict[tuple[int, str], float] = {}
    for unit in chosen:
        key = (unit.part if parts else 0, unit.passage.id)
        best[key] = max(best.get(key, 0.0), unit.score)

    def place(unit: Unit) -> tuple[int, float, int, int]:
        part = unit.part if parts else 0
        first = 0 if unit is lead and unit.kind == "sentence" and not parts else 1
        return part, -best[part, unit.passage.id], first, unit.index

    return sorted(chosen, key=place)


def _stand_alone(unit: Unit, previous: Unit | None, by_place: dict[tuple[str, int], Unit]) -> tuple[str, tuple[str, ...]]:
    """The unit's text, and the quotes it rests on; a dangling start brings the sentence before or the heading along."""
    if unit.kind == "row":
        return _row(unit.text), (unit.text,)
    follows = previous is not None and previous.passage.id == unit.passage.id and previous.index == unit.index - 1
    if _DANGLING.match(unit.text) and not follows:
        before = by_place.get((unit.passage.id, unit.index - 1))
        if before is not None and before.kind == "sentence" and not _DANGLING.match(before.text):
            return f"{before.text} {unit.text}", (before.text, unit.text)
        return f"{unit.passage.heading}: {unit.text}", (unit.text,)
    return unit.text, (unit.text,)


def _row(text: str) -> str:
    """``Stage: late pregnancy; Hay (kg/day): 1.2`` as ``late pregnancy — Hay (kg/day): 1.2``."""
    cells = [cell.strip() for cell in text.split(";") if cell.strip()]
    if len(cells) < 2 or ":" not in cells[0]:
        return text
    return f"{cells[0].split(':', 1)[1].strip()} — {'; '.join(cells[1:])}"


def _names_subject(text: str, passage: Passage) -> bool:
    title = {word.rstrip("s") for word in content_words(passage.title)}
    return bool(title & {word.rstrip("s") for word in words(text)})


def _verdict(question: str, lead: Unit) -> str:
    """ "Yes." or "No." where the lead sentence says so plainly about what was asked; otherwise nothing.

    Certain means: a yes-or-no question, most of whose content words stand in the lead sentence or its heading, and a
    sentence that forbids or allows in so many words. A question that asks for a fault ("Is it dangerous...") gets none.
    """
    if lead.kind == "row" or not _POLAR.match(question) or re.search(r"\bor\b", question, re.IGNORECASE):
        return ""
    asked = {w.rstrip("s") for w in content_words(question)}
    said = {w.rstrip("s") for w in words(f"{lead.passage.heading} {lead.text}")}
    if not asked or len(asked & said) / len(asked) < 0.6:
        return ""
    negative_question = re.search(
        r"\b(?:not|n't|never|avoid|dangerous|harmful|poisonous|toxic|unsafe|bad|risk|wrong|without)\b", question, re.IGNORECASE
    )
    if negative_question:
        return ""
    if _PROHIBITS.search(lead.text):
        return "No."
    if _ALLOWS.search(lead.text) and not re.search(r"\b(?:not|never|only|unless|except|until|if)\b", lead.text, re.IGNORECASE):
        return "Yes."
    return ""


def _join(lines: Sequence[str]) -> str:
    """Paragraphs apart by a blank line, list items together."""
    text = ""
    for i, line in enumerate(lines):
        if i:
            both_listed = line.startswith("- ") and (lines[i - 1].startswith("- ") or lines[i - 1].endswith(":"))
            text += "\n" if both_listed else "\n\n"
        text += line
    return text
