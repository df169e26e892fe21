"""Windows with marked units, for training the evidence model: judged ones of a collection, written questions, public sets.

A judged question says of every unit of the passages that were found for it whether a careful adviser would read it out; a written
question names one unit that answers, and tells little of the others; the public sets mark supporting sentences.
Knows nothing of models.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lqr.errors import ReadError
from lqr.text import holds, plain, sentence_spans
from lqr.training.asked_pairs import Search
from lqr.training.pairs import bm25_neighbours, read_rows, wrong_passages
from lqr.types import Asked, Passage, Window
from lqr.writing.units import units_of, windows_of

Place = tuple[str, str]  # a document's source without suffix, a snippet of a passage or unit
MARKS = ("say", "fine", "bad")
FIRST, SAY, FINE = 1.0, 0.9, 0.4  # labels: the most important piece, the others of a good answer, what does no harm beside them
MISLEADS = 2.0  # weight of a unit that misleads in this place, beside 1 for others that are not said
UNTOLD = 0.3  # weight of a unit that nobody judged
ROWS = 4  # rows of one table that are shown beside those that are marked


@dataclass(frozen=True, slots=True)
class Judged:
    """What an adviser would read out of the passages that were found for a question, the most important first."""

    question: str
    shown: tuple[Place, ...]
    say: tuple[Place, ...]
    fine: tuple[Place, ...]
    bad: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Marked:
    """A window with a label (0 to 1) and a weight for each of its units."""

    window: Window
    labels: tuple[float, ...]
    weights: tuple[float, ...]
    origin: str


def read_judged(path: Path) -> list[Judged]:
    """The questions of a JSON-lines file with ``question``, ``shown``, ``say``, ``fine`` and ``bad``.

    Raises:
        ReadError: the file can't be read or a line is malformed.
    """
    rows = []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError) as error:
        raise ReadError(f"{path.name}: can't be read ({error})") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
            places = [tuple((str(p["document"]), str(p["contains"])) for p in raw[key]) for key in ("shown", *MARKS)]
            rows.append(Judged(str(raw["question"]), *places))
        except (ValueError, KeyError, TypeError) as error:
            raise ReadError(f"{path.name} line {number}: {error!r}; each needs question, shown, say, fine and bad") from error
    return rows


def judged_windows(judged: Sequence[Judged], passages: Mapping[str, Sequence[Passage]], *, seed: int = 13) -> list[Marked]:
    """The windows of what was shown for each question; what no longer stands in its document is left out.

    Args:
        passages: of each document, by source without suffix, in reading order.
        seed: draws the rows that are shown of a long table.
    """
    rng = random.Random(seed)
    return [marked for row in judged for marked in _of_judged(row, passages, rng)]


def _of_judged(row: Judged, passages: Mapping[str, Sequence[Passage]], rng: random.Random) -> Iterator[Marked]:
    shown: dict[str, tuple[str, Passage]] = {}
    for document, snippet in row.shown:
        found = next((p for p in passages.get(document, ()) if holds(plain(p.text), snippet)), None)
        if found is not None:
            shown[found.id] = document, found
    tables: dict[tuple[str, tuple[str, ...]], int] = {}
    for document, passage in shown.values():
        units = units_of(passage)
        if not units:
            continue
        told = {unit.index: _label(row, document, plain(unit.text)) for unit in units}
        if passage.kind == "table_row" and told[0] == (0.0, 1.0):
            table = document, passage.section
            tables[table] = tables.get(table, 0) + 1
            if tables[table] > ROWS and rng.random() < 0.7:
                continue
        yield from _marked(row.question, passage, told, "judged")


def _label(row: Judged, document: str, text: str) -> tuple[float, float]:
    """Label and weight of a unit."""
    for number, (home, snippet) in enumerate(row.say):
        if home == document and holds(text, snippet):
            return (SAY if number else FIRST), 1.0
    if any(home == document and holds(text, snippet) for home, snippet in row.fine):
        return FINE, 1.0
    return 0.0, MISLEADS if any(home == document and holds(text, snippet) for home, snippet in row.bad) else 1.0


def _marked(question: str, passage: Passage, told: Mapping[int, tuple[float, float]], origin: str) -> Iterator[Marked]:
    numbers = iter(sorted(told))
    for window in windows_of(question, units_of(passage)):
        own = [told[next(numbers)] for _ in window.spans]
        yield Marked(window, tuple(label for label, _ in own), tuple(weight for _, weight in own), origin)


def asked_windows(asked: Sequence[Asked], passages: Mapping[str, Sequence[Passage]]) -> list[Marked]:
    """The passages that written questions name: the unit named is right, the others were judged by nobody."""
    found: list[Marked] = []
    for item in asked:
        for passage in passages.get(item.document, ()):
            if not holds(plain(passage.text), item.snippet):
                continue
            right = [unit.index for unit in units_of(passage) if holds(plain(unit.text), item.snippet)]
            if right:
                told = {unit.index: (FIRST, 1.0) if unit.index in right else (0.0, UNTOLD) for unit in units_of(passage)}
                found.extend(_marked(item.question, passage, told, "asked"))
            break
    return found


def answered_windows(
    answers: Mapping[str, Sequence[Asked]], passages: Mapping[str, Sequence[Passage]], search: Search, *, read: int = 6
) -> list[Marked]:
    """Windows of questions with all pieces of their ideal answer, the most important first.

    Whoever wrote it saw the whole article and chose: its other units are no part of the answer. Those of other articles that a
    search finds first were judged by nobody.

    Args:
        answers: of each question.
        search: the collection's retriever; its first ``read`` passages are shown, beside those that answer.
    """
    found: list[Marked] = []
    for question, items in answers.items():
        homes = {p.id: document for document in {item.document for item in items} for p in passages.get(document, ())}
        order = [item.snippet for item in items]
        shown = {p.id: p for document in {i.document for i in items} for p in passages.get(document, ()) if _any(p.text, order)}
        shown |= {p.id: p for p in search(question)[:read]}
        for passage in shown.values():
            home = homes.get(passage.id)
            told = {}
            for unit in units_of(passage):
                text = plain(unit.text)
                held = [i.snippet for i in items if i.document == home and holds(text, i.snippet)]
                label = 0.0 if not held else FIRST if order[0] in held else SAY
                told[unit.index] = (label, 1.0 if home else UNTOLD)
            found.extend(_marked(question, passage, told, "answered"))
    return found


def _any(text: str, snippets: Sequence[str]) -> bool:
    return any(holds(plain(text), snippet) for snippet in snippets)


def public_windows(folder: Path, *, seed: int = 13, wrong: int = 2, rows: int = 2000) -> list[Marked]:
    """Supporting passages of a set that marks sentences (HotpotQA, 2WikiMultiHopQA), and ``wrong`` others for each question.

    Raises:
        ReadError: a file is missing or malformed.
    """
    rng = random.Random(seed)
    corpus = {row["id"]: row for row in read_rows(folder / "corpus.jsonl.gz")}
    questions = [row for row in read_rows(folder / "train.jsonl.gz") if row.get("evidence")]
    questions = rng.sample(questions, min(rows, len(questions)))
    near = bm25_neighbours(corpus, [row["question"] for row in questions], depth=12)
    found = []
    for row, neighbours in zip(questions, near, strict=True):
        told: dict[str, list[str]] = {}
        for mark in row["evidence"]:
            told.setdefault(mark["passage"], []).append(mark["sentence"])
        others = wrong_passages(row, neighbours, corpus)
        chosen = [*(corpus[i] for i in told if i in corpus), *rng.sample(others, min(wrong, len(others)))]
        for passage in chosen:
            text = passage["text"][:700]
            spans = tuple(sentence_spans(text))
            if not spans:
                continue
            marked = told.get(passage["id"], ())
            labels = tuple(float(any(text[s:e].strip() in m or m in text[s:e] for m in marked)) for s, e in spans)
            window = Window(row["question"], passage["title"], text, spans)
            found.append(Marked(window, labels, tuple(1.0 for _ in spans), folder.name))
    return found
