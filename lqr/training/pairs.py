"""Builds (question, text, label) pairs for the relevance and evidence models from a data folder.

The layout of the folder is the one of the README ("Data for training and evaluation"): gzipped JSON lines per set. A
pair is *relevant* when the text holds the annotated answer or is an annotated supporting passage or sentence. Negatives
are hard on purpose: other sentences of the same paragraph, the set's own distractors, and BM25 neighbours without the
answer. A multi-hop question also comes in second-step form, with the first passage behind it, and in its steps.
Knows nothing of models or of how the pairs are trained on. Only ``train`` splits are read.
"""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lqr.classifiers.relevance import second_step
from lqr.errors import ReadError
from lqr.text import sentence_spans


@dataclass(frozen=True, slots=True)
class Pair:
    """``label`` is 1.0 if ``text`` (with its ``title``) helps to answer ``question``."""

    question: str
    title: str
    text: str
    label: float
    origin: str


def read_rows(path: Path) -> list[dict[str, Any]]:
    """All rows of a gzipped JSON-lines file.

    Raises:
        ReadError: the file is missing or a line is not JSON.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.strip()]
    except (OSError, EOFError, zlib.error, ValueError) as error:  # EOFError: cut off in the middle
        raise ReadError(f"{path.name}: not a readable .jsonl.gz ({error}); pass the folder that holds it with --data") from error


def build(data: Path, *, seed: int = 13, squad_paragraphs: int = 18849) -> list[Pair]:
    """Every training pair, shuffled. ``squad_paragraphs`` caps the largest set."""
    rng = random.Random(seed)
    pairs = [
        *_squad(data, rng, squad_paragraphs),
        *_supported(data / "natural_questions", rng, hard=1),
        *_supported(data / "hotpotqa", rng, hard=5),
        *_supported(data / "2wikimultihopqa", rng, hard=3),
        *_supported(data / "musique", rng, hard=4),
        *_supported(data / "agxqa", rng, hard=3),
    ]
    rng.shuffle(pairs)
    return pairs


def _squad(data: Path, rng: random.Random, limit: int) -> Iterator[Pair]:
    rows = read_rows(data / "squad" / "train_paragraphs.jsonl.gz")
    rng.shuffle(rows)
    rows = rows[:limit]
    by_title: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        by_title.setdefault(row["title"], []).append(index)
    for row in rows:
        spans = sentence_spans(row["text"])
        asked = rng.sample(row["questions"], k=min(2, len(row["questions"])))
        if not asked:
            continue
        for question in asked:
            at = question["answer_start"]
            holds = [s <= at < e for s, e in spans]
            others = [
                i
                for i, held in enumerate(holds)
                if not held and question["answer"].lower() not in row["text"][slice(*spans[i])].lower()
            ]
            for i, held in enumerate(holds):
                if held:
                    yield Pair(question["question"], row["title"], row["text"][slice(*spans[i])], 1.0, "squad-sentence")
            for i in rng.sample(others, k=min(2, len(others))):
                yield Pair(question["question"], row["title"], row["text"][slice(*spans[i])], 0.0, "squad-sentence")
        question = asked[0]
        yield Pair(question["question"], row["title"], row["text"], 1.0, "squad-passage")
        siblings = [
            i for i in by_title[row["title"]] if rows[i] is not row and question["answer"].lower() not in rows[i]["text"].lower()
        ]
        if siblings:
            # the sibling that shares most words is the one a retriever would confuse it with
            asked_words = set(question["question"].lower().split())
            pool = rng.sample(siblings, k=min(12, len(siblings)))
            best = max(pool, key=lambda i: len(asked_words & set(rows[i]["text"].lower().split())))
            yield Pair(question["question"], row["title"], rows[best]["text"], 0.0, "squad-passage")


def _supported(folder: Path, rng: random.Random, hard: int) -> Iterator[Pair]:
    """Pairs of a set that names its supporting passages, in every form that the set has."""
    corpus = {row["id"]: row for row in read_rows(folder / "corpus.jsonl.gz")}
    rows = read_rows(folder / "train.jsonl.gz")
    neighbours = bm25_neighbours(corpus, [row["question"] for row in rows], depth=12)
    for row, near in zip(rows, neighbours, strict=True):
        gold = [corpus[i] for i in row["supporting"] if i in corpus]
        wrong = wrong_passages(row, near, corpus)
        negatives = rng.sample(wrong, k=min(max(hard, len(gold)), len(wrong)))
        for passage in gold:
            yield Pair(row["question"], passage["title"], passage["text"], 1.0, folder.name)
        for passage in negatives:
            yield Pair(row["question"], passage["title"], passage["text"], 0.0, folder.name)
        yield from second_step_pairs(row["question"], gold, wrong, folder.name, rng)
        yield from _sub_question_pairs(row, corpus, wrong, folder.name, rng)
        yield from _sentence_pairs(row, corpus, negatives, folder.name, rng)


def wrong_passages(row: dict[str, Any], near: Sequence[str], corpus: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What may serve as a negative: the set's own distractors, else near passages that do not hold the answer."""
    distractors = [i for i in row.get("distractors", ()) if i in corpus and i not in row["supporting"]]
    if distractors:
        return [corpus[i] for i in distractors]
    answers = [a.lower() for a in row["answers"] if len(a) > 3]
    wrong = [corpus[i] for i in near if i in corpus and i not in row["supporting"]]
    return [p for p in wrong if not any(a in p["text"].lower() for a in answers)]


