"""Sets chosen units into an answer: their order, the yes or no before them, headings, lists, and the numbers of their sources.

A sentence that leans on the one before it ("It ...", "This breed ...") brings that one, or its heading, along. Makes no
text of its own beyond "Yes.", "No." and headings; what is said was chosen elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from lqr.text import content_words, words
from lqr.types import Claim, Passage
from lqr.writing import rows
from lqr.writing.units import Unit, apart, asked_apart

_OWN_MARK = re.compile(r"[\[［【〔]\s*(\^?\d[\d\s,;–-]*)[\]］】〕]")
_DANGLING = re.compile(
    r"^(?:it|its|they|their|them|these|those|this|that|such|he|she|both|either|neither|the same|"
    r"the (?:breed|disease|worm|pest|plant|crop|animal|condition|treatment|latter|former|figures?|"
    r"table|rule)|"
    r"however|therefore|thus|so|but|also|otherwise|instead|then|afterwards|in (?:this|that|these|"
    r"such) cases?|for (?:this|that) reason|as a result|because of (?:this|that))\b(?! (?:is|are) (?:a|"
    r"the) )",
    re.IGNORECASE,
)
# "... after the mistake began": of what happened, only the sentence before it tells
_LEANS = re.compile(r"\bthe (?:mistake|accident|error|mishap)\b", re.IGNORECASE)
_POLAR = re.compile(
    r"^(?:(?:so|and|but|then|also|well),? )*(?:can|could|should|may|must|is|are|was|were|does|"
    r"do|did|will|would|has|have|am)\b(?!.*\?\s*\w)",
    re.IGNORECASE,
)
PROHIBITS = re.compile(
    r"^(?:do not|don't|never|avoid)\b|\b(?:must (?:not|never)|should (?:not|never)|cannot|can not|"
    r"can never|may not|is not (?:safe|allowed|suitable|enough|possible|necessary|needed)|are not (?:safe|"
    r"allowed|suitable)|"
    r"unsafe|not be (?:fed|given|used|grazed|mixed|sold|eaten|drunk|stored|sown|sprayed))\b",
    re.IGNORECASE,
)
# "Live vaccine can cause abortion" allows nothing: only what says so in as many words does.
_ALLOWS = re.compile(
    r"\b(?:can (?:safely )?be|may (?:safely )?be|(?:is|are) (?:safe|suitable|allowed)|can safely (?:eat|graze|drink))\b",
    re.IGNORECASE,
)
_HARM = re.compile(
    r"\b(?:kill\w*|die[sd]?|death\w*|dead\w*|fatal\w*|poison\w*|toxic\w*|danger\w*|abort\w*|harm\w*|burn\w*|blind\w*|injur\w*|risk\w*|lose|loss\w*|"
    r"damag\w*|unsafe|wrong|banned|illegal|avoid)\b",
    re.IGNORECASE,
)
# What a sentence forbids behind these ("larger lambs, but they cannot be sold as purebred") is not what was asked.
_CLAUSE = re.compile(r"[,;]| but ")
# A bare "Yes." would hide what stands behind it: a condition, an amount, a time.
_DEPENDS = re.compile(
    r"\b(?:not|never|only|unless|except|until|till|if|when|where|while|after|before|once|provided|over|under|above|below|less|more|"
    r"most|limited|amounts?|vet|days?|weeks?|months?|hours?)\b|\d",
    re.IGNORECASE,
)
_HAPPENS = re.compile(r"\b(?:can|do|does) (?:catch|pass|spread|infect|eat|graze)\b", re.IGNORECASE)
_MAY_I = re.compile(r"\b(?:i|we|you|one|my|our|safe|ok|okay|allowed)\b", re.IGNORECASE)

FORBIDS = 0.5  # share of the best score from which a prohibition leads


def write(question: str, chosen: list[Unit], scored: Sequence[Unit], parts: Sequence[str]) -> tuple[str, tuple[Claim, ...]]:
    """The text with its ``[n]`` and the claims in order.

    Args:
        chosen: what is to be said.
        scored: all units, among which a dangling sentence finds the one before it.
        parts: the sub-questions; their units keep together.
    """
    if not chosen:
        return "", ()
    lead = _lead(question, chosen)
    ordered = _ordered(chosen, lead, parts)
    verdict = _verdict(question, lead)
    by_place = {unit.key: unit for unit in scored}
    claims: list[Claim] = []
    lines: list[str] = []
    paragraph: list[str] = []
    numbers: dict[str, int] = {}
    previous: Unit | None = None
    headed: set[tuple[str, tuple[str, ...]]] = set()

    def flush() -> None:
        if paragraph:
            lines.append(" ".join(paragraph))
            paragraph.clear()

    several = len({u.passage.document_id for u in ordered}) > 1
    together = Counter(u.passage.id for u in ordered if u.kind == "item")
    for unit in ordered:
        number = numbers.setdefault(unit.passage.id, len(numbers) + 1)
        if unit.kind == "row":
            first = previous is None or previous.kind != "row" or rows.table_of(previous) != rows.table_of(unit)
            text = rows.shown(unit, question, rows.table_with(unit, scored), first=first)
            quotes: tuple[str, ...] = (unit.text,)
        else:
            text, quotes = _stand_alone(question, unit, previous, by_place)
        text = _unmarked(text)
        before = f"{verdict} " if verdict and unit is lead is ordered[0] else ""  # our reading: no part of the quoted claim
        if unit.kind == "row" or together[unit.passage.id] > 1:
            flush()
            where = rows.table_of(unit)
            if where not in headed and (
                unit.kind == "row" or previous is None or previous.passage.section != unit.passage.section
            ):
                lines.append(f"{_unmarked(rows.heading(unit.passage))}:")
            headed.add(where)
            lines.append(f"- {before}{text} [{number}]")
        else:
            if (
                paragraph
                and previous
                and (previous.passage.document_id != unit.passage.document_id or unit.part != previous.part)
            ):
                flush()
            if (
                several
                and not _names_subject(f"{question} {text}", unit.passage)
                and (previous is None or previous.passage.document_id != unit.passage.document_id)
            ):
                text = f"{_unmarked(unit.passage.title)}: {text}"
            paragraph.append(f"{before}{text} [{number}]")
        claims.append(Claim(text, (unit.passage.id,), "quoted", quotes))
        previous = unit
    flush()
    return _join(lines), tuple(claims)


def _lead(question: str, chosen: Sequence[Unit]) -> Unit:
    """The strongest unit; where the question asks whether one may, a sentence that forbids goes before one as good as it."""
    best = max(chosen, key=lambda u: u.score)
    if _POLAR.match(question) and _MAY_I.search(question):
        forbids = [u for u in chosen if u.kind == "sentence" and u.part == best.part and PROHIBITS.search(u.text)]
        return max([u for u in forbids if u.score >= FORBIDS * best.score], key=lambda u: u.score, default=best)
    return best


def _ordered(chosen: list[Unit], lead: Unit, parts: Sequence[str]) -> list[Unit]:
    """The lead's passage first, then by score of passage; inside a passage by position, but the lead leads.

    For two parts: the first part's sentences, then the second's.
    """
    best: dict[tuple[int, str], float] = {}
    for unit in chosen:
        key = (unit.part if parts else 0, _group(unit))
        best[key] = max(best.get(key, 0.0), unit.score)

    def place(unit: Unit) -> tuple[int, float, int, int]:
        part = unit.part if parts else 0
        first = 0 if unit is lead and unit.kind == "sentence" and not parts else 1
        group = float("inf") if not parts and _group(unit) == _group(lead) else best[part, _group(unit)]
        return part, -group, first, unit.passage.position if unit.kind == "row" else unit.index

    return sorted(chosen, key=place)


def _group(unit: Unit) -> str:
    """What keeps together: the units of a passage, the rows of a table."""
    return f"{unit.passage.document_id} {unit.passage.section}" if unit.kind == "row" else unit.passage.id


def _stand_alone(
    question: str, unit: Unit, previous: Unit | None, by_place: dict[tuple[str, int], Unit]
) -> tuple[str, tuple[str, ...]]:
    """The unit's text, and the quotes it rests on; a dangling start brings the sentence before or the heading along.

    So does a section of look-alikes or first aid that the question did not ask for: its sentence is of another case.
    """
    within = previous is not None and previous.passage.id == unit.passage.id
    follows = within and previous is not None and previous.index == unit.index - 1
    if (_DANGLING.match(unit.text) or _LEANS.search(unit.text)) and not follows:
        before = by_place.get((unit.passage.id, unit.index - 1))
        if before is not None and before.kind == "sentence" and not _DANGLING.match(before.text):
            return f"{before.text} {unit.text}", (before.text, unit.text)
        return f"{rows.heading(unit.passage)}: {unit.text}", (unit.text,)
    if unit.kind == "sentence" and apart(unit.passage) and not within and not asked_apart(question, unit.passage):
        return f"{rows.heading(unit.passage)}: {unit.text}", (unit.text,)
    return unit.text, (unit.text,)


def _unmarked(text: str) -> str:
    """A document's own "[12]" must not pass for one of our citations."""
    return _OWN_MARK.sub(r"(\1)", text)


