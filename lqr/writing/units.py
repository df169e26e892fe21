"""The units of an answer: sentences, list items and table rows of a passage, with their places. No scores are made here."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lqr.text import content_words, sentence_spans
from lqr.types import Passage

# "Rates are in soil testing.", "The method is described in growing rice.": where the answer is, and nothing of it. A clause
# that says more ("..., and wet crops are safer as silage") makes it a sentence like any other.
_TOLD = (
    r"(?:amounts?|advice|calculation|dates?|details?|difference|figures?|growing|measures|methods?|plan|planning|rates?|rules|"
    r"schedule|signs|species|steps|support|thresholds?|treatment|way|weather)"
)
_POINTS = re.compile(
    rf"^(?:see (?!that |to |a |an |if |whether |how )[^.;:]+"
    rf"|(?:more|(?:[^.;:\d]*\W)?{_TOLD}\b[^.;:\d]*) (?:is|are) (?:(?:given|listed|shown|told) )?in (?!the |a |an )[^.;:\d]+"
    rf"|more (?:about|on)\b[^.;:]* in [^.;:\d]+"
    rf"|[^.;:\d]+ (?:is|are) (?:described|explained) in (?!the |a |an )[^.;:\d]+)\.$",
    re.IGNORECASE,
)
# A section whose sentences are true of another disease, or of an animal that has already come to harm.
_LOOK_ALIKES = re.compile(r"\blook-?\s?alikes?\b", re.IGNORECASE)
_FIRST_AID = re.compile(r"\bwhat to do first\b|\bfirst aid\b", re.IGNORECASE)
_ASKS_LOOK_ALIKES = re.compile(
    r"\b(?:signs?|symptoms?|looks?|like|alike|differ\w*|tell|distinguish\w*|confus\w*|mistak\w*|which disease|what else|"
    r"what is it|could it be)\b",
    re.IGNORECASE,
)
_ASKS_FIRST_AID = re.compile(
    r"\b(?:first|emergency|urgent\w*|help|save|treat\w*|cure\w*|now what|what now|what (?:to|do|should|can|must|shall)|"
    r"do i do|ate|eaten|eats|swallow\w*|broke|got into|dying|dead|die[ds]?|sick|ill|down|poison\w*|bloat\w*|overfed|overate|"
    r"suddenly|collapse\w*|dos(?:e[ds]?|ing)|drench\w*|inject\w*|give[ns]?|gave|vet|how (?:much|many))\b",
    re.IGNORECASE,
)
_SAYS_MORE = re.compile(r"\b(?:must|should|can|may|need|needs|live|lives|means|because|is|are) (?!(?:\w+ )?in\b)", re.IGNORECASE)
# "Doctors cure brucellosis with two antibiotics": true of people, and no answer on sheep.
_ON_PEOPLE = re.compile(r"(?:doctors|patients|people|a person|persons|humans)\b", re.IGNORECASE)
_ASKS_ON_PEOPLE = re.compile(
    r"\b(?:i|me|we|us|you|he|she|wife|husband|child(?:ren)?|kids?|son|daughter|worker|people|person|persons|humans?|doctors?|"
    r"catch\w*|infectious|contagious|zoono\w+|danger\w*|risk\w*|safe\w*)\b",
    re.IGNORECASE,
)
_LIST_ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")


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


def units_of(passage: Passage, rank: int = 0) -> list[Unit]:
    """The units of one passage, in order.

    A list's lead-in ("Signs are:") is no unit; it goes with the first item. A question and the sentence behind it are one: of
    "Can sheep eat cattle feed? No, it holds copper." neither tells anything without the other.
    """
    if passage.kind == "table_row":
        return [Unit(passage, rank, 0, 0, len(passage.text), passage.text, "row")]
    listed = passage.kind == "list_item"
    units: list[Unit] = []
    spans = _item_spans(passage.text) if listed else _with_answers(passage.text, sentence_spans(passage.text))
    for start, end in spans:
        marker = _LIST_ITEM.match(passage.text[start:end])
        start += marker.end() if marker else 0
        text = passage.text[start:end]
        if content_words(text) and not text.endswith((":", "：")):
            units.append(Unit(passage, rank, len(units), start, end, text, "item" if listed or marker else "sentence"))
    return units


def points_elsewhere(text: str) -> bool:
    """Whether a sentence only names another article or table as the place where the answer stands."""
    return bool(_POINTS.match(text)) and not _SAYS_MORE.search(text)


def apart(passage: Passage) -> bool:
    """Whether the passage stands in a section of look-alikes or first aid, without whose heading it misleads."""
    section = passage.section[-1] if passage.section else ""
    return bool(_LOOK_ALIKES.search(section) or _FIRST_AID.search(section))


def asked_apart(question: str, passage: Passage) -> bool:
    """Whether ``question`` asks for what such a section tells: other causes of the signs, or what to do at once."""
    asks = _ASKS_LOOK_ALIKES if _LOOK_ALIKES.search(passage.section[-1]) else _ASKS_FIRST_AID
    return asks.search(question) is not None


def of_people_unasked(question: str, text: str) -> bool:
    """Whether a sentence is on people, and ``question`` neither asks about them nor what could happen to them."""
    return bool(_ON_PEOPLE.match(text)) and not _ASKS_ON_PEOPLE.search(question)


def _item_spans(text: str) -> list[tuple[int, int]]:
    """Offsets of the items of a list passage; items stand apart by line breaks and may hold several sentences."""
    return [(match.start(), match.end()) for match in re.finditer(r"\S[^\n]*(?<=\S)", text)]


def _with_answers(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """``spans`` of sentences, every question in one with the sentence behind it."""
    joined: list[tuple[int, int]] = []
    asked = False
    for start, end in spans:
        if asked:
            start = joined.pop()[0]
        asked = text[start:end].endswith(("?", "？"))
        joined.append((start, end))
    return joined
