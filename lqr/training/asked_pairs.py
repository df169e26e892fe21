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
Cosines = Callable[[str, Sequence[Passage]], Sequence[float]]
MARGIN = 0.92  # of the right passage's cosine, above which an unmarked one is not held to be wrong


def without_test(asked: Sequence[Asked], test: Sequence[str], *, limit: float = 0.6) -> list[Asked]:
    """``asked`` without near-duplicates of ``test``: those sharing more than ``limit`` of their content words (Jaccard).

    A follow-up is one by what it means too: the question before it, which it is read behind, would hide that.
    """
    words = [frozenset(content_words(question)) for question in test]

    def near(question: str) -> bool:
        mine = frozenset(content_words(question))
        return any(mine and len(mine & other) / len(mine | other) > limit for other in words)

    return [item for item in asked if not near(item.question) and not near(item.means)]


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
        lines = path.read_text(encoding="utf-8").split("\n")  # not splitlines(): a text may hold a U+2028
    except (OSError, ValueError) as error:
        raise ReadError(f"{path.name}: can't be read ({error})") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            said: list[Asked] = []
            before = ""
            for turn in json.loads(line)["turns"]:
                message = f"{before.rstrip('?!. ')}. {turn['say']}" if before else str(turn["say"])
                means = str(turn["means"])
                said.append(Asked(message, str(turn["document"]), str(turn["contains"]), means))
                before = means
            conversations.append(said)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ReadError(f"{path.name} line {number}: {error!r}; each turn needs say, means, document and contains") from error
    return conversations


def build(
    asked: Sequence[Asked],
    passages: dict[str, Sequence[Passage]],
    search: Search,
    cosines: Cosines | None = None,
    *,
    seed: int = 13,
    hard: int = 4,
) -> list[Pair]:
    """Pairs for ``asked``; what several rows say of one question holds together.

    Args:
        passages: of each document, by source without suffix, in reading order.
        search: the collection's retriever; its first results without a snippet are the negatives.
        cosines: of a question with passages. What comes as near as :data:`MARGIN` of the right one's is then no negative: it
            often answers too, and nobody marked it (positive-aware mining: Moreira et al. 2024, arXiv 2407.15831, section 4.1).
        hard: negatives of each kind for a question.
    """
    rng = random.Random(seed)
    pairs: list[Pair] = []
    by_question: dict[str, list[Asked]] = {}
    for item in asked:
        by_question.setdefault(item.question, []).append(item)
    for question, items in by_question.items():
        gold = {p.id: p for item in items for p in passages.get(item.document, ()) if holds(plain(p.text), item.snippet)}
        if not gold:
            continue
        units = [(p, text) for p in gold.values() for text in texts_of(p)]
        right = [(p, text) for p, text in units if _answers(text, items)]
        near = [(p, text) for p, text in units if not _answers(text, items)]
        wrong = [p for p in search(question) if p.id not in gold and not _answers(p.text, items)]
        if cosines is not None:
            most = MARGIN * max(cosines(question, list(gold.values())))
            wrong = [p for p, cosine in zip(wrong, cosines(question, wrong), strict=True) if cosine < most]
        far = [(p, text) for p in wrong[:6] for text in texts_of(p)]
        count = len({item.snippet for item in items})
        pairs.extend(_pair(question, p, text, 1.0) for p, text in right[:count])
        negatives = [*rng.sample(near, k=min(2, hard, len(near))), *rng.sample(far, k=min(hard, len(far)))]
        pairs.extend(_pair(question, p, text, 0.0) for p, text in negatives)
        pairs.extend(_pair(question, p, p.text, 1.0) for p in list(gold.values())[:count])
        pairs.extend(_pair(question, p, p.text, 0.0) for p in wrong[:hard])
    rng.shuffle(pairs)
    return pairs


def _answers(text: str, items: Sequence[Asked]) -> bool:
    return any(holds(plain(text), item.snippet) for item in items)


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


def _pair(question: str, passage: Passage, text: str, label: float) -> Pair:
    return Pair(question, passage.topic, text, label, "asked")
