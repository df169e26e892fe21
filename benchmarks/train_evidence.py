"""Trains models/evidence in its two steps: which sentences of a passage a careful adviser would read out.

    python -m benchmarks.train_evidence --data DIR --step 1 [--out DIR]   -> OUT/step1, from models/relevance
    python -m benchmarks.train_evidence --data DIR --step 2 [--out DIR]   -> OUT/step2, from OUT/step1

Step 1 takes written questions of asked.jsonl, which name one unit each, and supporting sentences of HotpotQA and 2WikiMultiHopQA.
Step 2 takes benchmarks/written/judged.jsonl, where a language model acting as an adviser judged every unit of the passages that
were found for a question (say, fine, bad, or nothing), and a little of step 1 again; every tenth of its questions is held out.
Near-duplicates of questions.jsonl and the held-out common questions are in neither. Half an hour each on two cores.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common import read
from benchmarks.train_relevance import measured_on
from lqr.app import Application, build
from lqr.corpus.asked import FILE_NAME, read_asked
from lqr.settings import ROOT, Settings
from lqr.training import asked_pairs
from lqr.training.cross_encoder import TrainConfig
from lqr.training.evidence import train
from lqr.training.evidence_windows import (
    Judged,
    Marked,
    answered_windows,
    asked_windows,
    judged_windows,
    public_windows,
    read_judged,
)
from lqr.types import Asked, Passage

JUDGED = ROOT / "benchmarks" / "written" / "judged.jsonl"
SEED = 13
ASKED, PUBLIC = {1: 2200, 2: 400}, {1: 300, 2: 60}  # written questions, and questions of each public set, in each step
HELD_JUDGED = 90  # judged questions held out in step 2
HELD_ASKED = 160  # written questions held out in step 1


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--step", type=int, choices=(1, 2), required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "evidence")
    options = parser.parse_args(argv)
    application = build(Settings.load())
    try:
        training, held_out = windows(application, options.data, options.step)
    finally:
        application.close()
    print(f"{len(training)} windows, {len(held_out)} held out", flush=True)
    config = TrainConfig(
        base=str(ROOT / "models" / "relevance" if options.step == 1 else options.out / "step1"),
        out=options.out / f"step{options.step}",
        learning_rate=8e-5,
        max_tokens=224,
        eval_every=50,
        frozen=2,
        seed=SEED,
    )
    print(train(training, held_out, config))
    return 0


def windows(application: Application, data: Path, step: int) -> tuple[list[Marked], list[Marked]]:
    """Training and held-out windows of a step."""
    rng = random.Random(SEED)
    measured = measured_on(application)
    common = {row.question for row in read() if row.held_out}
    passages = _passages(application)
    judged = [row for row in judged_questions(measured) if row.question not in common]
    done = {row.question for row in judged} | common
    asked = [
        item
        for item in asked_pairs.without_test(read_asked(application.settings.knowledge / "agriculture" / FILE_NAME), measured)
        if item.question not in done
    ]
    rng.shuffle(asked)
    back, asked = asked[:HELD_ASKED], asked[HELD_ASKED:]
    training = asked_windows(rng.sample(asked, min(ASKED[step], len(asked))), passages)
    for name in ("hotpotqa", "2wikimultihopqa"):
        training += public_windows(data / name, rows=PUBLIC[step])
    held_out = asked_windows(back, passages)
    if step == 2:
        rng.shuffle(judged)
        back, judged = judged[:HELD_JUDGED], judged[HELD_JUDGED:]
        told = {row.question for row in (*back, *judged)}
        answers = {row.question: row.answer for row in read() if not row.held_out and row.question not in told}
        kept = {i.question for i in asked_pairs.without_test([Asked(question, "", "") for question in answers], measured)}
        wanted = {question: answers[question] for question in answers if question in kept}
        training += answered_windows(wanted, passages, lambda q: [hit.passage for hit in application.retriever.search(q, 8)])
        training += judged_windows(judged, passages)
        held_out = judged_windows(back, passages)
    rng.shuffle(training)
    return training, held_out


def judged_questions(measured: Sequence[str]) -> list[Judged]:
    """The judged questions, without near-duplicates of ``measured``; none where the file is not there yet."""
    rows = read_judged(JUDGED) if JUDGED.is_file() else []
    kept = {item.question for item in asked_pairs.without_test([Asked(row.question, "", "") for row in rows], measured)}
    return [row for row in rows if row.question in kept]


def _passages(application: Application) -> dict[str, list[Passage]]:
    sources = {info.id: info.source.removesuffix(".md") for info in application.store.documents()}
    passages: dict[str, list[Passage]] = {}
    for passage in application.store.all_passages():
        passages.setdefault(sources[passage.document_id], []).append(passage)
    return passages


if __name__ == "__main__":
    sys.exit(main())
