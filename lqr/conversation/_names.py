"""Finds what a text is about: names from document titles, scope terms of the profile, capitalised names.

One compiled alternation over all titles, whatever their number. Knows nothing of turns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lqr.text import STOPWORDS, content_words

if TYPE_CHECKING:
    from lqr.corpus.profile import Profile

_HEAD = re.compile(r"\s+(?:in|of|for|from|on|at|under|as|during|before|that|made|and its)\s+")
_OPENING = re.compile(
    r"^(?:(?:growing|making|feeding|managing|controlling|common|chronic|winter|spring|good|taking|helping|recognising|protecting|"
    r"measuring|choosing|storing|rearing|a|the|an)\s+)+"
)
# Parts of titles that are no topic by themselves: how they begin, words alone, and aspects that one asks about any crop.
_NO_TOPIC = re.compile(r"(?:and|how|other|reading|using|treating|grouping|when)\b")
_ASPECTS = frozenset(["sowing dates", "farming calendar", "growing degree days"])
_TOO_COMMON = frozenset(
    """
    water soil feed grain farm common handling growing climate signs helping diseases taking recognising protecting using
    season frost straw salt minerals chilled grouping manure heating when pasture castrating tagging mating flushing wind
    units conversions difficult degradation classing packing weeds farming calendar rodents red white stages saline erosion
    artificial
    """.split()
)
# Words that a title begins with, capital and all, and that name no breed.
_ADJECTIVES = frozenset(
    "creep forage perennial winter spring brown sweet dairy beef body common pregnancy shearing water".split()
)
# What people say of an animal instead ("can't pee", "on three legs", "aborted"): that is no name.
_SAID_OF = re.compile(r"n't\b|^(?:cannot|can|on|how|has|got|put)\b|\b(?:has|get|got|their)\b|ed$")
_CAPITAL = r"(?:[A-Z]\.(?=[A-Z ])|[A-Z](?:[\w'’.-]*\w)?)"
_CAPITALISED = re.compile(rf"\b{_CAPITAL}(?: ?(?:(?:of|the|de|van|von|and|in|&) (?:the )?)?{_CAPITAL})*")


@dataclass(frozen=True, slots=True)
class Name:
    """A name at a place in a text. ``kind`` is ``title``, ``breed`` (a title that names a sort of some thing in scope),
    ``name`` (capitalised), or the profile's group; ``thing`` tells two spellings of one thing from two things."""

    text: str
    start: int
    end: int
    kind: str
    thing: str


class Names:
    """The names that one collection knows."""

    def __init__(self, profile: Profile, titles: Sequence[str]) -> None:
        self.profile = profile
        self._breeds, self._titles = title_patterns(titles, profile)
        self._terms: dict[str, list[tuple[str, str]]] = {}
        for groups in (profile.scope, profile.classes):
            for kind, things in groups.items():
                for names in things:
                    for name in names:
                        self._terms.setdefault(name.lower(), []).append((kind, names[0]))
        self._scope = _alternation((term, re.escape(term)) for term in self._terms)
        self._named = {name.lower() for name in profile.synonyms if self._titles.fullmatch(name.lower())}

    def titles(self, text: str) -> list[Name]:
        """Names taken from document titles, in order; the longest at each place."""
        lowered = lower(text)
        found = [
            Name(text[m.start() : m.end()], m.start(), m.end(), kind, _singular(m.group()))
            for kind, pattern in (("breed", self._breeds), ("title", self._titles))
            for m in pattern.finditer(lowered)
        ]
        # "twin lamb disease": what people call what a title names is a topic like the title, unless it names a thing in scope too
        found += [
            Name(text[start:end], start, end, "title", _singular(name.lower()))
            for start, end, name in self.profile.said(text)
            if name.lower() in self._named and self._is_name(lowered[start:end])
        ]
        # "Tan" and "Hu" are words of their own: alone they count only with the capital
        return without_overlaps(n for n in found if len(n.text) > 3 or n.kind == "title" or n.text[0].isupper())

    def _is_name(self, said: str) -> bool:
        # Chinese questions are put together whole (Rewriter), without topics
        return said.isascii() and said not in self._terms and not _SAID_OF.search(said)

    def things(self, text: str, *, classes: bool = True) -> list[Name]:
        """Scope terms of the profile, and class terms unless ``classes`` is False.

        One word may be both ("lambs": an animal, and a class of sheep) and is then found twice.
        """
        found = []
        for match in self._scope.finditer(lower(text)):
            if match.group() == "does" and not _NOUN_FOLLOWS.search(text[: match.start()]):
                continue  # the verb, not the goat
            for kind, thing in self._terms[match.group()]:
                if classes or kind not in self.profile.classes:
                    found.append(Name(text[match.start() : match.end()], match.start(), match.end(), kind, thing))
        return found

    def find(self, text: str) -> list[Name]:
        """Titles and scope terms without overlaps, longest first, in order."""
        return without_overlaps([*self.titles(text), *self.things(text, classes=False)])

    def all(self, text: str) -> list[Name]:
        """:meth:`find` with class terms and capitalised names."""
        return without_overlaps([*self.titles(text), *self.things(text), *capitalised(text)])


