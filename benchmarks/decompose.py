"""Measures the decomposer on questions of exactly two steps: retrieval it leads to, and agreement with annotated decompositions.

    python -m benchmarks.decompose --data DIR [--split test|train] [--limit N] [--out FILE.json]
    python -m benchmarks.decompose --data DIR --train FOLDER

DIR holds public sets in the layout that the README describes; musique (2hop) and 2wikimultihopqa (all types of two steps) are
read. Retrieval is BM25 alone, over the set's own corpus, so that the figures show the decomposition and not the models around
it. ``undivided`` is the question as it stands; ``two steps`` takes the same second step without a decomposition, so the
difference to it is what the splitting itself brings; ``annotated`` is the set's own decomposition, the ceiling.
``all_gold@5`` counts five passages in all; ``all_gold_pool`` the first five of every retrieval, ``pool`` being their number.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from lqr.decompose import decompose, load_decomposer
from lqr.evaluation.datasets import read_rows
from lqr.retrieval.bm25 import BM25Index, best
from lqr.retrieval.tokenizer import tokenize
from lqr.settings import Settings
from lqr.text import content_words, sentences
from lqr.training.decomposer import annotated, fit
from lqr.types import Decomposition

SEED = 13
WEIGHTS = (1.0, 2.0, 4.0)  # of the names in the second step; the best on training questions is taken
TUNED_ON = 150  # of these
K = 5  # passages of each retrieval, and of the final list
SEEDS = 3  # first-step passages d_i that lead to a second step
DEPTH = 20  # passages that a retrieval ranks
SETS = ("musique", "2wikimultihopqa")

Split = Callable[[str], Decomposition]


@dataclass(frozen=True, slots=True)
class Found:
    """What the retrievals of one question found: the final ``K``, and all of every list's first ``K``."""

    final: tuple[str, ...]
    pool: frozenset[str]


class Corpus:
    """BM25 over one set's passages."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Index ``rows``, each with ``id``, ``title`` and ``text``."""
        self.ids = [str(row["id"]) for row in rows]
        self.titles = [str(row["title"]) for row in rows]
        self.texts = [str(row["text"]) for row in rows]
        terms = [tokenize(f"{title}. {text}") for title, text in zip(self.titles, self.texts, strict=True)]
        self.index = BM25Index.build(terms)
        self.frequency = Counter(term for row in terms for term in set(row))

    def idf(self, term: str) -> float:
        """Inverse document frequency of an index term, as BM25 takes it."""
        count = self.frequency[term]
        return math.log(1 + (len(self.ids) - count + 0.5) / (count + 0.5))

    def gist(self, row: int, question: str) -> str:
        """The sentence of a passage that shares most with ``question``, by idf; the earliest of equals."""
        wanted = set(tokenize(question))
        spans = sentences(self.texts[row]) or [self.texts[row]]
        return max(spans, key=lambda span: sum(self.idf(term) for term in wanted & set(tokenize(span))))

    def first(self, parts: Decomposition) -> list[tuple[int, float]]:
        """R(q1)."""
        return self.index.search(tokenize(parts.first), DEPTH)

    def second(self, parts: Decomposition, row: int, weight: float) -> list[tuple[int, float]]:
        """R(q1, q2, d_i): q2 with the names of d_i's best sentence, weighted, in the place of ``#1``; without d_i itself."""
        scores = self.index.scores(tokenize(parts.second.replace("#1", " "))).astype(np.float64)
        if "#1" in parts.second:
            asked = set(tokenize(parts.first))
            names = dict.fromkeys([self.titles[row], *names_in(self.gist(row, parts.first))])
            terms = [tokenize(name) for name in names]
            new = [term for name in terms if not set(name) <= asked for term in name]
            if new:
                # shared out: a sentence of many names must not drown what q2 asks
                scores += self.index.scores(new) * (weight / len(new) ** 0.5)
        scores[row] = 0.0
        return best(scores, DEPTH, above=0.0)


_NAME = re.compile(r"\b[A-Z][\w'’.-]*(?:\s+(?:(?:of|the|de|von|van|al|and)\s+)?[A-Z0-9][\w'’.-]*)*")


def names_in(text: str) -> list[str]:
    """Runs of capitalised words, but not a single one that only begins the sentence."""
    return [m.group() for m in _NAME.finditer(text) if m.start() > 0 or " " in m.group()]


def retrieve(corpus: Corpus, question: str, parts: Decomposition | None, weight: float) -> Found:
    """The undivided question (``parts`` None), or R(q1) and then R(q1, q2, d_i).

    A passage of the second step is worth its own score and half that of the d_i that led to it, each as a share of the best.
    """
    if parts is None:
        rows = [row for row, _ in corpus.index.search(tokenize(question), K)]
        return Found(tuple(corpus.ids[row] for row in rows), frozenset(corpus.ids[row] for row in rows))
    first = corpus.first(parts)
    seeds = first[:SEEDS] if "#1" in parts.second else first[:1]
    lists = [corpus.second(parts, row, weight) for row, _ in seeds]
    top = max((found[0][1] for found in lists if found), default=1.0)
    worth: dict[int, float] = {}
    for (_, lead), found in zip(seeds, lists, strict=True):
        for row, score in found:
            worth[row] = max(worth.get(row, 0.0), score / top + lead / first[0][1] / 2)
    later = sorted(worth, key=lambda row: (-worth[row], row))
    pool = {*(row for row, _ in first[:K]), *(row for found in lists for row, _ in found[:K])}
    turns = zip_longest((row for row, _ in first), later)
    final = list(dict.fromkeys(row for pair in turns for row in pair if row is not None))[:K]
    return Found(tuple(corpus.ids[row] for row in final), frozenset(corpus.ids[row] for row in pool))


