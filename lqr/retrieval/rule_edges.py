"""Edges that the documents declare: a rule cites another, is part of one, was replaced by one, or uses a term that one defines.

Reads passages' metadata only (``number``, ``parent``, ``cites``, ``replaced_by``, ``defines``, ``edges``: their weights), which a
rule book's splitter writes; a collection without them has no such edges. It knows no numbering: names are compared as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lqr.types import Passage

CITES, CITED, PART, WHOLE = "cites", "is cited by", "is part of", "has the part"
REPLACED, REPLACES, USES = "was replaced by", "replaces", "uses the term"
DECLARED = (CITES, CITED, PART, WHOLE, REPLACED, REPLACES)  # kinds that lead to a rule's company; ``USES`` names its term
BACK = 0.8  # of the weight, from the cited rule to the one that cites it: an exception often cites the rule, not the other way


@dataclass(frozen=True, slots=True)
class DeclaredEdge:
    """From row to row, as the store orders passages."""

    source: int
    target: int
    weight: float
    phrase: str


class RuleNames:
    """Finds passages by the number of their rule."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        """Number every passage that carries a ``number``; a rule that was cut has several."""
        rows: dict[str, list[int]] = {}
        for row, passage in enumerate(passages):
            if number := passage.metadata.get("number"):
                rows.setdefault(str(number), []).append(row)
        self._rows = {number: tuple(found) for number, found in rows.items()}

    def rows(self, number: str) -> tuple[int, ...]:
        """Rows of the rule ``number``; of the rule it is part of, where the part is no passage of its own; else none."""
        while number not in self._rows:
            shorter = re.sub(r"\s?\(\w+\)$", "", number)
            if shorter == number:
                return ()
            number = shorter
        return self._rows[number]


def declared_edges(passages: Sequence[Passage]) -> Iterator[DeclaredEdge]:
    """Every declared edge, with its way back; those to what is not in the store are left out."""
    names = RuleNames(passages)
    for row, passage in enumerate(passages):
        metadata = passage.metadata
        weights: Mapping[str, float] = metadata.get("edges") or {}
        named = [(target, CITES, CITED, "cites") for target in metadata.get("cites", ())]
        if metadata.get("replaced_by"):
            named.append((metadata["replaced_by"], REPLACED, REPLACES, "replaced"))
        if metadata.get("parent"):
            named.append((metadata["parent"], PART, WHOLE, "part"))
        for number, phrase, back, kind in named:
            for target in names.rows(str(number))[:1]:
                if target != row:
                    weight = float(weights.get(kind, 1.0))
                    yield DeclaredEdge(row, target, weight, phrase)
                    yield DeclaredEdge(target, row, weight * BACK, back)
    yield from _terms(passages)


def _terms(passages: Sequence[Passage]) -> Iterator[DeclaredEdge]:
    """From each rule to the definitions of the terms it uses; a chapter's own definition goes before the general one.

    There is no way back: a definition leads to half of the book.
    """
    defined: dict[str, dict[str, int]] = {}  # term -> chapter it holds in ("" for all) -> row
    for row, passage in enumerate(passages):
        if definition := passage.metadata.get("defines"):
            defined.setdefault(str(definition["term"]), {})[str(definition["within"])] = row
    if not defined:
        return
    longest_first = sorted(defined, key=lambda term: (-len(term), term))
    pattern = re.compile(rf"\b({'|'.join(map(re.escape, longest_first))})s?\b", re.IGNORECASE)
    for row, passage in enumerate(passages):
        if "number" not in passage.metadata:
            continue
        for term in dict.fromkeys(found.lower() for found in pattern.findall(passage.text)):
            held = defined[term]
            target = held.get(str(passage.metadata.get("chapter", "")), held.get("", -1))
            if target not in (-1, row):
                weight = float((passage.metadata.get("edges") or {}).get("defines", 0.4))
                yield DeclaredEdge(row, target, weight, f"{USES} ‘{term}’ of")
