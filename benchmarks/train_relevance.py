"""Trains models/relevance in its two steps, from the public sets and the questions written for the articles.

    python -m benchmarks.train_relevance --data DIR --base MINILM_FOLDER_OR_HUB_ID [--out DIR] [--step 1|2]

Step 1: the public sets and the collection's own headings. Step 2 goes on from step 1 (in OUT/step1) with the written questions
(knowledge/agriculture/asked.jsonl) and 9,000 pairs of step 1 again. About an hour each on two cores. Near-duplicates
of questions.jsonl are left out of step 2; nothing else of that file is read.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from lqr.app import build
from lqr.corpus.asked import FILE_NAME, read_asked
from lqr.settings import ROOT, Settings
from lqr.training import asked_pairs, relevance
from lqr.training.cross_encoder import TrainConfig, train
from lqr.types import Passage

SEED, HELD_OUT, REPLAY = 13, 120, 9000


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--base", default="sentence-transformers/all-MiniLM-L6-v2")
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "relevance")
    parser.add_argument("--step", type=int, choices=(1, 2), default=1)
    options = parser.parse_args(argv)
    application = build(Settings.load())
    passages = application.store.all_passages()
    if options.step == 1:
        config = TrainConfig(base=options.base, out=options.out / "step1", max_tokens=128, eval_every=240, seed=SEED)
        print(relevance.train_relevance(options.data, passages, config))
        return 0
    test = [
        turn["standalone"]
        for line in _lines(application.settings.knowledge / "agriculture" / "questions.jsonl")
        for turn in json.loads(line)["turns"]
    ]
    asked = asked_pairs.without_test(read_asked(application.settings.knowledge / "agriculture" / FILE_NAME), test)
    rng = random.Random(SEED)
    rng.shuffle(asked)
    sources = {info.id: info.source.removesuffix(".md") for info in application.store.documents()}
    by_source: dict[str, list[Passage]] = {}
    for passage in passages:
        by_source.setdefault(sources[passage.document_id], []).append(passage)

    def search(question: str) -> list[Passage]:
        return [hit.passage for hit in application.retriever.search(question, 16)]

    held_out = asked_pairs.build(asked[:HELD_OUT], by_source, search)
    pairs = asked_pairs.build(asked[HELD_OUT:], by_source, search)
    again, _ = relevance.mixture(options.data, passages)
    pairs += rng.sample(again, min(REPLAY, len(again)))
    rng.shuffle(pairs)
    config = TrainConfig(
        base=str(options.out / "step1"), out=options.out / "step2", learning_rate=7e-5, max_tokens=160, eval_every=150, seed=SEED
    )
    print(train(pairs, held_out, config))
    return 0


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    sys.exit(main())
