"""Lays a claim beside the sentence of the source that it repeats, word by word, and reads the differences.

A claim that keeps the words and their order but exchanges one number, animal, crop, month or "not" is the error that counts
and that a comparison of sets does not see: "100 kg needs 180 kg" and "180 kg needs 100 kg" hold the same numbers. Says
nothing about claims that are worded freely: their order tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import Stemmer

from lqr.grounding.polarity import Fault
from lqr.grounding.quantities import Quantity, falling_ranges, is_stated, quantities
from lqr.grounding.vocabulary import ANIMALS, CROPS, MONTHS, NEGATORS, SEASONS
from lqr.text import sentence_spans, words

# So much of the claim must stand in the sentence in the same order, measures left out, for differences to mean something.
SAME_ORDER = 0.75
NEAREST = 0.9  # sentences that match the claim nearly as well as the best are read too; one without a fault is enough


@dataclass(frozen=True, slots=True)
class _Side:
    """A text as words without measures, and their stems, in order."""

    stems: tuple[str, ...]
    words: tuple[str, ...]


def alignment_faults(claim: str, texts: Sequence[str]) -> list[Fault]:
    """The fewest faults of ``claim`` (one sentence) against a sentence of ``texts`` that it repeats; none if it repeats none."""
    mine = _side(claim)
    faults = _falling(claim, texts)
    if len(mine.stems) < 3:
        return faults
    matched = []
    for text in texts:
        for start, end in sentence_spans(text):
            theirs = _side(text[start:end])
            held = set(theirs.stems)
            if sum(stem in held for stem in mine.stems) < SAME_ORDER * len(mine.stems):
                continue  # no order can do better
            matcher = SequenceMatcher(None, mine.stems, theirs.stems, autojunk=False)
            share = sum(block.size for block in matcher.get_matching_blocks()) / len(mine.stems)
            if share >= SAME_ORDER:
                matched.append((share, matcher, theirs, text[start:end]))
    best = max((share for share, _, _, _ in matched), default=0.0)
    said = quantities(claim)
    readings = [
        [*_moved(said, quantities(sentence)), *_exchanged(matcher, mine, theirs)]
        for share, matcher, theirs, sentence in matched
        if share >= NEAREST * best
    ]
    return [*faults, *min(readings, key=len, default=[])]


def repeated(claim: str, text: str, least: float = SAME_ORDER) -> list[str]:
    """The sentences of ``text`` that hold the share ``least`` of the claim's words in its order, measures left out."""
    mine = _side(claim).stems
    found = []
    for start, end in sentence_spans(text):
        theirs = _side(text[start:end]).stems
        blocks = SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
        # both ways: a claim is not repeated by a long sentence that happens to hold its few words
        if len(mine) >= 3 and 2 * sum(block.size for block in blocks) >= least * (len(mine) + len(theirs)):
            found.append(text[start:end])
    return found


def _side(text: str) -> _Side:
    stemmer = Stemmer.Stemmer("english")  # one for each call: an instance is not safe across threads
    text = _PARTICLE.sub("", text)
    lowered = re.sub(r"n['’]t\b", " not", re.sub(r"\bcannot\b", "can not", text.lower()))
    kept = tuple(word for word in words(lowered) if not (word[0].isdigit() or word in _MEASURES))
    return _Side(tuple(stemmer.stemWords(list(kept))), kept)


def _falling(claim: str, texts: Sequence[str]) -> list[Fault]:
    """A range whose ends have changed places: no document means 15 to 10."""
    known = {pair for text in texts for pair in falling_ranges(text)}
    return [
        Fault("number", f"{low:g} to {high:g} is turned round") for high, low in falling_ranges(claim) if (high, low) not in known
    ]


