"""Does a claim turn round what its passage says? Negation, permission against a warning, opposite words.

Compares the claim with the one sentence of the source that shares most words with it. It reads words, not meaning:
two negations in one sentence, irony and conditions are beyond it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lqr.grounding.vocabulary import HARM, HARMLESS, NEGATORS, OPPOSITES
from lqr.grounding.windows import closest, stems
from lqr.text import words

FaultKind = Literal["number", "species", "crop", "date", "name", "polarity"]

# Below this share the window is about something else, and "the opposite" of it means nothing.
SAME_STATEMENT = 0.5


@dataclass(frozen=True, slots=True)
class Fault:
    """One contradiction between a claim and what it cites. ``detail`` is a clause for a person."""

    kind: FaultKind
    detail: str


_PERMISSION = re.compile(
    r"^\W*yes\b|\b(?:can|may|could|should)\s+(?:\w+ly\s+)?(?:be\s+)?(?:give|given|feed|fed|eat|eaten|graze|grazed|drink|use|used|have|offered|mixed|mix|sold|drunk)\b"
    r"|\b(?:safe|safely|harmless|fine|okay|suitable)\b",
    re.IGNORECASE,
)
_SCOPE = 4  # content words that a negation reaches: "do not | feed | sheep | the cattle | mix"


def polarity_faults(claim: str, texts: Sequence[str]) -> list[Fault]:
    """Where ``claim`` says the opposite of the one sentence of ``texts`` (not empty) that is nearest to it."""
    share, window = closest(claim, texts)
    if share < SAME_STATEMENT:
        return []
    faults = []
    claim_words, window_words = set(words(claim)), set(words(window))
    reversed_here = _negated(claim) ^ _negated(window)
    shared = set(stems(claim)) & set(stems(window))
    if (_negated(claim) or _negated(window)) and (turned := reversed_here & shared) and _alone(claim, window):
        faults.append(Fault("polarity", f"the source says the opposite about: {', '.join(sorted(turned))}"))
    harm_here, harm_there = claim_words & HARM, window_words & HARM
    claim_negated, window_negated = bool(_negators(claim)), bool(_negators(window))
    if (
        not harm_here
        and not claim_negated
        and _PERMISSION.search(claim)
        and not window_words & HARMLESS
        and (
            (harm_there and not window_negated)
            or re.search(r"\b(?:never|do not|don't|must not|should not|cannot)\b", window, re.IGNORECASE)
        )
    ):
        faults.append(Fault("polarity", f"the claim allows what the source warns of ({', '.join(sorted(harm_there)) or 'not'})"))
    if (
        harm_here - {"kill", "kills", "killed"}
        and not claim_negated
        and window_words & HARMLESS
        and not harm_there
        and not window_negated
    ):
        faults.append(Fault("polarity", f"the source calls it {', '.join(sorted(window_words & HARMLESS))}"))
    for pair in OPPOSITES:
        for mine, theirs in (pair, pair[::-1]):
            if _has(claim, mine) and not _has(window, mine) and _has(window, theirs) and not _has(claim, theirs):
                faults.append(Fault("polarity", f"the source says {_has(window, theirs)}, the claim {_has(claim, mine)}"))
    return faults


def _negators(text: str) -> list[int]:
    tokens = _tokens(text)
    return [i for i, token in enumerate(tokens) if token in NEGATORS and not _only_with(tokens, i)]


def _only_with(tokens: Sequence[str], i: int) -> bool:
    """ "not only", "no more than", "not less than" turn nothing round."""
    return tokens[i + 1 : i + 2] in (["only"], ["just"]) or (
        tokens[i] in ("no", "not") and tokens[i + 1 : i + 2] in (["more"], ["less"], ["later"], ["longer"])
    )


def _tokens(text: str) -> list[str]:
    text = text.replace("’", "'").lower()
    text = re.sub(r"\bcan't\b|\bcan not\b|\bcannot\b", "can not", text)
    text = re.sub(r"n't\b", " not", text)
    return re.findall(r"[^\W_]+(?:[.'-][^\W_]+)*|[,;:.]", text)


def _negated(text: str) -> set[str]:
    """Stems within reach of a negation: the next few content words of the same clause."""
    tokens = _tokens(text)
    reached: set[str] = set()
    for i in _negators(text):
        reach: list[str] = []
        for token in tokens[i + 1 :]:
            if token in ".;:" or (token in ("but", ",") and reach):
                break
            reach.extend(stems(token))
            if len(reach) >= _SCOPE:
                break
        reached |= set(reach)
    return reached


def _alone(claim: str, window: str) -> bool:
    """Whether one side does not negate at all: with negations on both sides, their reach is too rough a measure."""
    return not _negators(claim) or not _negators(window)


def _has(text: str, alternatives: str) -> str:
    match = re.search(rf"\b(?:{alternatives})\b", text, re.IGNORECASE)
    return match.group() if match else ""
