"""Asks the commonest questions of each article, and compares what is quoted with what a careful adviser would read out.

    python -m benchmarks.common [--limit N] [--read N] [--out FILE.json]

benchmarks/written/common.jsonl holds six questions an article, each with its ideal answer: the one to five sentences, list items
or table rows that answer, the most important first. One question of each article is held out (drawn with seed 13 among those
that share at most half of their content words with any other) and measured here; the others train the models and stand in
asked.jsonl. Every second of the held-out ones is in the fit of models/relevance/blend.json (benchmarks.fit), so the others have a
column of their own. All were written by a language model that saw the articles and nothing else: the figures tell how far the
held-out ones are answered as that writer would, no more.

For every second held-out question (those of the fit) all that was found for it was judged besides: what to say, what is fine
beside it, what is bad there, being true of another case, and what is merely beside the point (judged-held-out.jsonl, by a
language model that saw the sentences and not which of them are said; it has whole sentences, judged.jsonl their beginnings). The
last lines of the table are the shares of what is said; what is said and was not found then has no judgement.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lqr.app import build
from lqr.settings import ROOT, Settings
from lqr.text import holds, plain
from lqr.training.judged_pairs import LABELS, Judged, read_judged
from lqr.types import Answer, Asked, Claim

COMMON = ROOT / "benchmarks" / "written" / "common.jsonl"
JUDGED = ROOT / "benchmarks" / "written" / "judged-held-out.jsonl"
SEED = 13
UNJUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class Common:
    """A question and what answers it, the most important first; ``document`` is the article that it was written for."""

    question: str
    document: str
    answer: tuple[Asked, ...]
    held_out: bool


def read(path: Path = COMMON) -> list[Common]:
    """The rows of the file, in its order."""
    rows = []
    for line in filter(str.strip, path.read_text(encoding="utf-8").split("\n")):
        row = json.loads(line)
        answer = tuple(Asked(row["question"], piece["document"], piece["contains"]) for piece in row["answer"])
        rows.append(Common(row["question"], row["document"], answer, bool(row.get("held_out"))))
    return rows


def in_the_fit() -> list[Common]:
    """Every second of the held-out questions: those that :mod:`benchmarks.fit` sees."""
    return [row for row in read() if row.held_out][::2]


def verdicts(claims: Sequence[Claim], judged: Judged) -> list[str]:
    """The judgement of each claim, by what it quotes."""
    names = judged.by_text()
    return [names.get(plain(claim.quotes[0]), UNJUDGED) if claim.quotes else UNJUDGED for claim in claims]


def score(row: Common, answer: Answer, judged: Judged | None = None) -> dict[str, Any]:
    """What ``answer`` says of the ideal one; a refusal says nothing."""
    claims = [] if answer.refused else [plain(claim.text) for claim in answer.claims]
    said = [any(holds(claim, item.snippet) for claim in claims) for item in row.answer]
    fitting = [any(holds(claim, item.snippet) for item in row.answer) for claim in claims]
    return {
        "question": row.question,
        "document": row.document,
        "refused": answer.refused,
        "said": said,
        "fitting": fitting,
        "found": _found(row, answer),
        "verdicts": verdicts(answer.claims, judged) if judged and not answer.refused else [],
        "answer": answer.text,
    }


def _found(row: Common, answer: Answer) -> bool:
    """Whether a passage that holds the most important piece is among the first five kept."""
    return any(holds(plain(hit.passage.text), row.answer[0].snippet) for hit in answer.trace.kept[:5])


def table(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The figures, from the rows alone."""
    answered = [row for row in rows if not row["refused"]]

    def share(values: Sequence[bool]) -> float:
        return round(100 * sum(values) / max(len(values), 1), 1)

    return {
        "questions": len(rows),
        "refused": share([row["refused"] for row in rows]),
        "most important piece in the first five passages": share([row["found"] for row in rows]),
        "most important piece said": share([row["said"][0] for row in rows]),
        "any piece said": share([any(row["said"]) for row in rows]),
        "pieces said": share([value for row in rows for value in row["said"]]),
        "first sentence is one of the pieces": share([row["fitting"][0] for row in answered if row["fitting"]]),
        "sentences that are one of the pieces": share([value for row in answered for value in row["fitting"]]),
        "sentences of an answer": round(sum(len(row["fitting"]) for row in answered) / max(len(answered), 1), 2),
        **_judged([verdict for row in answered for verdict in row["verdicts"]], share),
    }


def _judged(said: Sequence[str], share: Callable[[Sequence[bool]], float]) -> dict[str, Any]:
    """The shares of what is said by judgement; nothing where nothing was judged."""
    return {f"judged: {name}": share([verdict == name for verdict in said]) for name in (*LABELS, UNJUDGED)} if said else {}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, help="only so many of the held-out questions, drawn with the seed")
    parser.add_argument("--read", type=int, default=0, help="print so many whole answers, drawn with the seed")
    parser.add_argument("--out", type=Path, help="write every row here")
    options = parser.parse_args(argv)
    held = [row for row in read() if row.held_out]
    fitted = {row.question for row in in_the_fit()}
    if options.limit:
        held = random.Random(SEED).sample(held, min(options.limit, len(held)))
    judged = {row.question: row for row in read_judged(JUDGED)}
    application = build(Settings.load())
    try:
        rows = [score(row, application.pipeline.ask(row.question), judged.get(row.question)) for row in held]
    finally:
        application.close()
    tables = {"table": table(rows), "not fitted on": table([row for row in rows if row["question"] not in fitted])}
    print(f"{'':50} {'all':>8} {'not fitted on':>15}")
    for key, value in tables["table"].items():
        print(f"{key:50} {value:8} {tables['not fitted on'].get(key, ''):15}")
    if options.out:
        options.out.write_text(json.dumps({**tables, "rows": rows}, indent=1, ensure_ascii=False) + "\n")
    for row in random.Random(SEED).sample(rows, min(options.read, len(rows))):
        print(
            f"\n=== {row['document']}\nQ: {row['question']}\nA: {row['answer']}\n   said {row['said']}, fitting {row['fitting']}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
