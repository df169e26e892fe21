"""Splits a complex question into q1 and q2 (Huang et al. 2024, section 3.2), by rules over the question's surface.

The second part may say ``#1``: the answer to the first. The fallback is always valid: the question's leading phrase
first, the whole question second. Knows nothing of retrieval; the trained complexity classifier decides *whether* to split.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lqr.text import STOPWORDS, content_words
from lqr.types import Decomposition

_AUX = r"(?:is|are|was|were|do|does|did|can|could|should|must|will|would|may|might|has|have)"
_WH = r"(?:what|which|who|whom|where|when|why|how(?: (?:much|many|often|long|far|deep|old|soon|early|late|big|high))?)"
_NOUN = r"[\w'’-]+(?: [\w'’-]+){0,3}?"

_TWO_QUESTIONS = re.compile(
    rf"^(?P<a>.{{8,}}?)(?:[?]\s*(?:and |also |then )?|,? (?:and|and then|but|also|and also),? )(?P<b>(?:(?:at|"
    rf"for|in|by|with|from|after|before) )?{_WH}\b.+|{_AUX} (?:i|we|you|it|they|she|he|the|my|this|"
    rf"there)\b.+)$",
    re.IGNORECASE,
)
_DIFFERENCE = re.compile(
    r"\bdifferen(?:ce|t|ces)\b.*?\b(?:between|of|from)\s+(?P<a>.+?)\s+(?:and|from|versus|vs\.?)\s+(?P<b>.+?)\W*$", re.IGNORECASE
)
_TELL_APART = re.compile(
    r"\b(?:tell|distinguish|know)\s+(?P<a>.+?)\s+(?:apart )?from\s+(?P<b>.+?)(?:\s+apart)?\W*$", re.IGNORECASE
)
_WHICH_OF = re.compile(
    r"^(?P<head>.*?\b(?:which|who|what|whose|is|are|does|do|has|have|where|when)\b.*?)[,:]?\s+(?P<a>(?:the "
    r"|a |an )?[\w'’. -]{2,50}?)\s*,?\s+or\s+(?P<b>(?:the |a |an )?[\w'’. -]{2,50}?)\W*$",
    re.IGNORECASE,
)
_THAN = re.compile(
    r"^(?P<head>.*?\b(?:more|less|fewer|better|worse|higher|lower|longer|shorter|earlier|later|"
    r"bigger|smaller|faster|slower|\w+er)\b.*?)\s+(?:than|compared (?:to|with))\s+(?P<b>.+?)\W*$",
    re.IGNORECASE,
)
_COMPARE = re.compile(
    r"^(?:please )?(?:compare|contrast)\s+(?P<a>.+?)\s+(?:and|with|to|versus|vs\.?)\s+(?P<b>.+?)\W*$", re.IGNORECASE
)
_VERSUS = re.compile(r"^(?P<a>.+?)\s+(?:versus|vs\.?)\s+(?P<b>.+?)\W*$", re.IGNORECASE)
_BOTH = re.compile(
    rf"^(?P<head>{_AUX}|do) (?:both )?(?P<a>.+?) and (?P<b>.+?) (?P<tail>(?:both |from |in |of |"
    rf"have |need |the same |born |located |made |produced |a |an ).+?)\W*$",
    re.IGNORECASE,
)

# "the region where Tan sheep come from", "the worm that causes bottle jaw", "the insect which spreads citrus greening"
_WHERE = re.compile(
    rf"\b(?:the )?(?P<noun>{_NOUN}) (?:where|in which|from which) (?P<clause>.+?)(?=$|[?,;]|\s+(?:{_AUX})\s+(?:it|they|the)\b)",
    re.IGNORECASE,
)
_BARE_WHERE = re.compile(
    r"\b(?P<lead>in|at|from|of|like)?\s*(?:the )?(?:place |area )?where (?P<clause>(?!can|do|does|"
    r"is|are|should)[\w'’ -]+?)(?=$|[?,;])",
    re.IGNORECASE,
)
_RELATIVE = re.compile(rf"\b(?:the|a|an) (?P<noun>{_NOUN}) (?:that|which|who|whose) (?P<clause>.+?)(?=$|[?,;])", re.IGNORECASE)
_PARTICIPLE = re.compile(
    rf"\b(?:the|a|an) (?P<noun>{_NOUN}) (?P<clause>(?:causing|carrying|spreading|transmitting|carried by|"
    rf"caused by|spread by|transmitted by|grown in|bred in|native to|known as|called|behind|responsible for) "
    rf".+?)(?=$|[?,;])",
    re.IGNORECASE,
)
_OF_CHAIN = re.compile(
    r"^(?P<wh>.+?\b(?:of|in|for|at|on|to|with|by))\s+(?:the )?(?P<noun>(?:home |native )?[\w'’-]+(?: [\w'’-]+)?) "
    r"of (?P<rest>(?:the )?.+?)\W*$",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"^(?P<wh>.+?)\s+(?P<owner>[\w-]+(?: [\w-]+){0,3})['’]s?\s+(?P<noun>[\w-]+(?: [\w-]+){0,2})\W*$")


def decompose(question: str, *, entities: Callable[[str], list[str]] | None = None) -> Decomposition:
    """Split ``question``; see :data:`RULES` for the order of the rules.

    Args:
        question: one standalone question.
        entities: names found in a text, in order (titles, scope terms); sharpens comparisons and the fallback.
    """
    text = question.strip()
    named = entities(text) if entities else []
    for name, rule in RULES:
        parts = rule(text, named)
        if parts and parts[0].strip() and parts[1].strip() and parts[0].strip().lower() != parts[1].strip().lower():
            return Decomposition(_question(parts[0]), _question(parts[1]), f"rules: {name}")
    return _fallback(text, named)


def _two_questions(text: str, named: list[str]) -> tuple[str, str] | None:
    match = _TWO_QUESTIONS.match(text.rstrip("? "))
    if not match or len(content_words(match["a"])) < 1 or len(content_words(match["b"])) < 1:
        return None
    first, second = match["a"].strip(" ,.?"), match["b"].strip(" ,.?")
    if not re.search(rf"\b(?:{_WH}|{_AUX})\b", first, re.IGNORECASE) and "," not in first and "." not in first:
        return None
    # "... and how do I treat it": the pronoun stands for what the first part is about
    topic = _topic(first, named)
    if topic and not any(n.lower() in second.lower() for n in named):
        put, count = re.subn(
            r"\b(?:it|them|they|this|that|these|those)\b(?! (?:is|was) )", topic, second, count=1, flags=re.IGNORECASE
        )
        second = put if count else f"{second} ({topic})"
    return first, second


def _topic(text: str, named: list[str]) -> str:
    inside = [n for n in named if n.lower() in text.lower()]
    if inside:
        return max(inside, key=len)
    return " ".join(content_words(text)[-3:])


def _comparison(text: str, named: list[str]) -> tuple[str, str] | None:
    for pattern in (_DIFFERENCE, _TELL_APART, _COMPARE, _VERSUS):
        match = pattern.search(text)
        if match:
            left, right = _trim(match["a"]), _trim(match["b"])
            if len(left.split()) > 8 or len(right.split()) > 10:
                return None
            aspect = ""
            if (found := re.search(r"\b(?:in|for|on|regarding|by) (?P<aspect>[\w' -]+)$", right)) and len(
                found["aspect"].split()
            ) <= 4:
                right, aspect = right[: found.start()].strip(), found.group()
            return f"{left} {aspect}".strip(), f"{right} {aspect}".strip()
    match = _WHICH_OF.match(text)
    if match and content_words(match["a"]) and content_words(match["b"]) and len(match["head"].split()) >= 2:
        left, right = match["a"].strip(), match["b"].strip()
        head = match["head"].strip(" ,:")
        tail = ""
        last_of_head = [n for n in named if n.lower() in text.lower() and n.lower() in f"{head} {left}".lower()]
        if last_of_head and last_of_head[-1].lower() not in left.lower():
            return None
        words_left = left.split()
        if len(words_left) > 5:
            return None
        return f"{head} {left}{tail}", f"{head} {right}{tail}"
    match = _THAN.match(text)
    if match and len(named) >= 2:
        left = next((n for n in named if n.lower() in match["head"].lower()), "")
        right = next((n for n in named if n.lower() in match["b"].lower()), "")
        if left and right and left.lower() != right.lower():
            return match["head"], re.sub(re.escape(left), right, match["head"], count=1, flags=re.IGNORECASE)
    match = _BOTH.match(text)
    if match and len(match["a"].split()) <= 6 and len(match["b"].split()) <= 6:
        return f"{match['head']} {match['a']} {match['tail']}", f"{match['head']} {match['b']} {match['tail']}"
    return None


def _bridge(text: str, named: list[str]) -> tuple[str, str] | None:
    for pattern, wh in ((_WHERE, "where"), (_RELATIVE, "which"), (_PARTICIPLE, "which")):
        match = pattern.search(text)
        if match and len(content_words(match["clause"])) >= 1:
            noun = _last_noun(match["noun"])
            before = text[: match.start()].strip()
            after = text[match.end() :].strip(" ?,")
            if not content_words(before) and not content_words(after):
                return None
            lead = match["noun"][: len(match["noun"]) - len(noun)].strip()
            clause, rest = _split_clause(match["clause"]) if not content_words(before) else (match["clause"], "")
            first = f"where {clause}" if wh == "where" else f"which {noun} {clause}"
            second = " ".join(part for part in (before, lead, "#1", rest, after) if part)
            return first, second
    match = _BARE_WHERE.search(text)
    if match and match.start() > 0 and content_words(text[: match.start()]):
        lead = match["lead"] or "in"
        return f"where {match['clause']}", f"{text[: match.start()].strip()} {'' if lead == 'like' else lead} #1".replace(
            "  ", " "
        )
    match = _OF_CHAIN.match(text)
    if match and len(content_words(match["wh"])) >= 1 and match["noun"].lower() not in _PLAIN_NOUNS:
        return f"what is the {match['noun']} of {match['rest']}", f"{match['wh']} #1"
    match = _POSSESSIVE.match(text)
    if match and len(content_words(match["wh"])) >= 1 and match["owner"].split()[0].lower() not in STOPWORDS:
        return f"what is {match['owner']}'s {match['noun']}", f"{match['wh']} #1"
    return None


_PLAIN_NOUNS = frozenset(
    [
        "sign",
        "signs",
        "kind",
        "type",
        "rate",
        "amount",
        "level",
        "number",
        "lot",
        "use",
        "risk",
        "middle",
        "end",
        "start",
        "beginning",
        "time",
        "part",
        "parts",
        "most",
        "some",
        "each",
        "one",
        "none",
        "all",
        "cause",
        "causes",
    ]
)


def _split_clause(clause: str) -> tuple[str, str]:
    """A subject clause runs into the main verb: "causes bottle jaw live on pasture" is cut before its second verb."""
    match = re.search(rf"\s(?={_AUX}\b)", clause)
    return (clause[: match.start()], clause[match.start() :].strip()) if match else (clause, "")


def _last_noun(noun: str) -> str:
    return noun.split()[-1]


def _several_entities(text: str, named: list[str]) -> tuple[str, str] | None:
    distinct = list(dict.fromkeys(n for n in named if n))
    if len(distinct) < 2:
        return None
    # nothing in the surface says how the names hang together: ask about the second one alone, then the whole
    return f"{distinct[-1]}", text


RULES: tuple[tuple[str, Callable[[str, list[str]], tuple[str, str] | None]], ...] = (
    ("two questions", _two_questions),
    ("comparison", _comparison),
    ("bridge", _bridge),
    ("several entities", _several_entities),
)


def _fallback(text: str, named: list[str]) -> Decomposition:
    first = named[0] if named else " ".join(content_words(text)[:3]) or text
    return Decomposition(_question(first), _question(text), "rules: fallback")


def _trim(text: str) -> str:
    return re.sub(r"^(?:the|a|an)\s+", "", text.strip(" ,.?"), flags=re.IGNORECASE)


def _question(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip(" ,.?")
    return text[:1].upper() + text[1:] + "?"
