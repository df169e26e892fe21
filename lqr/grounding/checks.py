"""Does a passage say what a claim says? Hard checks by rule, a soft one by shared words, and their sum.

The hard checks look for what makes an answer dangerous: another number or unit, another animal or crop, another
month, a name that is not there, the opposite meaning. They read words, not meaning, so a claim without a fault need not
be supported: that is what :func:`verify` decides. Nothing here is trained, and no passage is retrieved here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lqr.grounding.alignment import alignment_faults
from lqr.grounding.polarity import SAME_STATEMENT, Fault, FaultKind, polarity_faults
from lqr.grounding.quantities import is_stated, quantities
from lqr.grounding.vocabulary import AMBIGUOUS, ANIMALS, CROPS, MONTHS, SEASONS
from lqr.grounding.windows import best_window, closest, stems
from lqr.text import sentence_spans, sentences, words
from lqr.types import Passage, Support

__all__ = ["Fault", "FaultKind", "check_claim", "overlap", "verify"]

# A claim whose content words are nearly all in one window of the passage says little else. One word in five is the
# room that a reworded verb or a linking noun takes in sentences of eight to fifteen content words.
SUPPORTED_OVERLAP = 0.8
# With half of the words elsewhere, a claim may be a paraphrase or something new: sentence vectors decide, if there are any.
PARTIAL_OVERLAP = 0.5
# Measured with all-MiniLM-L6-v2: rewordings 0.77 to 1.0; another statement about the same thing up to 0.78; unrelated
# statements at most 0.62, 99 in 100 below 0.54. Hence a vector alone never makes a claim more than partial.
PARAPHRASE_COSINE = 0.8
RELATED_COSINE = 0.65
FEWEST_QUOTED_WORDS = 3  # shorter strings are found anywhere

Encode = Callable[[Sequence[str]], Any]


def check_claim(claim: str, passages: Sequence[Passage], *, question: str = "") -> tuple[Fault, ...]:
    """What in ``claim`` its passages contradict or don't hold.

    Title, section and metadata (species, crop, region ...) count as part of a passage, except for numbers. An animal
    that the question names is taken as the claim's subject when the claim names none.
    """
    if not passages:
        return ()
    statements = sentences(claim)
    texts = [passage.text for passage in passages]
    contexts = [_with_context(passage) for passage in passages]
    return (
        *_number_faults(claim, texts),
        *_animal_faults(claim, contexts, question),
        *(fault for statement in statements for fault in _exchanged_animals(statement, texts)),
        *_word_faults("crop", claim, contexts, CROPS),
        *_date_faults(claim, contexts),
        *_name_faults(claim, contexts, question),
        *(fault for statement in statements for fault in polarity_faults(statement, texts)),
        *(fault for statement in statements for fault in alignment_faults(statement, texts)),
    )


def overlap(claim: str, passage_text: str) -> float:
    """Share (0 to 1) of the claim's content words found in one window of one or two sentences; 0 without such words."""
    return best_window(claim, passage_text)[0]


def verify(claim: str, passages: Sequence[Passage], *, question: str = "", encode: Encode | None = None) -> Support:
    """How well ``claim`` stands on ``passages``.

    ``quoted``: its very words; ``supported``: nearly all its words in one place, or a close paraphrase; ``partial``: half of
    them; ``unsupported``: less, or any fault of :func:`check_claim`. A claim that joins passages is measured against the
    best window of each, together.

    Args:
        encode: texts to vectors of shape (texts, dimensions), for paraphrases; None does without.
    """
    wanted = set(stems(claim, measures=False)) or set(stems(claim))
    if claim.rstrip("\"'”’) ").endswith(("?", "？")):
        return "unsupported"  # a question states nothing; small models like to repeat the one they were asked
    if not passages or not wanted or check_claim(claim, passages, question=question):
        return "unsupported"
    if len(words(claim)) >= FEWEST_QUOTED_WORDS and any(_is_quoted(claim, passage) for passage in passages):
        return "quoted"
    # Numbers and units are compared as quantities, so that "180 kg/ha" agrees with "12 kg per mu"; and they must stand
    # beside the words: a passage has many numbers, and the wrong one of them is an error like any other.
    windows = " ".join(best_window(claim, passage.indexed_text, measures=False)[1] for passage in passages)
    share = len(wanted & set(stems(windows))) / len(wanted)
    near = quantities(windows)
    if not all(is_stated(quantity, near) for quantity in quantities(claim)):
        return "partial" if share >= PARTIAL_OVERLAP else "unsupported"
    if share >= SUPPORTED_OVERLAP:
        return "supported"
    nearness = _nearness(claim, passages, encode) if encode is not None else 0.0
    if share >= PARTIAL_OVERLAP and nearness >= PARAPHRASE_COSINE:
        return "supported"
    if share >= PARTIAL_OVERLAP or nearness >= PARAPHRASE_COSINE or (share >= PARTIAL_OVERLAP / 2 and nearness >= RELATED_COSINE):
        return "partial"
    return "unsupported"


