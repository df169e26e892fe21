"""Splits a complex question into q1 and q2 (Huang et al. 2024, section 3.2), by rules over the question's surface.

A question as typed is often a story, then one question or two. The rules look for two questions
(:mod:`lqr.decompose.questions`), for a comparison, then for a bridge ("the climate where Tan sheep come from"). The second
part may say ``#1``: the answer to the first. There is always a valid fallback. Knows nothing of retrieval; the complexity
classifier decides *whether* to split.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lqr.decompose.questions import Parts, question_starts, two_questions
from lqr.text import AUX, STOPWORDS, WH, content_words, words
from lqr.types import Decomposition

LONGEST = 400  # characters of a sentence that is searched for a comparison or a bridge: some patterns take cubic time

_I = re.IGNORECASE
_NOUN = r"[\w'’-]+(?: [\w'’-]+){0,3}?"

# --- two things set against one another -----------------------------------------------------------------------------------
_DIFFERENCE = re.compile(
    r"\bdifferen(?:ces?|t)\b.*?\b(?:between|of|from)\s+(?P<a>.+?)\s+(?:and|from|versus|vs\.?)\s+(?P<b>.+?)\W*$", _I
)
_TELL_APART = re.compile(r"\b(?:tell|distinguish|know)\s+(?P<a>.+?)\s+(?:apart )?from\s+(?P<b>.+?)(?:\s+apart)?\W*$", _I)
_COMPARE = re.compile(r"^(?:please )?(?:compare|contrast)\s+(?P<a>.+?)\s+(?:and|with|to|versus|vs\.?)\s+(?P<b>.+?)\W*$", _I)
_VERSUS = re.compile(r"^(?P<a>.+?)\s+(?:versus|vs\.?)\s+(?P<b>.+?)\W*$", _I)
_WHICH_OF = re.compile(
    rf"^(?P<head>.*?\b(?:{WH}|{AUX})\b.*?)[,:]?\s+(?P<a>(?:the |an? )?[\w'’. -]{{2,50}}?)\s*,?\s+or\s+"
    r"(?P<b>(?:the |an? )?[\w'’. -]{2,50}?)\W*$",
    _I,
)
_THAN = re.compile(
    r"^(?P<head>.*?\b(?:more|less|fewer|better|worse|\w+er)\b.*?)\s+(?:than|compared (?:to|with))\s+(?P<b>.+?)\W*$", _I
)
# "swayback or stiff lamb disease, what do I look for?"
_TOPICS = re.compile(rf"^(?P<a>[\w'’ -]{{2,40}}?) (?:or|versus|vs\.?) (?P<b>[\w'’ -]{{2,40}}?)[,:]\s+(?P<head>{WH}\b.+?)\W*$", _I)
# "the same share in a ewe lamb and in a heifer": the preposition is said twice.
_SAME_IN = re.compile(
    r"^(?P<head>.*\b(?:same|both|differ\w*|equal)\b.*?)\s+(?P<prep>in|for|of|with|on)\s+(?P<a>.+?)\s+and\s+(?:(?P=prep)\s+)(?P<b>.+?)\W*$",
    _I,
)
_BOTH = re.compile(
    rf"^(?P<head>{AUX}) (?:both )?(?P<a>.+?) and (?P<b>.+?) (?P<tail>(?:both |from |in |of |"
    rf"have |need |the same |born |located |made |produced |an? ).+?)\W*$",
    _I,
)

# --- a thing that is only described: the answer to q1 stands in q2 -----------------------------------------------------------
_WHERE = re.compile(
    rf"\b(?:the )?(?P<noun>{_NOUN}) (?:where|in which|from which) (?P<clause>.+?)(?=$|[?,;]|\s+(?:{AUX})\s+(?:it|they|the)\b)",
    _I,
)
_BARE_WHERE = re.compile(
    r"\b(?P<lead>in|at|from|of|like)?\s*(?:the )?(?:place |area |region )?where "
    r"(?P<clause>(?!can\b|do\b|does\b|is\b|are\b|should\b)[\w'’ -]+?)(?=$|[?,;])",
    _I,
)
_RELATIVE = re.compile(rf"\bthe (?P<noun>{_NOUN}) (?:that|which|who|whose) (?P<clause>.+?)(?=$|[?,;])", _I)
_PARTICIPLE = re.compile(
    rf"\b(?:the|an?) (?P<noun>{_NOUN}) (?P<clause>(?:causing|carrying|spreading|transmitting|carried by|caused by|spread by|"
    rf"transmitted by|grown in|bred in|native to|known as|called|behind|responsible for) .+?)(?=$|[?,;])",
    _I,
)
_OF_CHAIN = re.compile(
    r"^(?P<wh>.+?\b(?:of|in|for|at|on|to|with|by))\s+(?:the )?(?P<noun>(?:home |native )?[\w'’-]+(?: [\w'’-]+)?) "
    r"of (?P<rest>(?:the )?.+?)\W*$",
    _I,
)
_POSSESSIVE = re.compile(r"^(?P<wh>.+?)\s+(?P<owner>[\w-]+(?: [\w-]+){0,3})['’]s?\s+(?P<noun>[\w-]+(?: [\w-]+){0,2})\W*$")
_PLAIN_NOUNS = frozenset(
    "sign signs kind type rate amount level number lot use risk middle end start beginning time part parts most some each one "
    "none all cause causes".split()
)


def decompose(question: str, *, entities: Callable[[str], list[str]] | None = None) -> Decomposition:
    """Split ``question``; see :data:`RULES` for the order of the rules.

    Args:
        question: one standalone question.
        entities: names found in a text, in order (titles, scope terms); sharpens comparisons and the fallback.
    """
    text = tidy(question)
    named = list(dict.fromkeys(entities(text))) if entities else []
    for name, rule in RULES:
        parts = rule(text, named)
        if parts and (split := valid(*parts, f"rules: {name}")):
            return split
    first, second = _fallback(text, named)
    return Decomposition(_question(first), _question(second), "rules: fallback")


def tidy(question: str) -> str:
    """``question`` with single spaces."""
    return re.sub(r"\s+", " ", question).strip()


def valid(first: str, second: str, method: str) -> Decomposition | None:
    """The two parts as questions, or None if one says nothing or both say the same."""
    left = content_words(second.replace("#1", ""))
    # "Number of #1?" asks nothing: the first part has swallowed the question
    if not content_words(first) or not left or ("#1" in second and set(left) <= _PLAIN_NOUNS):
        return None
    if first.strip(" ?").lower() == second.strip(" ?").lower():
        return None
    return Decomposition(_question(first), _question(second), method)


def _comparison(text: str, named: list[str]) -> Parts | None:
    """ "which ram is heavier, a Dorper or a Suffolk?": the same question about each."""
    told = re.split(r"(?<=[.?!])\s+", text)
    sentence = next((one for one in told if "?" in one), told[-1])
    if len(sentence) > LONGEST:
        return None
    if match := _TOPICS.match(sentence):
        return f"{match['head']} ({match['a']})", f"{match['head']} ({match['b']})"
    for pattern, lead in ((_DIFFERENCE, "what is"), (_TELL_APART, "how do I know"), (_COMPARE, "what is"), (_VERSUS, "what is")):
        if match := pattern.search(sentence):
            left, right = _trim(match["a"]), _trim(match["b"])
            if len(left.split()) > 8 or len(right.split()) > 10:
                return None
            aspect = re.search(r"\s(?:in|for|on|regarding|by) [\w' -]+$", right)
            tail = aspect.group() if aspect and len(aspect.group().split()) <= 5 else ""
            right = right[: len(right) - len(tail)].strip()
            return f"{lead} {left}{tail}", f"{lead} {right}{tail}"
    if match := _SAME_IN.match(sentence):
        return tuple(f"{match['head']} {match['prep']} {match[side]}" for side in "ab")  # type: ignore[return-value]
    match = _WHICH_OF.match(sentence)
    if match and content_words(match["a"]) and content_words(match["b"]) and len(match["head"].split()) >= 2:
        head, left, right = match["head"].strip(" ,:"), match["a"].strip(), match["b"].strip()
        before = [n for n in named if n.lower() in f"{head} {left}".lower()]
        if len(left.split()) <= 5 and not (before and not any(n.lower() in left.lower() for n in before)):
            return f"{head} {left}", f"{head} {right}"
    match = _THAN.match(sentence)
    if match and len(named) >= 2:
        left = next((n for n in named if n.lower() in match["head"].lower()), "")
        right = next((n for n in named if n.lower() in match["b"].lower()), "")
        if left and right and left.lower() != right.lower():
            return match["head"], re.sub(re.escape(left), lambda _: right, match["head"], count=1, flags=_I)
    match = _BOTH.match(sentence)
    if match and len(match["a"].split()) <= 6 and len(match["b"].split()) <= 6:
        return f"{match['head']} {match['a']} {match['tail']}", f"{match['head']} {match['b']} {match['tail']}"
    return None


def _bridge(text: str, named: list[str]) -> Parts | None:
    """ "the climate where Tan sheep come from": first the place, then its climate."""
    text = text.strip(" ?.!")
    if len(text) > LONGEST:
        return None
    match = _BARE_WHERE.search(text)
    if match and match.start() > 0 and content_words(text[: match.start()]):
        before, clause = text[: match.start()].strip(), match["clause"]
        if (pronoun := re.match(r"(?:they|it|she|he)\b", clause, _I)) and named:
            clause = named[0] + clause[pronoun.end() :]
            # "Tan sheep, what is the climate where they come from": the second step asks about the place alone
            before = re.sub(rf"^(?:the )?{re.escape(named[0])}\s*[,:]\s*", "", before, flags=_I) or before
        lead = {"like": "like in", None: "in"}.get(match["lead"], match["lead"])
        return f"where {clause}", f"{before} {lead} #1"
    for pattern, wh in ((_WHERE, "where"), (_RELATIVE, "which"), (_PARTICIPLE, "which")):
        match = pattern.search(text)
        if not match or not content_words(match["clause"]) or len(question_starts(match["clause"])) > 0:
            continue
        *lead_words, noun = match["noun"].split()
        before, after = text[: match.start()].strip(), text[match.end() :].strip(" ?,")
        if not content_words(before) and not content_words(after):
            # the clause runs into the main verb: "the worm that causes bottle jaw is found where"
            verb = re.search(rf"\s(?={AUX}\b)", match["clause"])
            if not verb:
                return None
            after = match["clause"][verb.start() :].strip()
            clause = match["clause"][: verb.start()]
        else:
            clause = match["clause"]
        first = f"where {clause}" if wh == "where" else f"which {noun} {clause}"
        return first, " ".join(part for part in (before, *lead_words, "#1", after) if part)
    match = _OF_CHAIN.match(text)
    if match and content_words(match["wh"]) and match["noun"].lower() not in _PLAIN_NOUNS:
        return f"what is the {match['noun']} of {match['rest']}", f"{match['wh']} #1"
    match = _POSSESSIVE.match(text)
    if match and content_words(match["wh"]) and match["owner"].split()[0].lower() not in STOPWORDS:
        return f"what is {match['owner']}'s {match['noun']}", f"{match['wh']} #1"
    return None


RULES: tuple[tuple[str, Callable[[str, list[str]], Parts | None]], ...] = (
    ("two questions", two_questions),
    ("comparison", _comparison),
    ("bridge", _bridge),
)


def _fallback(text: str, named: list[str]) -> Parts:
    """Nothing in the surface says how the parts hang together: the whole first, then what is asked with what it is about."""
    starts = question_starts(text)
    asked = text[starts[-1] :] if starts else text
    if named:
        rest = [w for w in content_words(asked) if not any(w in words(name) for name in named)]
        second = f"{' '.join(rest[:6])} {named[-1]}"
    elif starts and (story := content_words(text[: starts[0]])):
        second = f"{asked.rstrip(' ?.!')} ({' '.join(story[:6])})"
    else:
        second = " ".join(content_words(asked)[-6:])
    return text, second if content_words(second) and second.lower() != text.lower() else text


def _trim(text: str) -> str:
    return re.sub(r"^(?:the|an?)\s+", "", text.strip(" ,.?"), flags=_I)


def _question(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip(" ,.?")
    first = text[:1].upper()
    # "ß" and "µ" have no capital of their own
    return (first + text[1:] if first.lower() == text[:1] else text) + "?"
