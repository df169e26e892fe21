"""Pairs from judged answers: of the sentences that were found for a question, which belong in its answer.

The pairs of :mod:`lqr.training.asked_pairs` know one sentence that answers and hold most others to be wrong. Here all that an
answer could be made of was read and sorted: what to *say*, what is *fine* beside it, what is *bad* there, being true of another
case, and what is merely *beside* the point. Knows nothing of models.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lqr.errors import ReadError
from lqr.text import plain
from lqr.training.asked_pairs import texts_of
from lqr.training.pairs import Pair
from lqr.types import Passage

# What is fine beside an answer is neither it nor wrong: the logit between them, so that it is said where nothing else is.
LABELS = {"say": 1.0, "fine": 0.3, "bad": 0.0, "beside": 0.0}
Mark = tuple[str, str]  # a document by its source without suffix, and what its unit begins with


@dataclass(frozen=True, slots=True)
class Judged:
    """A question as the models read it, and the marks of each judgement of :data:`LABELS`."""

    question: str
    marks: Mapping[str, tuple[Mark, ...]]

    def by_text(self) -> dict[str, str]:
        """The judgement of each marked text, in its plain form, whatever document it is of."""
        return {plain(text): name for name, marks in self.marks.items() for _, text in marks}


def read_judged(path: Path) -> list[Judged]:
    """The judged questions of a JSON-lines file.

    A line holds ``question`` and, for each judgement, a list of ``[document, beginning of the unit]``.

    Raises:
        ReadError: the file can't be read or a line is malformed.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")  # not splitlines(): a text may hold a U+2028
    except (OSError, ValueError) as error:
        raise ReadError(f"{path.name}: can't be read ({error})") from error
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row: dict[str, Any] = json.loads(line)
            marks = {name: tuple((str(home), str(begins)) for home, begins in row[name]) for name in LABELS}
            rows.append(Judged(str(row["question"]), marks))
        except (ValueError, KeyError, TypeError) as error:
            wanted = ", ".join(LABELS)
            raise ReadError(f"{path.name} line {number}: {error!r}; a line needs question, {wanted}") from error
    return rows


def build(judged: Sequence[Judged], passages: Mapping[str, Sequence[Passage]]) -> list[Pair]:
    """A pair for each judged unit that is still there, and for each passage that is right or wrong as a whole.

    A passage is right if one of its units is to be said; it is wrong if all were judged and none is fine. One that has but
    fine units is no pair.

    Args:
        passages: of each document, by source without suffix.
    """
    return [pair for row in judged for pair in _pairs(row, passages)]


def _pairs(row: Judged, passages: Mapping[str, Sequence[Passage]]) -> list[Pair]:
    pairs: list[Pair] = []
    for home in dict.fromkeys(home for marks in row.marks.values() for home, _ in marks):
        begins = [(plain(mark), name) for name, marks in row.marks.items() for document, mark in marks if document == home]
        for passage in passages.get(home, ()):
            texts = texts_of(passage)
            judged = {t: next((name for mark, name in begins if plain(t).startswith(mark)), None) for t in texts}
            found = {text: name for text, name in judged.items() if name is not None}
            pairs.extend(Pair(row.question, passage.topic, text, LABELS[name], "judged") for text, name in found.items())
            whole = _of_passage(list(found.values()), len(found) == len(texts))
            if whole is not None and texts != [passage.text]:
                pairs.append(Pair(row.question, passage.topic, passage.text, whole, "judged"))
    return pairs


def _of_passage(found: Sequence[str], all_judged: bool) -> float | None:
    if "say" in found:
        return 1.0
    return 0.0 if found and all_judged and "fine" not in found else None
