"""Measures models/relevance on test pairs of the public sets, question and passage alone.

    python -m benchmarks.relevance --data DIR [--model DIR] [--limit N] [--out FILE.json]

A pair is balanced: for each question one supporting passage and one of the set's distractors (or, where a set has none,
the best BM25 neighbour that does not hold the answer). Test splits only; nothing here was trained on.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lqr.classifiers.relevance import CrossEncoderRelevance
from lqr.settings import ROOT
from lqr.training.cross_encoder import calibration_error, scores
from lqr.training.pairs import Pair, bm25_neighbours, read_rows

SEED = 13
SETS = ("hotpotqa", "2wikimultihopqa", "musique", "natural_questions", "squad", "agxqa")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=ROOT / "models" / "relevance")
    parser.add_argument("--limit", type=int, default=200, help="questions a set, drawn with the seed")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(argv)
    model = CrossEncoderRelevance(options.model)
    summary: dict[str, Any] = {}
    rows = []
    for name in SETS:
        pairs = test_pairs(options.data / name, options.limit)
        began = time.perf_counter()
        found = np.array(model.score_many([(p.question, (p.title, p.text)) for p in pairs]))
        seconds = time.perf_counter() - began
        labels = np.array([p.label for p in pairs])
        logits = np.log(np.clip(found, 1e-6, 1 - 1e-6)) - np.log1p(-np.clip(found, 1e-6, 1 - 1e-6))
        positive, negative = found[labels == 1], found[labels == 0]
        auc = float((positive[:, None] > negative[None, :]).mean())
        figures = {k: round(v, 4) for k, v in scores(logits, labels).items()}
        summary[name] = {
            "n": len(pairs),
            **figures,
            "auc": round(auc, 4),
            "ece": calibration_error(logits, labels),
            "ms_a_pair": round(1000 * seconds / len(pairs), 1),
        }
        print(f"{name:20} {summary[name]}", flush=True)
        rows += [
            {"set": name, "question": p.question, "title": p.title, "label": p.label, "probability": float(s)}
            for p, s in zip(pairs, found, strict=True)
        ]
    if options.out:
        record = {
            "settings": {"limit": options.limit, "model": options.model.name},
            "seed": SEED,
            "date": time.strftime("%Y-%m-%d"),
            "summary": summary,
            "rows": rows,
        }
        options.out.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


def test_pairs(folder: Path, limit: int) -> list[Pair]:
    """Balanced pairs of the test split of one set."""
    rng = random.Random(SEED)
    corpus = {row["id"]: row for row in read_rows(folder / "corpus.jsonl.gz")}
    asked = read_rows(folder / "test.jsonl.gz")
    asked = rng.sample(asked, min(limit, len(asked)))
    near = bm25_neighbours(corpus, [row["question"] for row in asked], depth=12)
    pairs = []
    for row, neighbours in zip(asked, near, strict=True):
        gold = [i for i in row["supporting"] if i in corpus]
        answers = [a.lower() for a in row["answers"] if len(a) > 3]
        wrong = [i for i in (row.get("distractors") or neighbours) if i in corpus and i not in gold]
        wrong = [i for i in wrong if not any(a in corpus[i]["text"].lower() for a in answers)]
        if gold and wrong:
            for i, label in ((rng.choice(gold), 1.0), (rng.choice(wrong) if row.get("distractors") else wrong[0], 0.0)):
                pairs.append(Pair(row["question"], corpus[i]["title"], corpus[i]["text"], label, folder.name))
    return pairs


if __name__ == "__main__":
    sys.exit(main())
