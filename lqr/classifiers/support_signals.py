"""Signals of words between a claim and an evidence text: coverage, numbers, names, negation. No model.

They are comparisons of surfaces; what they weigh is fitted elsewhere. A stage beside this one (grounding) makes its own,
stricter checks of quantities; here a number is only a string.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import Stemmer

from lqr.text import content_words, sentence_spans

SIGNALS = ("coverage", "uncovered", "numbers", "names", "negation", "length", "nearest")

_NEGATIVE = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|n't|fail(?:s|ed)?|refus(?:e|es|ed)|unable|incapable|lacks?|lacked|yet to|"
    r"only|avoid(?:s|ed)?|prevent(?:s|ed)?|stopped|den(?:y|ies|ied))\b|n't\b"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=\s)[A-Z][\w'’-]+")


def signals(claim: str, evidence: str) -> dict[str, float]:
    """:data:`SIGNALS` of a pair.

    ``coverage``: share of the claim's content stems in the evidence; ``uncovered``: how many are not, up to 5, over 5;
    ``numbers``, ``names``: share of the claim's that the evidence holds (1 without any); ``negation``: 1 if exactly one of
    both negates; ``length``: words of the claim over 30, at most 1; ``nearest``: coverage by the one nearest sentence.
    """
    wanted, held = set(_stems(claim)), set(_stems(evidence))
    missing = wanted - held
    nearest = best_sentence(claim, evidence)
    negated = [bool(_NEGATIVE.search(text.lower())) for text in (claim, nearest)]
    return {
        "coverage": 1 - len(missing) / len(wanted) if wanted else 0.0,
        "uncovered": min(len(missing), 5) / 5,
        "numbers": _share(set(_NUMBER.findall(claim)), set(_NUMBER.findall(evidence))),
        "names": _share({n.lower() for n in _NAME.findall(claim)}, set(re.findall(r"[\w'’-]+", evidence.lower()))),
        "negation": float(negated[0] != negated[1]),
        "length": min(len(claim.split()), 30) / 30,
        "nearest": len(wanted & set(_stems(nearest))) / len(wanted) if wanted else 0.0,
    }


def window_of(claim: str, evidence: str, limit: int) -> str:
    """The sentences of ``evidence`` nearest the claim, in their order, up to ``limit`` words; all of a short one."""
    if len(evidence.split()) <= limit:
        return evidence
    pieces = _pieces(evidence)
    wanted = set(_stems(claim))
    held = [wanted & set(_stems(piece)) for piece in pieces]
    chosen: set[int] = set()
    covered: set[str] = set()
    room = limit
    while room > 0:
        # what is new counts most; the first sentence of a text names its subject, so it wins a tie
        best = max(
            (i for i in range(len(pieces)) if i not in chosen),
            key=lambda i: (len(held[i] - covered), len(held[i]), -i),
            default=None,
        )
        if best is None or not held[best]:
            break
        chosen.add(best)
        covered |= held[best]
        room -= len(pieces[best].split())
    return " ".join(pieces[i] for i in sorted(chosen)) or " ".join(evidence.split()[:limit])


def best_sentence(claim: str, evidence: str) -> str:
    """The sentence of ``evidence`` that holds most of the claim's stems."""
    wanted = set(_stems(claim))
    return max(_pieces(evidence), key=lambda piece: len(wanted & set(_stems(piece))), default="")


def _pieces(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def _stems(text: str) -> Sequence[str]:
    stemmer = Stemmer.Stemmer("english")  # one for each call: an instance is not safe across threads
    found: Sequence[str] = stemmer.stemWords(content_words(text))
    return found


def _share(wanted: set[str], held: set[str]) -> float:
    return len(wanted & held) / len(wanted) if wanted else 1.0
