"""Builds training windows for the reader: a question, a few passages in mixed order, where the answer stands, what it needs.

SQuAD gives spans; HotpotQA and 2WikiMultiHopQA mark the sentences needed; in the other sets the answer is looked up in the
supporting passages, and every place where it stands counts as right (marginal likelihood, Clark and Gardner 2018). Only
``train`` splits are read. Knows nothing of models.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lqr.classifiers.reader import PASSAGE_CHARACTERS, Packed, pack
from lqr.training.pairs import bm25_neighbours, read_rows, wrong_passages

SPAN, YES, NO = 0, 1, 2


@dataclass(frozen=True, slots=True)
class ReadingTask:
    """One window with its answer.

    ``answers`` are character spans in the window, each as right as the other; empty for yes, no and "not here".
    ``needed`` has a number for each sentence: 1, 0, or -1 where nobody marked it.
    """

    question: str
    window: Packed
    kind: int
    answers: tuple[tuple[int, int], ...]
    needed: tuple[int, ...]
    origin: str


def build(data: Path, *, seed: int = 13, squad: int = 12000, rounds: int = 2, limit: int = 1350) -> list[ReadingTask]:
    """Every training window, shuffled.

    Args:
        squad: so many SQuAD questions, one window each.
        rounds: so many windows with other wrong passages for each question of the multi-hop sets.
        limit: characters of a window.
    """
    rng = random.Random(seed)
    tasks = [*_squad(data, rng, squad, limit)]
    for name, repeats in (("hotpotqa", rounds), ("2wikimultihopqa", rounds), ("musique", rounds), ("natural_questions", 1)):
        tasks += _supported(data / name, rng, repeats, limit)
    rng.shuffle(tasks)
    return tasks


def _squad(data: Path, rng: random.Random, count: int, limit: int) -> Iterator[ReadingTask]:
    rows = read_rows(data / "squad" / "train_paragraphs.jsonl.gz")
    asked = [(row, question) for row in rows for question in row["questions"]]
    for row, question in rng.sample(asked, min(count, len(asked))):
        begin = int(question["answer_start"])
        [window, *_] = pack([(row["title"], row["text"])], 10**6)
        shift = window.passages[0][1] - len(row["text"][:PASSAGE_CHARACTERS])
        span = (shift + begin, shift + begin + len(question["answer"]))
        if window.text[slice(*span)] != question["answer"]:
            continue  # beyond what a window keeps of a passage
        needed = tuple(int(b <= span[0] < e) for b, e, _ in window.sentences)
        yield ReadingTask(question["question"], window, SPAN, (span,), needed, "squad")


def _supported(folder: Path, rng: random.Random, repeats: int, limit: int) -> Iterator[ReadingTask]:
    corpus = {row["id"]: row for row in read_rows(folder / "corpus.jsonl.gz")}
    rows = read_rows(folder / "train.jsonl.gz")
    neighbours = bm25_neighbours(corpus, [row["question"] for row in rows], depth=10)
    for row, near in zip(rows, neighbours, strict=True):
        gold = [corpus[i] for i in row["supporting"] if i in corpus]
        wrong = wrong_passages(row, near, corpus)
        for _ in range(repeats):
            if wrong and rng.random() < 0.12:  # what a window without the answer looks like
                yield _task(row, rng.sample(wrong, min(3, len(wrong))), [], limit, folder.name)
                continue
            shown = _fitting([*gold, *rng.sample(wrong, min(rng.choice((0, 1, 1, 2)), len(wrong)))], limit)
            rng.shuffle(shown)
            yield _task(row, shown, gold, limit, folder.name)


def _fitting(passages: Sequence[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """The first of ``passages`` and those after it that still fit into one window."""
    kept: list[dict[str, Any]] = []
    used = 0
    for passage in passages:
        size = len(passage["title"]) + min(len(passage["text"]), PASSAGE_CHARACTERS) + 3
        if not kept or used + size <= limit:
            kept.append(passage)
            used += size
    return kept


def _task(
    row: dict[str, Any], shown: Sequence[dict[str, Any]], gold: Sequence[dict[str, Any]], limit: int, origin: str
) -> ReadingTask:
    [window, *_] = pack([(p["title"], p["text"]) for p in shown], max(limit, len(shown[0]["text"])))
    inside = {index for _, _, index in window.passages}
    right = {i for i, p in enumerate(shown) if p in gold}
    marks = [mark["sentence"] for mark in row.get("evidence", ())]
    needed = tuple(_is_needed(window.text[b:e], index, right, marks) for b, e, index in window.sentences)
    answer = row["answers"][0].strip().lower() if row["answers"] else ""
    if not gold or not right & inside:
        return ReadingTask(row["question"], window, SPAN, (), tuple(0 for _ in needed), origin)
    if answer in ("yes", "no"):
        return ReadingTask(row["question"], window, YES if answer == "yes" else NO, (), needed, origin)
    return ReadingTask(row["question"], window, SPAN, _places(row["answers"], window, right, needed), needed, origin)


def _is_needed(sentence: str, passage: int, right: set[int], marks: Sequence[str]) -> int:
    if passage not in right:
        return 0
    if not marks:
        return -1
    return int(any(sentence in mark or mark.strip() in sentence for mark in marks))


def _places(answers: Sequence[str], window: Packed, right: set[int], needed: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Where an answer stands in the right passages: in needed sentences if there, else in titles and elsewhere."""
    regions = [(b, e) for b, e, index in window.passages if index in right]
    found = []
    for answer in answers:
        for match in re.finditer(rf"(?<!\w){re.escape(answer.strip())}(?!\w)", window.text, re.IGNORECASE):
            if any(b <= match.start() < e for b, e in regions):
                found.append(match.span())
    best = [s for s in found if any(b <= s[0] < e for (b, e, _), n in zip(window.sentences, needed, strict=True) if n == 1)]
    return tuple(best or found)
