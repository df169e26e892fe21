"""What kind of thing a question asks for, and whether a sentence shows one.

Only kinds that can be told from the surface: a quantity, and more narrowly a duration, a length, a temperature or a weight; a
frequency; a time. "How much salt?" is not answered by a sentence without a figure, however near its words, nor "how long?" by
one with a figure in kilograms. Knows nothing of passages or models.
"""

from __future__ import annotations

import re
from typing import Literal

AnswerType = Literal["quantity", "duration", "length", "temperature", "weight", "frequency", "time"]

_FREQUENCY = re.compile(r"\bhow (?:often|frequently)\b|\bhow many times\b", re.IGNORECASE)
_QUANTITY = re.compile(
    r"\bhow (?:much|many|long|far|deep|high|tall|heavy|big|wide|old|hot|cold|dry|wet|warm|fast|thick)\b|"
    r"\b(?:what|which) (?:is the |are the |would be the |should the )?(?:\w+ ){0,3}?(?:dose|dosage|"
    r"rate|amount|temperature|ph|moisture|weight|percentage|percent|"
    r"share|number|depth|height|age|distance|ratio|length|limit|threshold|concentration|yield|"
    r"spacing|density|price|cost)\b|\bmg/kg\b|\bper (?:head|ha|hectare|mu)\b",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"\bhow (?:long|old)\b|\bhow many (?:\w+ )?(?:minutes|hours|days|weeks|months|years)\b|\b(?:what|which) age\b", re.IGNORECASE
)
_LENGTH = re.compile(r"\bhow (?:deep|far|wide|thick|tall)\b|\bwhat (?:depth|distance|spacing)\b", re.IGNORECASE)
_TEMPERATURE = re.compile(r"\bhow (?:hot|cold|warm)\b|\b(?:what|which) temperature\b", re.IGNORECASE)
_WEIGHT = re.compile(r"\bhow heavy\b|\bhow much (?:\w+ ){1,5}weigh\b|\b(?:what|which) (?:live )?weight\b", re.IGNORECASE)
_TIME = re.compile(
    r"\bhow (?:soon|late|early)\b|^(?:\W*(?:and|so|but|then) )?(?:from )?when\b|"
    r"\b(?:what|which) (?:month|time|date|season|week|stage)s?\b",
    re.IGNORECASE,
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
# The unit of a figure may stand in the name of a table's column, so it is looked for anywhere in the text.
_UNIT: dict[AnswerType, re.Pattern[str]] = {
    "duration": re.compile(r"\b(?:second|minute|hour|day|night|week|month|year|season)s?\b", re.IGNORECASE),
    "length": re.compile(
        r"(?<![^\W\d_])(?:mm|cm|m|km|(?:centi|milli|kilo)?metres?|meters?|inch(?:es)?|foot|feet)\b", re.IGNORECASE
    ),
    "temperature": re.compile(r"[°º℃℉]|\bdegrees?\b", re.IGNORECASE),
    "weight": re.compile(r"(?<![^\W\d_])(?:kg|g|t|kilo(?:gram)?s?|grams?|tonnes?|lb|pounds?)\b|%", re.IGNORECASE),
}
_NARROW: tuple[tuple[AnswerType, re.Pattern[str]], ...] = (
    ("duration", _DURATION),
    ("length", _LENGTH),
    ("temperature", _TEMPERATURE),
    ("weight", _WEIGHT),
)


def expects(question: str) -> AnswerType | None:
    """The kind of answer that ``question`` asks for, or None where any sentence may answer."""
    if _FREQUENCY.search(question):
        return "frequency"
    for kind, pattern in _NARROW:
        if pattern.search(question):
            return kind
    if _QUANTITY.search(question):
        return "quantity"
    if _TIME.search(question) or _CLAUSE_WHEN.search(question):
        return "time"
    return None


def shows(text: str, kind: AnswerType | None) -> bool:
    """Whether ``text`` holds something of ``kind``; always true for None."""
    if kind is None:
        return True
    if unit := _UNIT.get(kind):
        return bool(_FIGURE.search(text) and unit.search(text))
    return _SHOWS[kind].search(text) is not None