_NOUN_FOLLOWS = re.compile(
    r"(?:\b(?:the|my|our|your|their|these|those|all|many|for|of|to|in|with|flush|and|or|dry|young|old|dairy)|\d)\s+$",
    re.IGNORECASE,
)


def without_overlaps(names: Iterable[Name]) -> list[Name]:
    """The longest of names that overlap (the earlier one of equals), in the order of the text."""
    taken: list[Name] = []
    for name in sorted(names, key=lambda n: (n.start - n.end, n.start)):
        if not any(name.start < other.end and other.start < name.end for other in taken):
            taken.append(name)
    return sorted(taken, key=lambda n: n.start)


def capitalised(text: str) -> list[Name]:
    """Runs of capitalised words; a single word that only begins a sentence is none, unless it is the whole text."""
    found = []
    title = all(word[:1].isupper() or not word[:1].isalpha() or len(word) < 4 for word in text.split())
    for match in _CAPITALISED.finditer(text):
        name, start = match.group(), match.start()
        opens = start == 0 or text[:start].rstrip()[-1:] in ".?!:;"
        first, _, rest = name.partition(" ")
        if opens and (first.lower() in STOPWORDS or not content_words(first)):
            if not rest or not rest[0].isupper():
                continue
            name, start = rest, start + len(first) + 1
            opens = False
        if name.lower() in STOPWORDS or (opens and " " not in name and not title):
            continue
        owner = re.sub(r"['’]s?$", "", name)
        found.append(Name(owner, start, start + len(owner), "name", owner.lower()))
    return found


def title_patterns(titles: Sequence[str], profile: Profile | None = None) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Two alternations: breeds, and every title with its telling head ("Chronic copper poisoning in sheep": copper poisoning).

    A breed is a title like "Tan sheep", a proper name before a scope term of ``profile``; "Tan ewes" and "Tan lambs" are
    then names of it too. A pattern without names matches nothing.
    """
    breeds: set[tuple[str, str]] = set()
    plain: set[tuple[str, str]] = set()
    for title in filter(str.strip, titles):
        plain.add((title.lower(), _spelling(title.lower())))
        head = _OPENING.sub("", _HEAD.split(title.lower())[0])
        parts = [part for part in re.split(r"\s*(?:,| and | or )\s*", head) if part]
        shared = _forms(parts[-1].split()[-1], profile) if parts else []
        for part in parts:
            *before, last = part.split()
            forms = _forms(last, profile)
            if shared and not before and not forms and len(parts) > 1 and _is_proper(part, title):
                breeds.add((part, _breed(part, shared)))  # "Texel and Suffolk sheep"
            elif before and forms and _is_proper(before[0], title):
                name = " ".join(before)
                breeds.add((name, _breed(name, forms)))
            elif _NO_TOPIC.match(part):
                continue
            elif len(part) > 2 and part not in _TOO_COMMON | STOPWORDS | _ASPECTS and (before or not forms):
                plain.add((part, _spelling(part)))
    return _alternation(breeds), _alternation(plain)


def _alternation(names: Iterable[tuple[str, str]]) -> re.Pattern[str]:
    """For lower-cased text. Longest name first, gathered under first letters: at a word the engine then tries a handful."""
    by_letter: dict[str, list[str]] = {}
    for _, pattern in sorted(set(names), key=lambda n: (-len(n[0]), n)):
        letter = re.match(r"\[[^\]]*\]\??|\\?.", pattern)  # a class, as for an apostrophe, is one letter
        if letter:
            by_letter.setdefault(letter.group(), []).append(pattern[letter.end() :])
    branches = [f"{letter}(?:{'|'.join(rests)})" for letter, rests in sorted(by_letter.items())]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(branches) or '(?!)'})(?![\w-])")


def lower(text: str) -> str:
    """Lower case, every character in its place ("İ" would become two)."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _forms(word: str, profile: Profile | None) -> list[str]:
    """All names of the scope thing that ``word`` is a name of."""
    for things in profile.scope.values() if profile else ():
        for names in things:
            if word in map(str.lower, names):
                return [name.lower() for name in names]
    return []


def _is_proper(word: str, title: str) -> bool:
    """Whether ``word`` can name a breed: written with a capital, and neither a participle nor a common adjective."""
    capital = any(w.lower() == word and w[0].isupper() for w in title.split())
    return capital and word not in _ADJECTIVES and not word.endswith(("ing", "ed"))


def _breed(name: str, forms: Sequence[str]) -> str:
    noun = rf"[ -](?:{'|'.join(sorted(map(re.escape, forms), key=len, reverse=True))})"
    return f"{_spelling(name)}(?:{noun}){{0,2}}"


def _spelling(name: str) -> str:
    """Apostrophes and hyphens are typed or not; a plural counts as the name."""
    escaped = re.escape(name).replace("'", "['’]?").replace(r"\-", "[- ]")
    return f"{escaped}(?:s|es)?"


def _singular(word: str) -> str:
    return re.sub(r"(?<=[a-z]{3})(?<!s)s$", "", word)