def second_step_pairs(
    question: str, gold: Sequence[dict[str, Any]], wrong: Sequence[dict[str, Any]], origin: str, rng: random.Random
) -> Iterator[Pair]:
    """For each supporting passage as the first one found: another supporting passage, and a wrong one (paper, section 3.2)."""
    if len(gold) < 2:
        return
    for first in gold:
        asked = second_step(question, first["title"], first["text"])
        other = rng.choice([p for p in gold if p is not first])
        yield Pair(asked, other["title"], other["text"], 1.0, f"{origin}-second")
        for passage in rng.sample(list(wrong), k=min(1, len(wrong))):
            yield Pair(asked, passage["title"], passage["text"], 0.0, f"{origin}-second")


def _sub_question_pairs(
    row: dict[str, Any], corpus: dict[str, dict[str, Any]], wrong: Sequence[dict[str, Any]], origin: str, rng: random.Random
) -> Iterator[Pair]:
    """Each step of an annotated decomposition, its ``#n`` filled in, with its own passage and another step's or a wrong one."""
    steps = row.get("decomposition") or ()
    for step in steps:
        if ">>" in step["question"]:  # "entity >> relation" is no question that anyone asks
            continue
        question = step["question"]
        for number, earlier in enumerate(steps, start=1):
            question = question.replace(f"#{number}", str(earlier.get("answer", "")))
        mine = [i for i in step.get("supporting") or () if i in corpus]
        others = [corpus[i] for i in row["supporting"] if i in corpus and i not in mine] or list(wrong)
        for i in mine[:1]:
            yield Pair(question, corpus[i]["title"], corpus[i]["text"], 1.0, f"{origin}-step")
            for passage in rng.sample(others, k=min(1, len(others))):
                yield Pair(question, passage["title"], passage["text"], 0.0, f"{origin}-step")


def _sentence_pairs(
    row: dict[str, Any], corpus: dict[str, dict[str, Any]], negatives: Sequence[dict[str, Any]], origin: str, rng: random.Random
) -> Iterator[Pair]:
    """Annotated sentences, with others of the same passages."""
    for mark in row.get("evidence", []):
        if mark["passage"] not in corpus:
            continue
        passage = corpus[mark["passage"]]
        yield Pair(row["question"], passage["title"], mark["sentence"], 1.0, f"{origin}-sentence")
        rest = [passage["text"][s:e] for s, e in sentence_spans(passage["text"])]
        marked = {m["sentence"] for m in row["evidence"]}
        rest = [s for s in rest if s not in marked and not any(s in m or m in s for m in marked)]
        for sentence in rng.sample(rest, k=min(1, len(rest))):
            yield Pair(row["question"], passage["title"], sentence, 0.0, f"{origin}-sentence")
    if row.get("evidence") and negatives:
        passage = rng.choice(list(negatives))
        spans = sentence_spans(passage["text"])
        if spans:
            yield Pair(row["question"], passage["title"], passage["text"][slice(*spans[0])], 0.0, f"{origin}-sentence")


def bm25_neighbours(corpus: dict[str, dict[str, Any]], questions: list[str], depth: int) -> list[list[str]]:
    """For each question the ids of its ``depth`` nearest rows of ``corpus`` by BM25, best first."""
    import bm25s

    ids = list(corpus)
    index = bm25s.BM25()
    index.index(
        bm25s.tokenize([f"{row['title']}. {row['text']}" for row in corpus.values()], show_progress=False), show_progress=False
    )
    found, _ = index.retrieve(bm25s.tokenize(questions, show_progress=False), k=min(depth, len(ids)), show_progress=False)
    return [[ids[i] for i in row] for row in found]