def _names_subject(text: str, passage: Passage) -> bool:
    title = {word.rstrip("s") for word in content_words(passage.title)}
    return bool(title & {word.rstrip("s") for word in words(text)})


def _verdict(question: str, lead: Unit) -> str:
    """ "Yes." or "No." where the lead sentence says so plainly about what was asked; otherwise nothing.

    Certain means: a yes-or-no question, three quarters of whose content words stand in the lead sentence itself, and a
    sentence that forbids in so many words, or allows without a condition. A question that asks for a fault ("Is it
    dangerous...") gets none.
    """
    if lead.kind == "row" or not _POLAR.match(question) or re.search(r"\bor\b", question, re.IGNORECASE):
        return ""
    if re.match(r"(?:yes|no)\b", lead.text, re.IGNORECASE):
        return ""  # it says so itself
    asked = {w.rstrip("s") for w in content_words(question)}
    said = {w.rstrip("s") for w in words(lead.text)}
    if not asked or len(asked & said) / len(asked) < 0.75:
        return ""
    negative_question = re.search(
        r"(?:n't|\b(?:not|never|avoid|dangerous|harmful|poisonous|toxic|unsafe|bad|risk|wrong|without))\b",
        question,
        re.IGNORECASE,
    )
    if negative_question:
        return ""
    if PROHIBITS.search(_CLAUSE.split(lead.text)[0]):
        return "No."
    if _MAY_I.search(question):
        allows = bool(_ALLOWS.search(lead.text)) and not _HARM.search(lead.text)
    else:
        allows = bool(_ALLOWS.search(lead.text) or _HAPPENS.search(lead.text))
    return "Yes." if allows and not _DEPENDS.search(lead.text) else ""


def _join(lines: Sequence[str]) -> str:
    """Paragraphs apart by a blank line, list items together."""
    text = ""
    for i, line in enumerate(lines):
        if i:
            both_listed = line.startswith("- ") and (lines[i - 1].startswith("- ") or lines[i - 1].endswith(":"))
            text += "\n" if both_listed else "\n\n"
        text += line
    return text