def _moved(mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> list[Fault]:
    """Quantities of the claim that the sentence has in another place: those it keeps must come in the sentence's order."""
    faults = []
    at = 0
    before: Quantity | None = None
    for quantity in mine:
        found = next((i for i in range(at, len(theirs)) if is_stated(quantity, [theirs[i]])), None)
        if found is not None:
            at = found + 1
        elif not (
            before is not None and quantity.unit != before.unit and at and is_stated(quantity, [theirs[at - 1]])
        ) and is_stated(quantity, theirs):  # what the sentence lacks altogether is another check's affair
            faults.append(Fault("number", f"{quantity.text.strip()} stands in another place in the source"))
        before = quantity
    return faults


def _exchanged(matcher: SequenceMatcher[str], mine: _Side, theirs: _Side) -> list[Fault]:
    faults = []
    all_mine, all_theirs = _negations(mine.words), _negations(theirs.words)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        said, stated = mine.words[a:b], theirs.words[c:d]
        if tag == "replace":
            for kind, table in (("species", _ANIMAL), ("crop", _CROP), ("date", _MONTH), ("date", _SEASON)):
                one, other = _things(said, table), _things(stated, table)
                if kind == "date" and len(other) > 1:
                    continue  # "in May" for "from April to June": which months a range holds is read elsewhere
                if one and other and not _agree(one, other):
                    gained, lost = ", ".join(w for w in said if w in table), ", ".join(w for w in stated if w in table)
                    faults.append(Fault(kind, f"the source says this of {lost}, not of {gained}"))  # type: ignore[arg-type]
        adds, loses = _negations(said, mine.words[b : b + 1]), _negations(stated, theirs.words[d : d + 1])
        # a part of a sentence that the claim leaves out may hold any "not"; a "not" that only moves within it is no fault
        if (adds > loses and all_mine > all_theirs) or (loses > adds and all_theirs > all_mine and (said or len(stated) <= 3)):
            detail = f"the source says “{' '.join(stated) or '(nothing)'}”, the claim “{' '.join(said) or '(nothing)'}”"
            faults.append(Fault("polarity", detail))
    return faults


def _negations(tokens: Sequence[str], following: Sequence[str] = ()) -> int:
    """How many words of ``tokens`` negate; "not only" and "no more than" turn nothing round."""
    after = (*tokens[1:], *following, "")
    return sum(token in NEGATORS and after[i] not in _ONLY for i, token in enumerate(tokens))


def _things(tokens: Iterable[str], table: dict[str, tuple[str, str]]) -> set[tuple[str, str]]:
    return {table[token] for token in tokens if token in table}


def _agree(one: set[tuple[str, str]], other: set[tuple[str, str]]) -> bool:
    """Whether both name one thing in common; a general word ("sheep") agrees with its special ones ("ewe")."""
    return any(a[0] == b[0] and (a[1] == b[1] or not a[1] or not b[1]) for a in one for b in other)


def _groups(table: Iterable[tuple[str, Sequence[str]]]) -> dict[str, tuple[str, str]]:
    """Word -> (thing, its special group or "")."""
    return {
        word: (thing, "" if number == 0 else str(number))
        for thing, groups in table
        for number, group in enumerate(groups)
        for word in group.split()
    }


_ONLY = ("only", "just", "more", "less", "later", "longer")
_PARTICLE = re.compile(r"^\W*(?:yes|no)\s?[,:.;–-]\s?", re.IGNORECASE)  # "No: ..." answers a question, it negates nothing here
_ANIMAL = _groups((species, groups) for species, groups in ANIMALS.items())
_CROP = {word: (group, "") for group in CROPS for word in group.split("|") if " " not in word}
_MONTH = {month: (month, "") for month in MONTHS}
_SEASON = {word: (season, "") for season in SEASONS for word in season.split("|")}
_MEASURES = frozenset(
    "one two three four five six seven eight nine ten eleven twelve kg g mg t ml l litre litres m cm mm km ha mu days day weeks "
    "week months month hours hour minutes minute years year c f percent".split()
)
