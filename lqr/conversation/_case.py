"""A case that somebody tells: "my ewe collapsed two weeks before lambing", and what a later message adds to it.

A case has no name; "it" is then what was told, and a bare question is about all of it. Knows nothing of turns.
"""

from __future__ import annotations

import re

from lqr.conversation._names import Names
from lqr.conversation._patterns import AUX, BEINGS, SENTENCE, STARTS_AUX, WH, WH_PHRASE
from lqr.conversation._words import has_clause, tidy
from lqr.text import STOPWORDS, words

MAX_PHRASE = 9  # words of a focus phrase
MOST_WORDS = 24  # of a case that is put behind a question

# Whose animal it is, at the start of a clause: "my two best ewes", "one of our cows", "I have a calf". A story is told so.
_TOLD = re.compile(
    r"^(?:(?:and|but|so|well|now)\s+)?"
    r"(?:(?:one|some|two|three|four|five|several|half|many|most|all|\d+) of (?:my|our|the)|my|our|"
    r"(?:i|we) (?:have|had|found|see|bought)(?: got)?(?: an?)?|(?:i|we)['’]ve(?: got)?(?: an?)?|an?|one|some|two|three|four|"
    r"five|several|half the|\d+)\s+",
    re.IGNORECASE,
)
# Where what is told ends and a clause that asks begins.
_PARTS = re.compile(
    rf"[.;:!?–—]\s*|\s-\s|,\s+|\s+(?=(?:and|but|so)\s+(?:how|what|why|when|which|where|who|{AUX})\b)", re.IGNORECASE
)
_ASKS = re.compile(rf"^(?:(?:and|but|so|then|or)\s+)*(?:why|when|where|who|{AUX})\b|\b(?:how|whats?|which)\b", re.IGNORECASE)
_LOWER = re.compile(r"^(?:He|She|It|They|The|This|My|Our|An?|One|Two|Three|Four|Five|Some|Several|Half|Many|Most|All)\b")
_BRACKET = re.compile(r"\s*\((?P<added>[^()]*)\)\W*$")
# "she is scanned with triplets", "they're three weeks old", "mine's only 16 months old"
_ADDED = re.compile(  # how it is, not what happened next: "he breathed some" is a case of its own
    r"^(?:(?:and|but|also|well)\s+)?(?:she|he|it|they|mine|this one|that one)"
    r"(?:['’](?:s|re|ve)|\s+(?:only |already |still |just )?"
    r"(?:is|are|was|were|has|have|had|weighs?|looks?|gets?|eats?|grazes?|lambed|calved|kidded))\s+\S",
    re.IGNORECASE,
)
# What is said of the answer, not of the animal: "it was very helpful", "it's clear now"; and what asks for more without asking.
_REMARK = re.compile(
    r"^\W*(?:\w+\W+)?(?:it|they|that one)\b(?:['’]\w+)?\s+(?:\w+\s+){0,3}(?:help(?:s|ed|ful)?|useful|wrong|right|correct|"
    r"clear(?:er)?|true|false|fine|good|great|ok|okay|perfect|nonsense|rubbish|enough|interesting|works?|worked|understood|"
    r"what i (?:asked|meant|wanted))\b|"
    r"\b(?:tell|show|explain to|give|help) (?:me|us)\b",
    re.IGNORECASE,
)
_MOST_ADDED = 14  # words of a message that only adds a condition


def case_of(question: str, names: Names) -> str:
    """The clauses of ``question`` that tell of animals, and what was added to them in brackets; empty if it tells of none."""
    added = _BRACKET.search(question)
    told = [part.strip() for part in _PARTS.split(question[: added.start()] if added else question) if part and part.strip()]
    told = [part for part in told if not _ASKS.search(part)]
    if not told or not _tells(told[0], names):
        return ""
    kept: list[str] = []
    for part in [*told, *([added["added"]] if added else ())]:
        if len(" ".join([*kept, part]).split()) > MOST_WORDS:
            break
        kept.append(_LOWER.sub(lambda first: first[0].lower(), part))
    return ", ".join(kept)


def _tells(clause: str, names: Names) -> bool:
    """Whether ``clause`` says something of an animal: it stands near the beginning, and a verb and more stand behind it."""
    opening = _TOLD.match(clause)
    living = [n for n in names.things(clause) if n.kind in BEINGS or n.kind.endswith("_class")]
    if not opening or not living or len(clause[opening.end() : living[0].start].split()) > 2:
        return False
    rest = clause[living[0].end :]
    verb = has_clause(rest) or re.search(r"\b\w{2,}(?:ed|ing)\b", rest, re.IGNORECASE)
    return (bool(verb) and len(words(rest)) >= 2) or bool(re.match(r"\s+\w{3,}(?:ed|ing)$", rest))


def with_condition(body: str, question: str) -> tuple[str, str] | None:
    """The last ``question`` with what ``body`` adds to it, when ``body`` asks nothing: "she is scanned with triplets"."""
    said = body.rstrip(" .!")
    if "?" in body or not _ADDED.match(said) or len(said.split()) > _MOST_ADDED or WH.match(said) or STARTS_AUX.match(said):
        return None
    if _REMARK.search(said):
        return None
    if any(_ASKS.search(part.strip()) for part in _PARTS.split(said)[1:] if part and part.strip()):
        return None
    said = re.sub(r"^(?:and|but|also|well)\s+", "", said, flags=re.IGNORECASE)
    said = said[:1].lower() + said[1:]
    mark = "?" if question.rstrip().endswith("?") else ""
    bracket = _BRACKET.search(question)
    if bracket:
        return tidy(f"{question[: bracket.start()]} ({bracket['added']}, {said}){mark}"), f"{said}, added to the last question"
    return tidy(f"{question.rstrip('?!. ')} ({said}){mark}"), f"{said}, added to the last question"


def story(question: str) -> str:
    """The telling phrases of a question that tells a case ("cow fresh 3 weeks, eating less"), for an "it" without a name."""
    clauses = re.split(r"[,.;:!?]\s+", re.sub(r"\s*\([^()]*\)\W*$", "", question).strip(" ?!."))
    kept = [clause for clause in clauses if len(_telling(clause)) >= 2]
    words_left = 14
    taken = []
    for clause in kept:
        if (words_left := words_left - len(clause.split())) < 0:
            break
        taken.append(clause)
    return ", ".join(taken) if len(taken) > 1 else ""


def gist(question: str) -> str:
    """The telling words of a question's last sentence, or of all of it: what a bare "how long?" is asked about."""
    last = SENTENCE.split(question.strip())[-1]
    kept = _telling(WH_PHRASE.sub("", last))
    if len(kept) < 4:
        return ", ".join(_telling(question)[:MAX_PHRASE])
    return " ".join(kept[:MAX_PHRASE])


def _telling(text: str) -> list[str]:
    found = re.findall(r"[\w'’%.-]*[\w'’%]", text)
    return [w for w in found if w.lower() not in STOPWORDS and not re.fullmatch(AUX, w, re.IGNORECASE)]
