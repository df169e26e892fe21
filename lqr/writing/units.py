"""The units of an answer: sentences, list items and table rows of a passage, with their places. No scores are made here."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lqr.text import content_words, sentence_spans
from lqr.types import Passage

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
    """The units of one passage, in order. A list's lead-in ("Signs are:") is no unit; it goes with the first item."""
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
