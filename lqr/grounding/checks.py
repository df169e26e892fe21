"""Does a passage say what a claim says? Hard checks by rule, a soft one by shared words, and their sum.

The hard checks look for what makes an answer dangerous: another number or unit, another animal or crop, another
month, a name that is not there, the opposite meaning. They read words, not meaning, so a claim without a fault need not
be supported: that is what :func:`verify` decides. Nothing here is trained, and no passage is retrieved here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import Stemmer

from lqr.grounding.quantities import UNIT_NAMES, is_stated, quantities
from lqr.grounding.vocabulary import AMBIGUOUS, ANIMALS, CROPS, HARM, HARMLESS, MONTHS, NEGATORS, OPPOSITES, SEASONS
from lqr.text import content_words, is_cjk, sentence_spans, sentences, words
from lqr.types import Passage, Support

FaultKind = Literal["number", "species", "crop", "date", "name", "polarity"]

# A claim whose content words are nearly all in one window of the passage says little else. One word in five is the
# room that a reworded verb or a linking noun takes in sentences of eight to fifteen content words.
SUPPORTED_OVERLAP = 0.8
# With half of the words elsewhere, a claim may be a paraphrase or something new: sentence vectors decide, if there are any.
PARTIAL_OVERLAP = 0.5
# Measured with all-MiniLM-L6-v2: rewordings 0.77 to 1.0; another statement about the same thing up to 0.78; unrelated
# statements at most 0.62, 99 in 100 below 0.54. Hence a vector alone never makes a claim more than partial.
PARAPHRASE_COSINE = 0.8
RELATED_COSINE = 0.65
# Below this share the window is about something else, and "the opposite" of it means nothing.
SAME_STATEMENT = 0.5
FEWEST_QUOTED_WORDS = 3  # shorter strings are found anywhere

Encode = Callable[[Sequence[str]], Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """One contradiction between a claim and what it cites. ``detail`` is a clause for a person."""

    kind: FaultKind
    detail: str


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
        *(fault for statement in statements for fault in _polarity_faults(statement, texts)),
    )


def overlap(claim: str, passage_text: str) -> float:
    """Share (0 to 1) of the claim's content words found in one window of one or two sentences; 0 without such words."""
    return _best_window(claim, passage_text)[0]


def verify(claim: str, passages: Sequence[Passage], *, question: str = "", encode: Encode | None = None) -> Support:
    """How well ``claim`` stands on ``passages``.

    ``quoted``: its very words; ``supported``: nearly all its words in one place, or a close paraphrase; ``partial``: half of
    them; ``unsupported``: less, or any fault of :func:`check_claim`. A claim that joins passages is measured against the
    best window of each, together.

    Args:
        encode: texts to vectors of shape (texts, dimensions), for paraphrases; None does without.
    """
    wanted = set(_stems(claim, measures=False)) or set(_stems(claim))
    if not passages or not wanted or check_claim(claim, passages, question=question):
        return "unsupported"
    if len(words(claim)) >= FEWEST_QUOTED_WORDS and any(_is_quoted(claim, passage) for passage in passages):
        return "quoted"
    # Numbers and units are compared as quantities, so that "180 kg/ha" agrees with "12 kg per mu"; and they must stand
    # beside the words: a passage has many numbers, and the wrong one of them is an error like any other.
    windows = " ".join(_best_window(claim, passage.indexed_text, measures=False)[1] for passage in passages)
    share = len(wanted & set(_stems(windows))) / len(wanted)
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
    share, window = _closest(" ".join(word for word in words(claim) if word not in names), texts)
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


# --- polarity --------------------------------------------------------------------------------------------------------

_PERMISSION = re.compile(
    r"^\W*yes\b|\b(?:can|may|could|should)\s+(?:\w+ly\s+)?(?:be\s+)?(?:give|given|feed|fed|eat|eaten|graze|grazed|drink|use|used|have|offered|mixed|mix|sold|drunk)\b"
    r"|\b(?:safe|safely|harmless|fine|okay|suitable)\b",
    re.IGNORECASE,
)
_SCOPE = 4  # content words that a negation reaches: "do not | feed | sheep | the cattle | mix"


def _polarity_faults(claim: str, texts: Sequence[str]) -> list[Fault]:
    share, window = _closest(claim, texts)
    if share < SAME_STATEMENT:
        return []
    faults = []
    claim_words, window_words = set(words(claim)), set(words(window))
    reversed_here = _negated(claim) ^ _negated(window)
    shared = set(_stems(claim)) & set(_stems(window))
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
    stems: set[str] = set()
    for i in _negators(text):
        reach: list[str] = []
        for token in tokens[i + 1 :]:
            if token in ".;:" or (token in ("but", ",") and reach):
                break
            reach.extend(_stems(token))
            if len(reach) >= _SCOPE:
                break
        stems |= set(reach)
    return stems


def _alone(claim: str, window: str) -> bool:
    """Whether one side does not negate at all: with negations on both sides, their reach is too rough a measure."""
    return not _negators(claim) or not _negators(window)


def _has(text: str, alternatives: str) -> str:
    match = re.search(rf"\b(?:{alternatives})\b", text, re.IGNORECASE)
    return match.group() if match else ""


# --- words -----------------------------------------------------------------------------------------------------------


def _best_window(claim: str, text: str, *, longest: int = 2, measures: bool = True) -> tuple[float, str]:
    """The window of one to ``longest`` sentences that holds most of the claim's stems; a single sentence wins a tie."""
    wanted = set(_stems(claim, measures=measures)) or set(_stems(claim))
    best = (0.0, "")
    spans = sentence_spans(text)
    for length in range(1, longest + 1):
        for index in range(len(spans) - length + 1):
            window = text[spans[index][0] : spans[index + length - 1][1]]
            share = len(wanted & set(_stems(window))) / len(wanted) if wanted else 0.0
            if share > best[0]:
                best = (share, window)
    return best


def _closest(claim: str, texts: Sequence[str]) -> tuple[float, str]:
    """The one sentence that shares most with the claim: two would bring in what is said of something else."""
    return max((_best_window(claim, text, longest=1) for text in texts), key=lambda found: found[0])


_DIGITS = {
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
}


def _stems(text: str, *, measures: bool = True) -> list[str]:
    """Stemmed content words; number words as digits; Chinese as pairs of characters. ``measures``: numbers and units too."""
    stemmer = Stemmer.Stemmer("english")  # one for each call: an instance is not safe across threads
    found: list[str] = []
    for word in content_words(text.replace(",", "")):
        word = _DIGITS.get(word, word)
        if not measures and (word[0].isdigit() or word in UNIT_NAMES):
            continue
        if is_cjk(word):
            found.extend(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            found.append(stemmer.stemWord(word))
    return found


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