# --- numbers, animals, crops, dates, names ---------------------------------------------------------------------------


def _number_faults(claim: str, texts: Sequence[str]) -> list[Fault]:
    stated = [quantity for text in texts for quantity in quantities(text)]
    return [
        Fault("number", f"{quantity.text.strip()} is not in the source")
        for quantity in quantities(claim)
        if not is_stated(quantity, stated)
    ]


def _animal_faults(claim: str, contexts: Sequence[str], question: str) -> list[Fault]:
    claimed, stated, asked = _animals(claim), _animals(" ".join(contexts)), _animals(question)
    faults = []
    for species, groups in claimed.items():
        if species not in stated:
            # "turkey" or "kid" may be something else; then the source need not name the animal
            if not groups <= AMBIGUOUS and not (groups & set(words(" ".join(contexts)))):
                faults.append(Fault("species", f"{species} is not in the source"))
            continue
        generic = set(ANIMALS[species][0].split())
        here = stated[species]
        for group in map(set, map(str.split, ANIMALS[species][1:])):
            if groups & group - AMBIGUOUS and not here & group and not here & generic:
                faults.append(
                    Fault("species", f"the source is about {', '.join(sorted(here))}, not {', '.join(sorted(groups & group))}")
                )
    if not claimed and asked and stated and not asked.keys() & stated.keys():
        faults.append(Fault("species", f"asked about {', '.join(asked)}, the source is about {', '.join(stated)}"))
    return faults


def _exchanged_animals(claim: str, texts: Sequence[str]) -> list[Fault]:
    """A statement about one animal where the same statement of the source names another, in a source on both."""
    mine = _animals(claim)
    names = {name for found in mine.values() for name in found}
    share, window = closest(" ".join(word for word in words(claim) if word not in names), texts)
    theirs = _animals(window)
    if share < SAME_STATEMENT or not mine.keys() - theirs.keys() or not theirs.keys() - mine.keys():
        return []
    gained, lost = ", ".join(mine.keys() - theirs.keys()), ", ".join(theirs.keys() - mine.keys())
    return [Fault("species", f"the source says this of {lost}, not of {gained}")]


def _animals(text: str) -> dict[str, set[str]]:
    present = set(words(text))
    found = {species: present & {w for group in groups for w in group.split()} for species, groups in ANIMALS.items()}
    return {species: names for species, names in found.items() if names and not (names <= AMBIGUOUS)}


def _word_faults(kind: FaultKind, claim: str, contexts: Sequence[str], groups: Iterable[str]) -> list[Fault]:
    context = " ".join(contexts)
    faults = []
    for group in groups:
        pattern = re.compile(rf"(?<!sweet )\b(?:{group})\b", re.IGNORECASE)
        if (match := pattern.search(claim)) and not pattern.search(context):
            faults.append(Fault(kind, f"{match.group()} is not in the source"))
    return faults


