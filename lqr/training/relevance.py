"""The recipe of ``models/relevance``: which pairs, how many of each, and the training run.

General pairs teach what answering is; pairs made from a collection's own headings teach how its documents speak. The
held-out pairs come from other questions of the same mixture and serve for early stopping and calibration only.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from lqr.training import collection_pairs, pairs
from lqr.training.cross_encoder import TrainConfig, train
from lqr.training.pairs import Pair
from lqr.types import Passage

HELD_OUT = 800


def mixture(
    data: Path, passages: Sequence[Passage], *, seed: int = 13, squad_paragraphs: int = 1500, collection: int = 12000
) -> tuple[list[Pair], list[Pair]]:
    """Training and held-out pairs.

    Args:
        data: folder with the public sets (README, "Data for training and evaluation"); only train splits are read.
        passages: of the collection to adapt to; may be empty.
        squad_paragraphs: caps the largest set, whose pairs are the easiest.
        collection: at most this many pairs of the collection.
    """
    rng = random.Random(seed)
    general = pairs.build(data, seed=seed, squad_paragraphs=squad_paragraphs)
    # Natural Questions has three negatives a question; one is enough beside the other sets
    surplus = [p for p in general if p.origin == "natural_questions" and p.label == 0]
    dropped = set(map(id, rng.sample(surplus, len(surplus) * 2 // 3)))
    general = [p for p in general if id(p) not in dropped]
    own = collection_pairs.build(passages, seed=seed) if passages else []
    mixed = general + rng.sample(own, min(len(own), collection))
    return apart(mixed, HELD_OUT, rng)


def capped(rows: Sequence[Pair], caps: Mapping[str, int], rng: random.Random) -> list[Pair]:
    """At most ``caps[origin]`` pairs of each origin (0 if not named), half of them relevant where there are enough."""
    by_origin: dict[str, tuple[list[Pair], list[Pair]]] = {}
    for row in rows:
        by_origin.setdefault(row.origin, ([], []))[int(row.label)].append(row)
    taken: list[Pair] = []
    for origin, (wrong, right) in by_origin.items():
        most = caps.get(origin, 0)
        positive = min(len(right), max(most // 2, most - len(wrong)))
        taken += rng.sample(right, positive) + rng.sample(wrong, min(len(wrong), most - positive))
    return taken


class OfQuestion(Protocol):
    """Anything made from a question."""

    @property
    def question(self) -> str:
        """The question, as it is asked."""


Row = TypeVar("Row", bound=OfQuestion)


def apart(rows: Sequence[Row], count: int, rng: random.Random) -> tuple[list[Row], list[Row]]:
    """``rows`` shuffled, for training and held out: about ``count`` of them, all of a question on one side."""
    by_question: dict[str, list[Row]] = {}
    for row in rows:
        by_question.setdefault(row.question, []).append(row)
    questions = list(by_question)
    rng.shuffle(questions)
    held: list[Row] = []
    training: list[Row] = []
    for question in questions:
        (held if len(held) < count else training).extend(by_question[question])
    rng.shuffle(training)
    rng.shuffle(held)
    return training, held


def train_relevance(data: Path, passages: Sequence[Passage], config: TrainConfig, *, resume: bool = False) -> dict[str, float]:
    """Build the mixture and train; returns the held-out metrics.

    Raises:
        ReadError: a set is missing from ``data``.
    """
    training, held_out = mixture(data, passages, seed=config.seed)
    return train(training, held_out, config, resume=resume)
