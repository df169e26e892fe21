"""What a follow-up goes on from: the documents that the last answers were taken from.

People mostly go on asking about what has just answered them: 50 of the 65 later turns of the dev dialogues are answered by the
very document that answered the turn before. History is plain text, so the document behind an answer is found again by its
sentences: BM25 proposes passages, and one that holds the words of a sentence is where it was taken from (found for all 143
answers to the dev questions). An answer in words of its own leads nowhere, a refusal to the headings it named. It decides
neither what a follow-up is nor what is relevant.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from lqr.blend import logit
from lqr.retrieval.ranking import Mode
from lqr.retrieval.tokenizer import tokenize
from lqr.text import sentences
from lqr.types import Hit, Passage, Turn

ANSWERS = 2  # that are looked at, the last ones
SENTENCES = 4  # of each, from its beginning
TERMS = 4  # fewer different ones in a sentence name no passage
HELD = 0.8  # share of a sentence's terms that its passage must hold
PROPOSED = 10  # passages that are compared with these sentences
# Log-odds that a passage of the document behind the last answer, or behind the one before it, is ahead of others. Of the 65 later
# turns of the dev dialogues 59 then have their passage among the first five and 54 among the first three; without, 57 and 53.
BONUS = (1.0, 0.5)

_MARKS = re.compile(r"\[\d+\]|^[ \t]*[-*][ \t]+", re.MULTILINE)


class Searcher(Protocol):
    """What is needed of a retriever."""

    def search(self, query: str, k: int | None = None, *, mode: Mode = "hybrid") -> list[Hit]:
        """The best ``k`` passages, best first."""


@dataclass(frozen=True, slots=True)
class Thread:
    """The documents behind the last answers (``bonus``: log-odds by document id), and what is searched ``beside`` it."""

    bonus: Mapping[str, float] = field(default_factory=dict)
    beside: str = ""

    def lifted(self, probability: float, passage: Passage) -> float:
        """``probability`` that ``passage`` helps, with the bonus of its document: for the order only, it says nothing of help."""
        bonus = self.bonus.get(passage.document_id, 0.0)
        return 1 / (1 + math.exp(-logit(probability) - bonus)) if bonus else probability


def thread(history: Sequence[Turn], beside: str, retriever: Searcher) -> Thread:
    """The documents that the last ``ANSWERS`` answers of ``history`` quote, and ``beside``."""
    bonus: dict[str, float] = {}
    answers = [turn.content for turn in history if turn.role == "assistant"][: -ANSWERS - 1 : -1]
    for answer, worth in zip(answers, BONUS, strict=False):
        for passage in quoted(answer, retriever):
            bonus.setdefault(passage.document_id, worth)
    return Thread(bonus, beside)


def quoted(answer: str, retriever: Searcher) -> Iterator[Passage]:
    """The passages that hold the first ``SENTENCES`` sentences of ``answer``, in its order; the others give none."""
    spoken = (sentence for line in _MARKS.sub("", answer).splitlines() for sentence in sentences(line))
    said = [(sentence, terms) for sentence in islice(spoken, SENTENCES) if len(terms := set(tokenize(sentence))) >= TERMS]
    if not said:
        return
    proposed = retriever.search(" ".join(sentence for sentence, _ in said), PROPOSED, mode="bm25")
    held = [(hit.passage, set(tokenize(hit.passage.indexed_text))) for hit in proposed]
    for _, terms in said:
        yield from islice((passage for passage, its in held if len(terms & its) >= HELD * len(terms)), 1)
