"""The recipe of ``models/relevance``: which pairs, how many of each, and the training run.

General pairs teach what answering is; pairs made from a collection's own headings teach how its documents speak. The
held-out pairs come from the same mixture and serve for early stopping and calibration only.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

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
    rng.shuffle(mixed)
    return mixed[HELD_OUT:], mixed[:HELD_OUT]


def train_relevance(data: Path, passages: Sequence[Passage], config: TrainConfig, *, resume: bool = False) -> dict[str, float]:
    """Build the mixture and train; returns the held-out metrics.

    Raises:
        ReadError: a set is missing from ``data``.
    """
    training, held_out = mixture(data, passages, seed=config.seed)
    return train(training, held_out, config, resume=resume)
