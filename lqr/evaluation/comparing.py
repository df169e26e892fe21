"""Comparisons answered side by side: which of two came first, and whether two are from the same country.

A reader of spans sees both dates and does not know which is earlier: that is a sum, not a reading. So each side is asked for its
own date or country, and the answers are compared here. It asks nothing itself, and says None where something else is compared.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from lqr.evaluation.countries import countries_in
from lqr.text import STOPWORDS, words
from lqr.types import Decomposition

Date = tuple[int, int, int]  # year, month, day; 0 where it is not said
Test = Literal["earliest", "latest", "same"]

_LATEST = re.compile(r"\b(?:later|last|latest|younger|youngest|newer|newest|(?:more|most) recent(?:ly)?)\b", re.IGNORECASE)
_EARLIEST = re.compile(r"\b(?:first|earlier|earliest|older|oldest|elder)\b", re.IGNORECASE)
# What happened on the date, and how to ask for it; the first that fits. "Older" alone is about birth.
_EVENTS = (
    (re.compile(r"\b(?:died?|dead|death)\b", re.IGNORECASE), "When did {} die?"),
    (re.compile(r"\b(?:released?|c[ao]me out)\b", re.IGNORECASE), "When was {} released?"),
    (re.compile(r"\bpublished\b", re.IGNORECASE), "When was {} published?"),
    (re.compile(r"\b(?:founded|established|formed|created|started|opened|launched)\b", re.IGNORECASE), "When was {} founded?"),
    (re.compile(r"\b(?:born|birth|older|oldest|elder|younger|youngest)\b", re.IGNORECASE), "When was {} born?"),
)
_SAME = (
    (re.compile(r"\bsame nationality\b", re.IGNORECASE), "What is the nationality of {}?"),
    (re.compile(r"\b(?:located|situated|in) (?:both )?(?:in )?the same country\b", re.IGNORECASE), "In which country is {}?"),
    (re.compile(r"\bsame country\b", re.IGNORECASE), "Which country is {} from?"),
)
# "the film whose director died first", "the directors of films A and B": the date or country is not that of the film.
# Roles are written small; "Kings of Leon" is a name.
_HAVING = r"(?:has|have|had|with|by) (?:the |an? )?([a-z]+?)s? (?:who|that|from|with)"
_ROLE = re.compile(rf"\b(?:{_HAVING}|whose ([a-z]+)|([a-z]+)s of)\b")
_PLAIN = frozenset("the and republic united states kingdom people of".split())  # words that countries share

_NAMES = "january february march april may june july august september october november december".split()
_MONTHS = {name[:3]: number for number, name in enumerate(_NAMES, start=1)}
_YEAR = re.compile(r"\b(1\d{3}|20\d{2}|[5-9]\d{2})\b")
_MONTH = re.compile(rf"\b({'|'.join(_NAMES)}|{'|'.join(_MONTHS)}|sept)\b", re.IGNORECASE)
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two things, what to ask of each, and the test of the answers.

    ``ask`` and ``who`` have a place ``{}`` for a name. ``who`` is empty where the thing itself is asked about; else its answer
    is the name that goes into ``ask``.
    """

    options: tuple[str, str]
    ask: str
    who: str
    test: Test

    def verdict(self, said: tuple[str, str]) -> str:
        """The answer that follows from what is said of each option; empty where nothing follows.

        One of the options, or yes or no. What one date does not say counts in neither; of equal dates the first wins.
        """
        if self.test == "same":
            return ("yes" if _same_country(said) else "no") if all(text.strip() for text in said) else ""
        dates = [date for text in said if (date := date_in(text))]
        if len(dates) < 2:
            return ""
        precision = min(sum(map(bool, date)) for date in dates)
        first, second = (date[:precision] for date in dates)
        return self.options[int(second > first if self.test == "latest" else second < first)]


def comparison(question: str, parts: Decomposition) -> Comparison | None:
    """What ``question`` compares; None if it compares neither dates nor countries, or more than two things.

    Args:
        parts: the question for one thing alone, and for the other.
    """
    options = _differing(parts.first, parts.second)
    if options is None or "#1" in parts.second:
        return None
    role = _ROLE.search(question)
    who = f"Who is the {next(filter(None, role.groups())).lower()} of {{}}?" if role else ""
    found = _named(question, options)
    if found is None:
        return None
    named, joint, rest = found
    if ask := _first(_SAME, rest):
        return Comparison(named, ask, who, "same") if joint == "and" else None
    latest, earliest, ask = bool(_LATEST.search(rest)), bool(_EARLIEST.search(rest)), _first(_EVENTS, rest)
    if joint != "or" or latest == earliest or not ask:
        return None
    return Comparison(named, ask, who, "latest" if latest else "earliest")


def _named(question: str, options: tuple[str, str]) -> tuple[tuple[str, str], str, str] | None:
    """The options as the question names them, what joins them, and the question without them: "First" may be a name's.

    What they share at their end goes with both ("Ilam Airport and Dolpa Airport").
    """
    a, b = map(re.escape, options)
    match = re.search(rf"{a}((?: [\w'’-]+){{0,3}}),?\s+(and|or)\s+(?:the\s+)?{b}(?P<end>\1)?", question, re.IGNORECASE)
    if match is None:
        return None
    rest = f"{question[: match.start()]} {question[match.end() :]}"
    return (f"{options[0]}{match[1]}", f"{options[1]}{match['end'] or ''}"), match[2].lower(), rest


def _first(table: tuple[tuple[re.Pattern[str], str], ...], question: str) -> str:
    return next((ask for pattern, ask in table if pattern.search(question)), "")


def _same_country(said: tuple[str, str]) -> bool:
    """Whether two texts name a country in common; where one names none that we know, whether they share a telling word."""
    one, other = map(countries_in, said)
    if not (one and other):
        one, other = (frozenset(words(text)) - _PLAIN - STOPWORDS for text in said)
    return bool(one & other)


def date_in(text: str) -> Date | None:
    """The first year, month and day in ``text``; a day counts with a month only. None without a year."""
    year = _YEAR.search(text)
    if not year:
        return None
    month = _MONTH.search(text)
    day = _DAY.search(text) if month else None
    return int(year[1]), _MONTHS[month[1][:3].lower()] if month else 0, int(day[1]) if day else 0


def _differing(first: str, second: str) -> tuple[str, str] | None:
    """What two questions do not share, between what they share at both ends; None if one has nothing of its own."""
    a, b = first.rstrip(" ?").split(), second.rstrip(" ?").split()
    begin = 0
    while begin < min(len(a), len(b)) and a[begin] == b[begin]:
        begin += 1
    end = 0
    while end < min(len(a), len(b)) - begin and a[-1 - end] == b[-1 - end]:
        end += 1
    options = " ".join(a[begin : len(a) - end]), " ".join(b[begin : len(b) - end])
    return options if all(options) else None