def _date_faults(claim: str, contexts: Sequence[str]) -> list[Fault]:
    context = " ".join(contexts)
    stated = _months(context)
    for first, last in re.findall(rf"\b({_MONTH})\b\s?(?:-|–|—|to|until|through|and)\s?\b({_MONTH})\b", context):
        one, other = _month(first), _month(last)
        stated |= {month % 12 for month in range(one, other + 1 if other >= one else other + 13)}
    faults = [Fault("date", f"{MONTHS[month].title()} is not in the source") for month in sorted(_months(claim) - stated)]
    # "fall" and "spring" have other meanings: only after a word that makes them a time
    seasons = [
        season
        for season in SEASONS
        if re.search(rf"\b(?:in|during|early|late|mid|this|each|every|by|of|the)[\s-](?:{season})\b", claim, re.IGNORECASE)
    ]
    return faults + _word_faults("date", claim, contexts, seasons)


_MONTH = "|".join(f"{name.title()}|{name[:3].title()}" for name in MONTHS) + "|Sept"


def _month(name: str) -> int:
    return next(i for i, month in enumerate(MONTHS) if month.startswith(name.lower()[:3]))


def _months(text: str) -> set[int]:
    """Months named in ``text``; "May" and "March" only where they can't be verbs: capitals, and not opening a sentence."""
    found = set()
    for match in re.finditer(rf"\b({_MONTH})\b", text):
        before = text[: match.start()].rstrip()
        opens = not before or before[-1] in ".!?:;"
        if match[1] in ("May", "March", "Mar") and opens and not re.match(r"\s?(?:-|–|to|and|is|,)", text[match.end() :]):
            continue
        found.add(_month(match[1]))
    return found


def _name_faults(claim: str, contexts: Sequence[str], question: str) -> list[Fault]:
    """Capitalised words within a sentence, and codes such as B12, that stand neither in the source nor in the question."""
    known = set(re.findall(r"[^\W_]+", " ".join((*contexts, question)).lower())) | set(words(" ".join((*contexts, question))))
    faults = []
    for start, end in sentence_spans(claim):
        for match in list(re.finditer(r"[^\W\d_][\w'’-]*", claim[start:end]))[1:]:
            name = match.group()
            if (
                not name[0].isupper()
                or len(name) < 3
                or claim[start:end][: match.start()].rstrip()[-1:] in (":", '"', "“", "•", "|")
            ):
                continue
            if re.fullmatch(_MONTH, name) or re.fullmatch(r"(?:Fahrenheit|Celsius|Yes|The|This|They)", name):
                continue
            stem = re.sub(r"['’]s$|s$", "", name.lower())
            if not {name.lower(), stem, stem + "s", stem + "'s"} & known and not all(p in known for p in name.lower().split("-")):
                faults.append(Fault("name", f"{name} is not in the source"))
    return faults


# --- words and vectors ----------------------------------------------------------------------------------------------


def _is_quoted(claim: str, passage: Passage) -> bool:
    needle = _letters(claim)
    return bool(needle) and any(
        f" {needle} " in f" {_letters(text)} " for text in (passage.text, f"{passage.heading}. {passage.text}")
    )


def _letters(text: str) -> str:
    """Only what is read aloud: case, punctuation and brackets put around numbers don't make a quotation another."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"[^\W_]+(?:[.,/][^\W_]+)*|[%°<>≤≥±-](?=\d)|%", folded))


def _nearness(claim: str, passages: Sequence[Passage], encode: Encode) -> float:
    """Largest cosine between the claim and a sentence (or two in a row) of the passages."""
    import numpy

    windows = [
        passage.text[spans[i][0] : spans[i + length - 1][1]]
        for passage in passages
        for spans in [sentence_spans(passage.text)]
        for length in (1, 2)
        for i in range(len(spans) - length + 1)
    ]
    if not windows:
        return 0.0
    vectors = numpy.asarray(encode([claim, *windows]), dtype="float32")
    vectors = vectors / numpy.maximum(numpy.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return float((vectors[1:] @ vectors[0]).max())


def _with_context(passage: Passage) -> str:
    return f"{passage.indexed_text} {' '.join(_values(passage.metadata))}"


def _values(metadata: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for value in metadata.values():
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, Mapping):
            found.extend(_values(value))
        elif isinstance(value, Sequence):
            found.extend(str(item) for item in value if isinstance(item, str))
    return found
