"""How well the reader reads: answers of SQuAD's test half with the gold paragraph given, and HotpotQA's supporting facts.

Exact match and token F1 are those of SQuAD's script; the supporting-fact F1 is HotpotQA's (Yang et al. 2018, section 5.2):
chosen against annotated sentences, a question at a time, all ten passages shown.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lqr.classifiers.reader import Reader
from lqr.classifiers.relevance import RelevanceModel, second_step
from lqr.evaluation.metrics import exact_match, token_f1
from lqr.training.pairs import read_rows
from lqr.types import Passage

READ = 4  # of ten passages, those that the reader sees in one or two windows
CHOSEN = 0.5  # probability from which a sentence is chosen


def reader_results(model: Reader, data: Path, limit: int, seed: int, *, split: str = "test") -> dict[str, Any]:
    """EM and F1 on SQuAD's questions, each with its gold paragraph alone."""
    rows, corpus = (_squad_test if split == "test" else _squad_train)(data / "squad")
    scored = []
    for row in _sample(rows, limit, seed):
        passages = [_passage(corpus[i]) for i in row["supporting"] if i in corpus]
        answer = model.answer(row["question"], passages).text
        scores = {"em": exact_match(answer, row["answers"]), "f1": token_f1(answer, row["answers"])}
        scored.append({"id": row["id"], "question": row["question"], "answers": row["answers"], "prediction": answer, **scores})
    return {"summary": {"n": len(scored), "em": _mean(scored, "em"), "f1": _mean(scored, "f1")}, "rows": scored}


def evidence_results(
    model: Reader,
    relevance: RelevanceModel,
    data: Path,
    limit: int,
    seed: int,
    *,
    split: str = "test",
    threshold: float = CHOSEN,
) -> dict[str, Any]:
    """Supporting-fact F1 on HotpotQA: the ten passages are ordered by the relevance model, the best ``READ`` are read."""
    corpus = {row["id"]: row for row in read_rows(data / "hotpotqa" / "corpus.jsonl.gz")}
    rows = [row for row in read_rows(data / "hotpotqa" / f"{split}.jsonl.gz") if row.get("evidence")]
    scored = []
    for row in _sample(rows, limit, seed):
        shown = [_passage(corpus[i]) for i in (*row["supporting"], *row.get("distractors", ())) if i in corpus]
        random.Random(seed).shuffle(shown)  # the order must tell nothing
        best = order(relevance, row["question"], shown)[:READ]
        found = model.evidence(row["question"], best)
        chosen = [(e.passage_id, e.sentence) for e in found if e.probability >= threshold]
        if len(chosen) < 2:  # HotpotQA's questions always need two sentences
            chosen = [(e.passage_id, e.sentence) for e in sorted(found, key=lambda e: -e.probability)[:2]]
        wanted = [(mark["passage"], mark["sentence"].strip()) for mark in row["evidence"]]
        scored.append({"id": row["id"], "question": row["question"], "chosen": chosen, "wanted": wanted, **facts(chosen, wanted)})
    return {"summary": {"n": len(scored), "em": _mean(scored, "em"), "f1": _mean(scored, "f1")}, "rows": scored}


def order(relevance: RelevanceModel, question: str, passages: Sequence[Passage]) -> list[Passage]:
    """``passages`` best first: the best for the question, then those that help once the best has been read."""
    alone = relevance.score(question, [(p.topic, p.text) for p in passages])
    ranked = sorted(range(len(passages)), key=lambda i: -alone[i])
    first, rest = passages[ranked[0]], [passages[i] for i in ranked[1:]]
    behind = relevance.score(second_step(question, first.topic, first.text), [(p.topic, p.text) for p in rest])
    total = {p.id: behind[i] + alone[ranked[i + 1]] for i, p in enumerate(rest)}
    return [first, *sorted(rest, key=lambda p: -total[p.id])]


def facts(chosen: Sequence[tuple[str, str]], wanted: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Exact match and F1 of sentences; one that holds the other, in the same passage, counts as the same."""

    def same(one: tuple[str, str], other: tuple[str, str]) -> bool:
        return one[0] == other[0] and (one[1].strip() in other[1] or other[1] in one[1])

    right = sum(any(same(c, w) for w in wanted) for c in chosen)
    found = sum(any(same(c, w) for c in chosen) for w in wanted)
    precision, recall = right / max(1, len(chosen)), found / max(1, len(wanted))
    exact = float(right == len(chosen) and found == len(wanted))
    return {"em": exact, "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0}


def _squad_test(folder: Path) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    return read_rows(folder / "test.jsonl.gz"), {row["id"]: row for row in read_rows(folder / "corpus.jsonl.gz")}


def _squad_train(folder: Path) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """The questions of the training paragraphs in the form of the test split: each paragraph gets its number as its id."""
    rows: list[dict[str, Any]] = []
    corpus: dict[str, dict[str, Any]] = {}
    for number, paragraph in enumerate(read_rows(folder / "train_paragraphs.jsonl.gz")):
        passage_id = f"train-{number}"
        corpus[passage_id] = {"id": passage_id, "title": paragraph["title"], "text": paragraph["text"]}
        rows += [
            {"id": f"{passage_id}-{i}", "question": q["question"], "answers": [q["answer"]], "supporting": [passage_id]}
            for i, q in enumerate(paragraph["questions"])
        ]
    return rows, corpus


def _passage(row: dict[str, Any]) -> Passage:
    return Passage(str(row["id"]), str(row["id"]), row["title"], (), row["text"], 0, 0, len(row["text"]))


def _sample(rows: list[dict[str, Any]], limit: int, seed: int) -> list[dict[str, Any]]:
    return random.Random(seed).sample(rows, limit) if limit and limit < len(rows) else rows


def _mean(rows: Sequence[dict[str, Any]], key: str) -> float:
    return round(100 * sum(row[key] for row in rows) / len(rows), 2) if rows else float("nan")
