"""What the graph looks for in a passage's words: titles of documents, and rare things that few passages mention.

Pure text: counts and dictionary look-ups over our own tokens, no model and no list of names. It knows no edges.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lqr.retrieval.tokenizer import STOP_WORDS, tokenize
from lqr.types import Passage

MAX_RARE = 8  # passages; a term in more of them says little about any two
MAX_TITLE_TERMS = 8
MAX_SHARED_ALIAS = 2  # documents that may answer to one alias

# Runs of capitalised words, joined by a small word or not: "Inner Mongolia", "University of Otago", "Haemonchus".
_CAPITAL = r"[^\W\d_a-z][^\W_]*(?:[-'’][^\W_]+)*"
_NAME = re.compile(rf"{_CAPITAL}(?:\s(?:(?:of|the|de|van|von)\s)?{_CAPITAL})*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n]\s*[\"'“‘(\[*-]*\s*)$")
_PARENTHESIS = re.compile(r"\s*[(（][^()（）]*[)）]")
_TAIL = re.compile(r"\s*(?::|\s[-–—]\s|\s(?:in|of|for|on|from|at|to|with|without|under)\s).*", re.IGNORECASE)
_HEAD = re.compile(r"^(?:the|a|an|how to|[a-z]{3,}ing)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RareTerm:
    """A term that 2 to ``MAX_RARE`` passages hold; ``named`` when it is written as a name (capitals inside a sentence)."""

    text: str
    rows: tuple[int, ...]
    named: bool


@dataclass(frozen=True, slots=True)
class TermTable:
    """The terms of all passages: a sequence for each, document frequencies, and the rare ones."""

    sequences: tuple[tuple[str, ...], ...]
    frequency: Mapping[str, int]
    rare: tuple[RareTerm, ...]
    sets: tuple[frozenset[str], ...] = field(repr=False, default=())

    def overlap(self, first: int, second: int) -> float:
        """Summed inverse document frequency of the terms that two passages share."""
        size = len(self.sequences)
        # Sorted, because the order of a set of strings, and with it the last bit of a sum, differs from run to run.
        return sum(math.log(size / self.frequency[term]) for term in sorted(self.sets[first] & self.sets[second]))


def simple_terms(text: str) -> tuple[str, ...]:
    """Our tokens without the joined wholes: ``foot-rot`` and ``foot rot`` give the same sequence."""
    return tuple(term for term in tokenize(text) if "-" not in term and "/" not in term)


def rare_terms(passages: Sequence[Passage]) -> TermTable:
    """Collect the terms of all passages and pick the rare ones: names, and content words of five letters or more."""
    sequences = tuple(simple_terms(passage.text) for passage in passages)
    sets = tuple(frozenset(sequence) for sequence in sequences)
    frequency = Counter(term for terms in sets for term in terms)
    most = min(MAX_RARE, max(2, len(passages) // 20))  # in a handful of passages, eight would be all of them
    names: dict[tuple[str, ...], list[int]] = {}
    shown: dict[tuple[str, ...], str] = {}
    words: dict[str, list[int]] = {}
    for row, passage in enumerate(passages):
        for name in dict.fromkeys(_names(passage.text)):
            key = simple_terms(name)
            if key and (not names.get(key) or names[key][-1] != row):
                names.setdefault(key, []).append(row)
                shown.setdefault(key, name)
        for term in dict.fromkeys(sequences[row]):
            if len(term) >= 5 and term.isalpha() and 2 <= frequency[term] <= most:
                words.setdefault(term, []).append(row)
    rare = [RareTerm(shown[key], tuple(rows), True) for key, rows in names.items() if 2 <= len(rows) <= most]
    rare += [
        RareTerm(_as_written(term, passages[rows[0]].text), tuple(rows), False)
        for term, rows in words.items()
        if (term,) not in names
    ]
    return TermTable(sequences, frequency, tuple(rare), sets)


def _as_written(stem: str, text: str) -> str:
    """The word of ``text`` behind a stem, to be shown; a stem may differ from its word in the last letter (``berri``)."""
    match = re.search(rf"\b{re.escape(stem[:-1])}\w*", text, re.IGNORECASE)
    return match.group() if match else stem


def _names(text: str) -> Iterable[str]:
    for match in _NAME.finditer(text):
        opening, _, rest = match.group().partition(" ")
        if opening.lower() in STOP_WORDS:
            name, start = rest, match.end() - len(rest)  # "The Gobi", "In Gansu"
        else:
            name, start = match.group(), match.start()
        if len(name) < 3 or name.lower() in STOP_WORDS:
            continue
        if " " not in name and _SENTENCE_START.search(text[max(0, start - 6) : start]):
            continue  # its capital may only open the sentence
        yield name


def aliases(title: str) -> list[tuple[str, ...]]:
    """How a text may name a document, as term sequences, the full title first.

    ``Copper poisoning in sheep`` is also ``copper poisoning``; ``Growing rice`` is also ``rice``; ``Paris (Texas)`` also
    ``Paris``. What is left of a cut at a small word must keep two words: ``Care of lambs`` is not ``care``.
    """
    bare = _PARENTHESIS.sub("", title).strip()
    found = [simple_terms(title), simple_terms(bare), simple_terms(_HEAD.sub("", bare))]
    for text in (bare, _HEAD.sub("", bare)):
        head = simple_terms(_TAIL.sub("", text))
        if len(head) >= 2:
            found.append(head)
    return [
        a for a in dict.fromkeys(found) if 1 <= len(a) <= MAX_TITLE_TERMS and any(len(t) > 2 and not t[0].isdigit() for t in a)
    ]


class TitleIndex:
    """Finds which documents a text names: a dictionary of title aliases, looked up by first term and length."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        """``titles`` maps document id to title; an alias of more than ``MAX_SHARED_ALIAS`` documents names none of them."""
        owners: dict[tuple[str, ...], list[str]] = {}
        for document_id, title in titles.items():
            for alias in aliases(title):
                owners.setdefault(alias, []).append(document_id)
        self._owners = {alias: tuple(ids) for alias, ids in owners.items() if len(ids) <= MAX_SHARED_ALIAS}
        lengths: dict[str, set[int]] = {}
        for alias in self._owners:
            lengths.setdefault(alias[0], set()).add(len(alias))
        self._lengths = {first: sorted(found, reverse=True) for first, found in lengths.items()}

    def named_in(self, terms: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Document id to the alias by which ``terms`` names it; of overlapping names the longest from the left wins."""
        found: dict[str, tuple[str, ...]] = {}
        at = 0
        while at < len(terms):
            for length in self._lengths.get(terms[at], ()):
                alias = tuple(terms[at : at + length])
                if alias in self._owners:
                    for document_id in self._owners[alias]:
                        found.setdefault(document_id, alias)
                    at += length - 1
                    break
            at += 1
        return found
