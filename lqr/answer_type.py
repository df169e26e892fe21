"""What kind of thing a question asks for, and whether a sentence shows one.

Only kinds that can be told from the surface: a quantity, a frequency, a time. "How much salt?" is not answered by a
sentence without a figure, however near its words. Knows nothing of passages or models.
"""

from __future__ import annotations

import re
from typing import Literal

AnswerType = Literal["quantity", "frequency", "time"]

_FREQUENCY = re.compile(r"\bhow (?:often|frequently)\b|\bhow many times\b", re.IGNORECASE)
_QUANTITY = re.compile(
    r"\bhow (?:much|many|long|far|deep|high|tall|heavy|big|wide|old|hot|cold|dry|wet|warm|fast|soon|late|early|thick)\b|"
    r"\b(?:what|which) (?:is the |are the |would be the |should the )?(?:\w+ ){0,3}?(?:dose|dosage|"
    r"rate|amount|temperature|ph|moisture|weight|percentage|percent|"
    r"share|number|depth|height|age|distance|ratio|length|limit|threshold|concentration|yield|"
    r"spacing|density|price|cost)\b|\bmg/kg\b|\bper (?:head|ha|hectare|mu)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"^(?:\W*(?:and|so|but|then) )?(?:from )?when\b|\b(?:what|which) (?:month|time|date|season|week|stage)s?\b", re.IGNORECASE
)
_CLAUSE_WHEN = re.compile(r"\bwhen (?:is|are|should|do|does|can|must|to|will|would)\b", re.IGNORECASE)

_FIGURE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|"
    r"fifty|hundred|half|third|quarter|double|twice|once|dozen|none|no more than)\b",
    re.IGNORECASE,
)
_OFTEN = re.compile(
    r"\b(?:every|each|daily|weekly|monthly|yearly|annually|hourly|once|twice|times?|per (?:day|"
    r"week|month|year)|a (?:day|week|month|year)|intervals?|again|repeat\w*|always|never|regularly)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"spring|summer|autumn|winter|before|after|during|until|when|once|as soon as|"
    r"at (?:flowering|lambing|weaning|mating|sowing|harvest|heading|tillering|birth|least)|days?|"
    r"weeks?|months?|hours?|morning|evening|night|early|late|stage|age)\b",
    re.IGNORECASE,
)
_SHOWS: dict[AnswerType, re.Pattern[str]] = {"quantity": _FIGURE, "frequency": _OFTEN, "time": _WHEN}


def expects(question: str) -> AnswerType | None:
    """The kind of answer that ``question`` asks for, or None where any sentence may answer."""
    if _FREQUENCY.search(question):
        return "frequency"
    if _QUANTITY.search(question):
        return "quantity"
    if _TIME.search(question) or _CLAUSE_WHEN.search(question):
        return "time"
    return None


def shows(text: str, kind: AnswerType | None) -> bool:
    """Whether ``text`` holds something of ``kind``; always true for None."""
    return kind is None or _SHOWS[kind].search(text) is not None
