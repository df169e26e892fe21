"""Trains models/embedder: MiniLM on the questions written for the articles, with some of the public sets.

    python -m benchmarks.train_embedder train --data DIR [--step 1|2] [--base HUB_ID_OR_FOLDER] [--out DIR]
    python -m benchmarks.train_embedder measure --data DIR FOLDER...   -> recall of cosines alone, farm, SQuAD, NQ

The questions are those of knowledge/agriculture/asked.jsonl and the messages of benchmarks/written/conversations.jsonl as they
were said, behind the question before them; near-duplicates of questions.jsonl are left out. One passage of the public sets for
each three of these keeps other documents from being forgotten. Step 2 goes on from what step 1 made (``--base``), with at most
``EACH`` questions for each passage, so that those that nobody had asked about count as much as the others, and with half of the
questions put to the very sentence that answers, as the composer compares them; its two lowest layers stay as they are.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.common import COMMON, read
from benchmarks.train_relevance import CONVERSATIONS, KEPT_BACK, SEED, TALKS
from lqr.app import Application, build
from lqr.corpus.asked import FILE_NAME, asked_of, read_asked
from lqr.evaluation.datasets import load_dataset
from lqr.evaluation.questions import load
from lqr.settings import ROOT, Settings
from lqr.text import holds, plain
from lqr.training import asked_pairs, pairs
from lqr.training.cross_encoder import TrainConfig
from lqr.training.embedder import Example, train
from lqr.types import Asked, Passage
from lqr.weights import find_base
from lqr.writing.units import units_of

BASE = "sentence-transformers/all-MiniLM-L6-v2"
PUBLIC = {"squad-passage": 900, "natural_questions": 900, "hotpotqa": 300, "agxqa": 200}
RANKS = (1, 3, 5, 10, 28)
EACH = 3  # questions of a passage in step 2


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("train", "measure"))
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--step", type=int, choices=(1, 2), default=1)
    parser.add_argument("--base", default=BASE)
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "embedder")
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_intermixed_args(argv)
    application = build(Settings.load())
    try:
        if options.what == "train":
            base = find_base(options.base, settings=application.settings)
            training, held_out = examples(application, options.data, options.step)
            config = TrainConfig(
                base=str(base),
                out=options.out,
                learning_rate=4e-5,
                max_tokens=128,
                eval_every=100,
                frozen=2 if options.step == 2 else 0,
                seed=SEED,
                threads=options.threads,
            )
            print(json.dumps(train(training, held_out, config)))
        else:
            for folder in options.folders:
                print(json.dumps({"model": Path(folder).name, **measure(application, options.data, folder)}))
    finally:
        application.close()
    return 0


def examples(application: Application, data: Path, step: int) -> tuple[list[Example], list[Example]]:
    """For training and held out; the held-out conversations of step 2 are of those that step 1 had not."""
    rng = random.Random(SEED)
    folder = application.settings.knowledge / "agriculture"
    measured = [
        turn["standalone"]
        for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
        for turn in json.loads(line)["turns"]
    ]
    conversations = asked_pairs.read_conversations(CONVERSATIONS if step == 1 else TALKS)
    rng.shuffle(conversations)
    back = {turn.question for turns in conversations[:KEPT_BACK] for turn in turns}
    conversations += asked_pairs.read_conversations(CONVERSATIONS) if step == 2 else []
    rows: dict[tuple[str, str], Asked] = {}
    common = [item for row in read(COMMON) if not row.held_out for item in row.answer] if step == 2 else []
    for asked in (*common, *read_asked(folder / FILE_NAME), *(turn for turns in conversations for turn in turns)):
        rows.setdefault((asked.question, asked.document + asked.snippet), asked)
    homes = _homes(application, asked_pairs.without_test(list(rows.values()), measured))
    training, held_out = [], []
    for passage, items in homes:
        held_out += [Example(item.question, passage.indexed_text) for item in items if item.question in back]
        kept = [item for item in items if item.question not in back]
        if step == 2:
            kept = rng.sample(kept, min(EACH, len(kept)))
        texts = [passage.indexed_text if step == 1 or rng.random() < 0.5 else _sentence(passage, item) for item in kept]
        training += [Example(item.question, text) for item, text in zip(kept, texts, strict=True)]
    share = len(training) / 3 / sum(PUBLIC.values())
    public: dict[str, list[Example]] = {}
    for pair in pairs.build(data, seed=SEED, squad_paragraphs=2200):
        if pair.label == 1 and pair.origin in PUBLIC:
            public.setdefault(pair.origin, []).append(Example(pair.question, f"{pair.title}. {pair.text}"))
    for origin, found in public.items():
        training += rng.sample(found, min(round(share * PUBLIC[origin]), len(found)))
    rng.shuffle(training)
    return training, held_out


def _homes(application: Application, asked: Sequence[Asked]) -> list[tuple[Passage, Sequence[Asked]]]:
    """The passages with the questions that they answer."""
    passages = application.store.all_passages()
    sources = {info.id: info.source for info in application.store.documents()}
    by_id = asked_of(asked, passages, sources)
    return [(passage, by_id[passage.id]) for passage in passages if passage.id in by_id]


def _sentence(passage: Passage, item: Asked) -> str:
    """The sentence, list item or row that answers; the passage where the answer runs over two."""
    return next((unit.text for unit in units_of(passage) if holds(plain(unit.text), item.snippet)), passage.indexed_text)


def measure(application: Application, data: Path, folder: str) -> dict[str, object]:
    """Share of gold passages among the nearest by cosine alone: the farm's halves, 150 test questions of SQuAD and of NQ."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(folder, device="cpu").float()
    items = load(application.settings.knowledge / "agriculture" / "questions.jsonl", application.store)
    passages = application.store.all_passages()
    texts = [(passage.id, passage.indexed_text) for passage in passages]
    result: dict[str, object] = {}
    for split in ("dev", "test"):
        farm = [(ask.standalone, set(held)) for i in items if i.split == split for ask in i.turns for held in ask.gold]
        result[f"farm {split}"] = _recall(model, texts, farm)
    for name in ("squad", "natural_questions"):
        dataset = load_dataset(name, "test", data=data).sample(150, SEED)
        asked = [(q.question, {gold}) for q in dataset.questions for gold in q.supporting]
        wanted = {gold for _, golds in asked for gold in golds}
        others = [p for p in dataset.corpus if p.id not in wanted]
        drawn = random.Random(SEED).sample(others, min(800, len(others)))
        texts = [(p.id, f"{p.title}. {p.text}") for p in [*drawn, *(p for p in dataset.corpus if p.id in wanted)]]
        result[name] = _recall(model, texts, asked)
    return result


def _recall(model: object, texts: Sequence[tuple[str, str]], asked: Sequence[tuple[str, set[str]]]) -> dict[str, float]:
    vectors = model.encode([text for _, text in texts], normalize_embeddings=True)  # type: ignore[attr-defined]
    questions = model.encode([question for question, _ in asked], normalize_embeddings=True)  # type: ignore[attr-defined]
    row = {key: number for number, (key, _) in enumerate(texts)}
    ranks = []
    for (_, gold), cosines in zip(asked, questions @ vectors.T, strict=True):
        ranks.append(int((cosines > max(cosines[row[key]] for key in gold)).sum()))
    return {f"first {k}": round(100 * float(np.mean([rank < k for rank in ranks])), 1) for k in RANKS} | {"n": len(ranks)}


if __name__ == "__main__":
    sys.exit(main())