def content_f1(said: str, wanted: str) -> float:
    """Harmonic mean of precision and recall of the stemmed content words, as sets."""
    mine, theirs = (set(tokenize(" ".join(content_words(text)))) for text in (said, wanted))
    common = len(mine & theirs)
    return 2 * common / (len(mine) + len(theirs)) if common else 0.0


def agreement(parts: Decomposition, first: str, second: str) -> float:
    """Mean content-word F1 of both parts; a comparison's parts may come in either order."""
    straight = content_f1(parts.first, first) + content_f1(parts.second, second)
    crossed = content_f1(parts.first, second) + content_f1(parts.second, first) if "#1" not in second else 0.0
    return max(straight, crossed) / 2


def questions(data: Path, name: str, split: str, limit: int = 0) -> list[dict[str, Any]]:
    """Rows of exactly two steps with both gold passages known."""
    rows = [row for row in read_rows(data / name / f"{split}.jsonl.gz") if len(set(row["supporting"])) == 2 and annotated(row)]
    rows = [row for row in rows if name != "musique" or row["type"] == "2hop"]
    return random.Random(SEED).sample(rows, limit) if 0 < limit < len(rows) else rows


def measure(rows: Sequence[Mapping[str, Any]], corpus: Corpus, split: Split | None, weight: float) -> list[dict[str, Any]]:
    """One result row a question."""
    out = []
    for row in rows:
        wanted = annotated(row)
        assert wanted is not None
        began = time.perf_counter()
        parts = split(str(row["question"])) if split else None
        seconds = time.perf_counter() - began
        found = retrieve(corpus, str(row["question"]), parts, weight)
        gold = set(row["supporting"])
        out.append(
            {
                "id": row["id"],
                "question": row["question"],
                "type": row["type"],
                "machine": wanted.machine,
                "first": parts.first if parts else "",
                "second": parts.second if parts else "",
                "method": parts.method if parts else "",
                "all_gold": gold <= set(found.final),
                "all_gold_pool": gold <= found.pool,
                "pool": len(found.pool),
                "agreement": agreement(parts, wanted.first, wanted.second) if parts else None,
                "operator_right": ("#1" in parts.second) == (wanted.operator == "bridge") if parts else None,
                "seconds": seconds,
            }
        )
    return out


def summarise(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Shares in per cent; agreement only with steps that a person or model wrote, not with those made of triples."""

    def share(values: Sequence[Any]) -> float | None:
        return round(100 * sum(values) / len(values), 1) if values else None

    return {
        "n": len(rows),
        "all_gold@5": share([r["all_gold"] for r in rows]),
        "all_gold_pool": share([r["all_gold_pool"] for r in rows]),
        "pool": round(sum(r["pool"] for r in rows) / max(1, len(rows)), 1),
        "agreement": share([r["agreement"] for r in rows if r["agreement"] is not None and not r["machine"]]),
        "operator": share([r["operator_right"] for r in rows if r["operator_right"] is not None]),
    }


def splitters(rows: Sequence[Mapping[str, Any]], settings: Settings) -> dict[str, Split | None]:
    """What is compared, by name."""
    known = {str(row["question"]): annotated(row) for row in rows}

    def gold(question: str) -> Decomposition:
        wanted = known[question]
        assert wanted is not None
        return Decomposition(wanted.first, wanted.second, "annotated")

    decomposer, _ = load_decomposer(settings)
    return {
        "undivided": None,
        "two steps": lambda question: Decomposition(question, f"{question} #1", "undivided"),
        "rules": decompose,
        "decomposer": decomposer,
        "annotated": gold,
    }


def tuned(data: Path, name: str, corpus: Corpus, settings: Settings) -> float:
    """The weight of names that finds most with the annotated steps of training questions."""
    rows = questions(data, name, "train", TUNED_ON)
    gold = splitters(rows, settings)["annotated"]
    found = {weight: summarise(measure(rows, corpus, gold, weight))["all_gold@5"] for weight in WEIGHTS}
    return max(WEIGHTS, key=lambda weight: (found[weight], -weight))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", choices=("test", "train"), default="test")
    parser.add_argument("--limit", type=int, default=0, help="only this many questions of each set, drawn with the seed")
    parser.add_argument("--train", type=Path, metavar="FOLDER", help="train the model of spans into FOLDER instead")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(argv)
    if options.train:
        print(json.dumps(fit(options.data, options.train, seed=SEED), indent=1))
        return 0
    settings = Settings.load()
    report: dict[str, Any] = {"seed": SEED, "split": options.split, "date": time.strftime("%Y-%m-%d"), "summary": {}, "rows": {}}
    for name in SETS:
        corpus = Corpus(read_rows(options.data / name / "corpus.jsonl.gz"))
        weight = tuned(options.data, name, corpus, settings)
        rows = questions(options.data, name, options.split, options.limit)
        print(f"{name}: {len(rows)} questions, {len(corpus.ids)} passages, names weigh {weight}", flush=True)
        for label, split in splitters(rows, settings).items():
            results = measure(rows, corpus, split, weight)
            report["rows"][f"{name} {label}"] = results
            report["summary"][f"{name} {label}"] = summary = summarise(results)
            print(f"  {label:12} " + "  ".join(f"{key} {value}" for key, value in summary.items()), flush=True)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
