"""Pairs from questions that were written for a collection's articles (by a language model or a person).

Each question names its document and a snippet of the sentence or table cell that answers. Positives are that unit and
its passage; negatives are what a retriever finds first instead: the mistakes the model is there to mend. Knows nothing
of models.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from lqr.corpus.asked import Asked, plain
from lqr.text import content_words
from lqr.training.pairs import Pair
from lqr.types import Passage
from lqr.writing.units import units_of

Search = Callable[[str], Sequence[Passage]]


def without_test(asked: Sequence[Asked], test: Sequence[str], *, limit: float = 0.6) -> list[Asked]:
    """``asked`` without near-duplicates of ``test``: those sharing more than ``limit`` of their content words (Jaccard)."""
    words = [frozenset(content_words(question)) for question in test]

    def near(question: str) -> bool:
        mine = frozenset(content_words(question))
        return any(mine and len(mine & other) / len(mine | other) > limit for other in words)

    return [item for item in asked if not near(item.question)]


def build(
    asked: Sequence[Asked], passages: dict[str, Sequence[Passage]], search: Search, *, seed: int = 13, hard: int = 4
) -> list[Pair]:
    """Pairs for ``asked``.

    Args:
        passages: of each document, by source without suffix, in reading order.
        search: the collection's retriever; its first results without the snippet are the negatives.
        hard: negatives of each kind for a question.
    """
    rng = random.Random(seed)
    pairs: list[Pair] = []
    for item in asked:
        gold = [p for p in passages.get(item.document, ()) if plain(item.snippet) in plain(p.text)]
        if not gold:
            continue
        wrong = [p for p in search(item.question) if plain(item.snippet) not in plain(p.text)]
        units = [(p, unit) for p in gold for unit in texts_of(p)]
        right = [(p, unit) for p, unit in units if plain(item.snippet) in plain(unit)]
        near = [(p, unit) for p, unit in units if plain(item.snippet) not in plain(unit)]
        far = [(p, unit) for p in wrong[:6] for unit in texts_of(p)]
        for passage, unit in right[:1]:
            pairs.append(_pair(item, passage, unit, 1.0))
        for passage, unit in [*rng.sample(near, k=min(2, len(near))), *rng.sample(far, k=min(hard, len(far)))]:
            pairs.append(_pair(item, passage, unit, 0.0))
        pairs.append(_pair(item, gold[0], gold[0].text, 1.0))
        pairs.extend(_pair(item, p, p.text, 0.0) for p in wrong[:hard])
    rng.shuffle(pairs)
    return pairs


def texts_of(passage: Passage) -> list[str]:
    """The texts of what the writer would quote."""
    return [unit.text for unit in units_of(passage)]


def _pair(item: Asked, passage: Passage, text: str, label: float) -> Pair:
    return Pair(item.question, passage.topic, text, label, "asked")
