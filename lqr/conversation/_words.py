"""Small things about words that the rewrites share: number, verbs, shared words, tidy sentences.

English by endings, without a dictionary; what it does not know it leaves as it is.
"""

from __future__ import annotations

import re

from lqr.conversation._patterns import AUX, GENERIC, LEAD, VERBS
from lqr.text import content_words, words

ARTICLE = re.compile(r"^(?:the|my|our|a|an|some)\s+", re.IGNORECASE)


PREPOSITION = re.compile(
    r"^(?P<prep>for|in|with|on|about|to|of|after|before|during|when|at|per|under|from|without)\s+(?P<rest>.+)$", re.IGNORECASE
)


_CLAUSE_VERBS = VERBS - {
    "lime",
    "milk",
    "breed",
    "spray",
    "cost",
    "feed",
    "drink",
    "spread",
    "cut",
    "test",
    "control",
    "work",
    "store",
    "cause",
    "plant",
    "keep",
    "cure",
    "stack",
    "show",
    "help",
    "start",
    "stop",
    "call",
    "play",
    "run",
    "worm",
    "stay",
    "graze",
    "harvest",
    "drench",
    "lost",
    "left",
    "turn",
    "last",
    "lead",
    "catch",
}


def has_clause(text: str) -> bool:
    """Whether ``text`` holds a verb that we know."""
    return bool(re.search(rf"\b(?:{AUX}|i|we|you|they|it|he|she)\b", text, re.IGNORECASE)) or any(
        w in _CLAUSE_VERBS for w in words(text)
    )


def shares(a: str, b: str) -> bool:
    """Whether two phrases have a content word in common, singular or plural."""
    left, right = ({re.sub(r"(?:['’]s?|s)$", "", w) for w in content_words(text)} for text in (a, b))
    return bool(left & right)


def own_words(question: str) -> list[str]:
    """Content words that name a topic: neither an aspect that one asks about anything, nor a verb that we know."""
    return [w for w in content_words(question) if w not in GENERIC and w not in VERBS]


_IRREGULAR = {
    "calves": "calf",
    "geese": "goose",
    "mice": "mouse",
    "sheep": "sheep",
    "leaves": "leaf",
    "women": "woman",
    "men": "man",
    "children": "child",
}


def singular(phrase: str) -> str:
    """The last word in the singular, by its ending."""
    *rest, last = phrase.split(" ")
    low = last.lower()
    if low in _IRREGULAR:
        new = _IRREGULAR[low]
    elif low.endswith("ies") and len(low) > 4:
        new = last[:-3] + "y"
    elif low.endswith(("oes", "sses", "ches", "shes", "xes")):
        new = last[:-2]
    elif low.endswith("s") and not low.endswith(("ss", "us", "is")) and len(low) > 3:
        new = last[:-1]
    else:
        new = last
    return " ".join([*rest, new])


GROUPS = frozenset(["flock", "herd", "mob"])


def plural(noun: str) -> str:
    """A singular scope noun as "they" needs it."""
    if (
        not noun[-1:].isascii()
        or not noun[-1:].isalpha()
        or noun.lower().endswith(("s", "sheep", "cattle", "deer", "fish", "poultry"))
    ):
        return noun
    backward = {one: many for many, one in _IRREGULAR.items()}
    *rest, last = noun.split(" ")
    if last.lower() in GROUPS and not rest:
        return f"the {noun}"  # "they" are its animals: "how long do the flock stand"
    return " ".join([*rest, backward.get(last.lower()) or last + "s"])


def is_plural(phrase: str) -> bool:
    """Whether ``phrase`` ends like a plural."""
    return bool(re.search(r"(?<![sui])s$|sheep$|cattle$", phrase, re.IGNORECASE))


def tidy(text: str) -> str:
    """Single spaces, a capital in front, no doubled end marks."""
    text = LEAD.sub("", re.sub(r"\s+", " ", text).strip()) or text
    text = re.sub(r"\s+([?!.,;:])", r"\1", text)
    text = re.sub(r"([?!.])[?!.]+$", r"\1", text)
    first = text[:1].upper()
    # "ß" and "µ" have no capital of their own
    return first + text[1:] if first.lower() == text[:1] else text
