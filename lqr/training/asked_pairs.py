"""Pairs from questions and conversations that were written for a collection's articles (by a language model or a person).

Each question names its document and a snippet of the sentence or table cell that answers. Positives are that unit and
its passage; negatives are what a retriever finds first instead: the mistakes the model is there to mend. Knows nothing
of models.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from lqr.errors import ReadError
from lqr.text import content_words, holds, plain
from lqr.training.pairs import Pair
from lqr.types import Asked, Passage
from lqr.writing.units import units_of

Search = Callable[[str], Sequence[Passage]]


def without_test(asked: Sequence[Asked], test: Sequence[str], *, limit: float = 0.6) -> list[Asked]:
    """``asked`` without near-duplicates of ``test``: those sharing more than ``limit`` of their content words (Jaccard)."""
    words = [frozenset(content_words(question)) for question in test]

    def near(question: str) -> bool:
        mine = frozenset(content_words(question))
        return any(mine and len(mine & other) / len(mine | other) > limit for other in words)

    return [item for item in asked if not near(item.question)]


def read_conversations(path: Path) -> list[list[Asked]]:
    """The messages of the conversations in a JSON-lines file, each behind the question before it, written out.

    A line holds ``turns``, each with ``say`` (the message), ``means`` (the question written out), ``document`` and ``contains``.
    "Treating footrot. and in lambs?": so a follow-up is read that no rule could write out (:attr:`~lqr.types.Rewrite.beside`).
    A conversation may be of one question.

    Raises:
        ReadError: the file can't be read or a line is malformed.
    """
    conversations = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise ReadError(f"{path.name}: can't be read ({error})") from error
    for number, line in enumerate(lines, start=1):
        try:
            said: list[Asked] = []
            before = ""
            for turn in json.loads(line)["turns"]:
                message = f"{before.rstrip('?!. ')}. {turn['say']}" if before else str(turn["say"])
                said.append(Asked(message, str(turn["document"]), str(turn["contains"])))
                before = turn["means"]
            conversations.append(said)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ReadError(f"{path.name} line {number}: {error!r}; each turn needs say, means, document and contains") from error
    return conversations


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
        gold = [p for p in passages.get(item.document, ()) if holds(plain(p.text), item.snippet)]
        if not gold:
            continue
        wrong = [p for p in search(item.question) if not holds(plain(p.text), item.snippet)]
        units = [(p, unit) for p in gold for unit in texts_of(p)]
        right = [(p, unit) for p, unit in units if holds(plain(unit), item.snippet)]
        near = [(p, unit) for p, unit in units if not holds(plain(unit), item.snippet)]
        far = [(p, unit) for p in wrong[:6] for unit in texts_of(p)]
        for passage, unit in right[:1]:
            pairs.append(_pair(item, passage, unit, 1.0))
        for passage, unit in [*rng.sample(near, k=min(2, hard, len(near))), *rng.sample(far, k=min(hard, len(far)))]:
            pairs.append(_pair(item, passage, unit, 0.0))
        pairs.append(_pair(item, gold[0], gold[0].text, 1.0))
        pairs.extend(_pair(item, p, p.text, 0.0) for p in wrong[:hard])
    rng.shuffle(pairs)
    return pairs


def unheld_pairs(questions: Sequence[str], search: Search, *, seed: int = 13, hard: int = 4) -> list[Pair]:
    """Pairs of questions that nothing in the collection answers: what is found for them, passages and units, all negative.

    They teach the difference between speaking of a thing and answering a question on it, which no other pairs show: every
    other question has its answer somewhere.
    """
    rng = random.Random(seed)
    pairs: list[Pair] = []
    for question in questions:
        found = search(question)[:hard]
        units = [(passage, unit) for passage in found for unit in texts_of(passage)]
        for passage, text in [*((p, p.text) for p in found), *rng.sample(units, k=min(hard, len(units)))]:
            pairs.append(Pair(question, passage.topic, text, 0.0, "unheld"))
    return pairs


def texts_of(passage: Passage) -> list[str]:
    """The texts of what the writer would quote."""
    return [unit.text for unit in units_of(passage)]


def _pair(item: Asked, passage: Passage, text: str, label: float) -> Pair:
    return Pair(item.question, passage.topic, text, label, "asked")
