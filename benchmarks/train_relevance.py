"""Trains models/relevance in its six steps, from the public sets and the questions written for the articles.

    python -m benchmarks.train_relevance --data DIR --base MINILM_FOLDER_OR_HUB_ID [--out DIR] [--step 1|2|3|4|5|6]

Step 1: the public sets and the collection's own headings. Step 2 goes on from step 1 (in OUT/step1) with the written questions
(knowledge/agriculture/asked.jsonl) and 9,000 pairs of step 1 again. Step 3 goes on from step 2 (in OUT/step2) with the
questions of two hops, in all their forms, and part of the written questions' pairs again. Step 4 goes on from the shipped model
with conversations as they were said and harder single questions (benchmarks/written/conversations.jsonl), questions that nothing
answers (unheld.jsonl there), and a little of what was before. Step 5 does the same with the commonest questions and all that
answers them (common.jsonl there, but for those held out), with later conversations (talks.jsonl) and a written question for
every second passage; and no passage that comes about as near to a question as the right one is called wrong there: the
negatives of the steps before it were full of such, and taught the encoder to doubt what answers in other words.
Step 6 goes on from the shipped model with everything that was written for the articles, and with judged.jsonl there: every
sentence that was found for a question, sorted by whether it belongs in the answer (the shipped model saw its first 335 lines).
About an hour each on two cores. Near-duplicates of questions.jsonl are left out of steps 2 to 6; nothing else of it is read.

Step 3 is not the very run that made the shipped model: how many pairs each set gave, and which were held out, was not kept. Kept
were the base, the hyper-parameters and the totals (models/relevance/training.json), the number of written pairs (its card), and
that the pairs came from ``lqr.training.pairs.build(data, squad_paragraphs=2200)``. ``CAPS`` is chosen anew to come to that total.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.common import COMMON, read
from lqr.app import Application, build
from lqr.corpus.asked import FILE_NAME, asked_of, read_asked
from lqr.settings import ROOT, Settings
from lqr.training import asked_pairs, judged_pairs, pairs, relevance
from lqr.training.cross_encoder import TrainConfig, train
from lqr.training.pairs import Pair
from lqr.types import Asked, Passage
from lqr.weights import find_base

SEED, HELD_OUT, REPLAY = 13, 120, 9000
ASKED_AGAIN, HELD_OUT_PAIRS = 9840, 1140  # pairs of step 3
CONVERSATIONS = ROOT / "benchmarks" / "written" / "conversations.jsonl"
UNHELD = ROOT / "benchmarks" / "written" / "unheld.jsonl"  # every second line; the others are for the gate (benchmarks.fit)
TALKS = ROOT / "benchmarks" / "written" / "talks.jsonl"
JUDGED = ROOT / "benchmarks" / "written" / "judged.jsonl"
KEPT_BACK = 40  # conversations that are held out in steps 4 and 5
OLD_QUESTIONS, OLD_PAIRS = 300, 800  # of the written questions and of the public sets, again in steps 4 and 5
ASKED_OF = 1300  # passages of which step 5 has a written question
# Of step 6: judged questions held out, written ones, pairs of the public sets.
JUDGED_BACK, ASKED_LAST, PUBLIC_LAST = 40, 2000, 6000
# Pairs of each origin in step 3: all in second-step form and of annotated steps, some of the rest.
CAPS = {
    "hotpotqa-second": 3668,
    "musique-second": 4110,
    "2wikimultihopqa-second": 3016,
    "musique-step": 2872,
    "hotpotqa": 2700,
    "musique": 2400,
    "2wikimultihopqa": 2100,
    "hotpotqa-sentence": 1200,
    "2wikimultihopqa-sentence": 900,
    "squad-sentence": 1000,
    "squad-passage": 800,
    "natural_questions": 900,
    "agxqa": 350,
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--base", default="sentence-transformers/all-MiniLM-L6-v2")
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "relevance")
    parser.add_argument("--step", type=int, choices=(1, 2, 3, 4, 5, 6), default=1)
    options = parser.parse_args(argv)
    application = build(Settings.load())
    try:
        print({1: first, 2: second, 3: third, 4: fourth, 5: fifth, 6: sixth}[options.step](application, options))
    finally:
        application.close()
    return 0


def first(application: Application, options: argparse.Namespace) -> dict[str, float]:
    """From the base."""
    base = str(find_base(options.base, settings=application.settings))
    config = TrainConfig(base=base, out=options.out / "step1", max_tokens=128, eval_every=240, seed=SEED)
    return relevance.train_relevance(options.data, application.store.all_passages(), config)


def second(application: Application, options: argparse.Namespace) -> dict[str, float]:
    """From step 1."""
    rng = random.Random(SEED)
    asked = _asked(application, rng)
    held_out = _pairs_of(application, asked[:HELD_OUT])
    training = _pairs_of(application, asked[HELD_OUT:])
    again, _ = relevance.mixture(options.data, application.store.all_passages())
    training += rng.sample(again, min(REPLAY, len(again)))
    rng.shuffle(training)
    config = TrainConfig(
        base=str(options.out / "step1"), out=options.out / "step2", learning_rate=7e-5, max_tokens=160, eval_every=150, seed=SEED
    )
    return train(training, held_out, config)


def third(application: Application, options: argparse.Namespace) -> dict[str, float]:
    """From step 2."""
    rng = random.Random(SEED)
    written = _pairs_of(application, _asked(application, rng))
    mixed = relevance.capped(pairs.build(options.data, seed=SEED, squad_paragraphs=2200), CAPS, rng)
    mixed += rng.sample(written, min(ASKED_AGAIN, len(written)))
    training, held_out = relevance.apart(mixed, HELD_OUT_PAIRS, rng)
    config = TrainConfig(
        base=str(options.out / "step2"),
        out=options.out / "relevance",
        learning_rate=9e-5,
        max_tokens=176,
        eval_every=300,
        seed=SEED,
    )
    return train(training, held_out, config)


def fourth(application: Application, options: argparse.Namespace) -> dict[str, float]:
    """From the shipped model."""
    rng = random.Random(SEED)
    return _going_on(application, options, "step4", CONVERSATIONS, _asked(application, rng)[:OLD_QUESTIONS])


def fifth(application: Application, options: argparse.Namespace) -> dict[str, float]:
    """From the shipped model."""
    rng = random.Random(SEED)
    passages = application.store.all_passages()
    homes = asked_of(_asked(application, rng), passages, {info.id: info.source for info in application.store.documents()})
    written = [items[0] for items in rng.sample(list(homes.values()), min(ASKED_OF, len(homes)))]
    answers = [item for row in read(COMMON) if not row.held_out for item in row.answer]
    common = _pairs_of(application, asked_pairs.without_test(answers, _measured(application)), hard=2, sure=True)
    return _going_on(application, options, "step5", TALKS, written, common)


def sixth(application: Application, options: argparse.Namespace) -> dict[str, float]:
    """From the shipped model."""
    rng = random.Random(SEED)
    measured = _measured(application)
    by_source = _by_source(application)
    judged = judged_pairs.read_judged(JUDGED)
    kept = {item.question for item in asked_pairs.without_test([Asked(row.question, "", "") for row in judged], measured)}
    judged = [row for row in judged if row.question in kept]
    rng.shuffle(judged)
    held_out = judged_pairs.build(judged[:JUDGED_BACK], by_source)
    training = 2 * judged_pairs.build(judged[JUDGED_BACK:], by_source)
    answers = [item for row in read(COMMON) if not row.held_out for item in row.answer]
    said = [turn for path in (CONVERSATIONS, TALKS) for turns in asked_pairs.read_conversations(path) for turn in turns]
    written = _asked(application, rng)[:ASKED_LAST]
    done = {row.question for row in judged}
    others = [item for item in [*asked_pairs.without_test([*answers, *said], measured), *written] if item.question not in done]
    training += _pairs_of(application, others, hard=2, sure=True)
    training += _unheld(application, measured, hard=3)
    config = replace(_from_shipped(options.out / "step6"), max_tokens=176, eval_every=300, dropout=0.0)
    return _with_public(options, training, PUBLIC_LAST, held_out, config, rng)


def _going_on(
    application: Application,
    options: argparse.Namespace,
    step: str,
    said_in: Path,
    written: Sequence[Asked],
    more: Sequence[Pair] = (),
) -> dict[str, float]:
    rng = random.Random(SEED)
    conversations = asked_pairs.read_conversations(said_in)
    rng.shuffle(conversations)
    measured = _measured(application)
    back, said = (
        asked_pairs.without_test([turn for turns in part for turn in turns], measured)
        for part in (conversations[:KEPT_BACK], conversations[KEPT_BACK:])
    )
    sure = bool(more)
    held_out = _pairs_of(application, back, hard=1, sure=sure)
    training = [*_pairs_of(application, [*said, *written], hard=1, sure=sure), *more]
    training += _unheld(application, measured, hard=2)
    config = replace(_from_shipped(options.out / step), max_tokens=160, eval_every=200, frozen=2)
    return _with_public(options, training, OLD_PAIRS, held_out, config, rng)


def _from_shipped(out: Path) -> TrainConfig:
    return TrainConfig(base=str(ROOT / "models" / "relevance"), out=out, learning_rate=6e-5, seed=SEED)


def _with_public(
    options: argparse.Namespace,
    training: list[Pair],
    count: int,
    held_out: Sequence[Pair],
    config: TrainConfig,
    rng: random.Random,
) -> dict[str, float]:
    """Trains on ``training`` and so many pairs of the public sets."""
    public = relevance.capped(pairs.build(options.data, seed=SEED, squad_paragraphs=2200), CAPS, rng)
    training = [*training, *rng.sample(public, min(count, len(public)))]
    rng.shuffle(training)
    return train(training, held_out, config)


def _unheld(application: Application, measured: Sequence[str], *, hard: int) -> list[Pair]:
    lines = UNHELD.read_text(encoding="utf-8").splitlines()[::2]
    unheld = asked_pairs.without_test([Asked(json.loads(line)["question"], "", "") for line in lines], measured)
    return asked_pairs.unheld_pairs([item.question for item in unheld], _search(application), hard=hard)


def _measured(application: Application) -> list[str]:
    """The questions that are measured on, written out."""
    path = application.settings.knowledge / "agriculture" / "questions.jsonl"
    return [turn["standalone"] for line in path.read_text(encoding="utf-8").splitlines() for turn in json.loads(line)["turns"]]


def _asked(application: Application, rng: random.Random) -> list[Asked]:
    """The written questions, shuffled, but for near-duplicates of what is measured on."""
    path = application.settings.knowledge / "agriculture" / FILE_NAME
    asked = asked_pairs.without_test(read_asked(path), _measured(application))
    rng.shuffle(asked)
    return asked


def _pairs_of(application: Application, asked: Sequence[Asked], *, hard: int = 4, sure: bool = False) -> list[Pair]:
    """With ``sure``, without negatives that may answer as well."""
    cosines = _cosines(application) if sure else None
    return asked_pairs.build(asked, _by_source(application), _search(application), cosines, hard=hard)


def _by_source(application: Application) -> dict[str, Sequence[Passage]]:
    sources = {info.id: info.source.removesuffix(".md") for info in application.store.documents()}
    by_source: dict[str, list[Passage]] = {}
    for passage in application.store.all_passages():
        by_source.setdefault(sources[passage.document_id], []).append(passage)
    return dict(by_source)


def _search(application: Application) -> asked_pairs.Search:
    def search(question: str) -> list[Passage]:
        return [hit.passage for hit in application.retriever.search(question, 16)]

    return search


def _cosines(application: Application) -> asked_pairs.Cosines:
    return lambda question, passages: application.retriever.signals(question, [passage.id for passage in passages])[0]


if __name__ == "__main__":
    sys.exit(main())
