"""A short answer without any model: the sentence that shares most with the question, and in it a span of the kind asked for.

The baseline that a trained reader has to beat. Kinds are told from the question's first words; spans are dates, numbers
and runs of capitalised words that the question does not hold itself. It knows nothing of retrieval.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lqr.retrieval.tokenizer import tokenize
from lqr.text import sentences
from lqr.types import Passage

Kind = Literal["yes_no", "date", "year", "number", "name"]

_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = re.compile(
    rf"\b\d{{1,2}} {_MONTH} \d{{3,4}}\b|\b{_MONTH} \d{{1,2}}, \d{{3,4}}\b|\b{_MONTH} \d{{4}}\b|\b1\d{{3}}\b|\b20\d\d\b"
)
_YEAR = re.compile(r"\b(?:1\d{3}|20\d\d)\b")
_UNIT = "%|percent|per cent|million|billion|thousand|km|miles|met(?:re|er)s|feet|people|years|days|minutes|hours"
_NUMBER = re.compile(rf"[$£€]?\d[\d,]*(?:\.\d+)?(?:\s?(?:{_UNIT}))?")
_NAME = re.compile(r"[A-Z][\w.'’-]*(?: (?:(?:of|the|de|la|van|von|and|&) )?[A-Z][\w.'’-]*)*")
_YES_NO = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", re.IGNORECASE)
_CHOICE = re.compile(r"\bor\b", re.IGNORECASE)
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("year", re.compile(r"\b(?:what|which) year\b", re.IGNORECASE)),
    ("date", re.compile(r"\bwhen\b|\b(?:what|which) (?:date|day|month)\b", re.IGNORECASE)),
    (
        "number",
        re.compile(r"\bhow (?:many|much|old|long|far|tall|high|large|big)\b|\bwhat (?:percentage|number)\b", re.IGNORECASE),
    ),
)
_SPANS = {"year": _YEAR, "date": _DATE, "number": _NUMBER, "name": _NAME}
HEADING = 0.3  # what a title that shares a word with the question adds, as a share of that word's weight


@dataclass(frozen=True, slots=True)
class Span:
    """The chosen text, its sentence and passage, and the sentence's share of the question's weight (0 to 1)."""

    text: str
    sentence: str
    passage_id: str
    score: float


def kind_of(question: str) -> Kind:
    """What kind of answer ``question`` asks for; a name where nothing says otherwise."""
    text = question.strip()
    if _YES_NO.match(text) and not _CHOICE.search(text):
        return "yes_no"
    return next((kind for kind, pattern in _KINDS if pattern.search(text)), "name")


def choose(question: str, passages: Sequence[Passage]) -> Span:
    """The best span; all fields empty where no sentence shares a word with the question.

    A word weighs the more the fewer of the passages hold it. Sentences without a span of the right kind stand back.
    """
    kind = kind_of(question)
    asked = set(tokenize(question))
    held = Counter(term for passage in passages for term in set(tokenize(passage.indexed_text)) & asked)
    weight = {term: 1.0 + math.log(len(passages) / held[term]) for term in held}
    total = sum(weight.values()) or 1.0
    best = Span("", "", "", 0.0)
    for rank, passage in enumerate(passages):
        title = set(tokenize(passage.topic)) & asked
        for sentence in sentences(passage.text):
            shared = set(tokenize(sentence)) & asked
            score = sum(weight[t] for t in shared) + HEADING * sum(weight[t] for t in title - shared)
            score = score / total * (0.98**rank)  # of equals the one that was found first
            text = _span(kind, question, sentence, passage.title)
            if not text:
                score *= 0.5
            if score > best.score:
                best = Span(text, sentence, passage.id, score)
    return best


def _span(kind: Kind, question: str, sentence: str, title: str) -> str:
    if kind == "yes_no":
        return "yes"
    asked = {word.lower() for word in re.findall(r"\w+", question)}
    found = [match.group().strip(" .") for match in _SPANS[kind].finditer(sentence)]
    new = [text for text in found if not {word.lower() for word in re.findall(r"\w+", text)} <= asked]
    if kind == "name":
        # "It", "The film": what opens a sentence is mostly no name
        opening = sentence.split(" ", 1)[0]
        new = [text for text in new if text != opening or text in title] or new
        return max(new, key=len, default="")
    return new[0] if new else ""
