"""Words that point back ("it", "they", "there", "the disease", "one") and what is put in their place.

A pronoun that finds its noun in an earlier clause of the same message is left alone.
"""

from __future__ import annotations

import re

from lqr.conversation._focus import Focus
from lqr.conversation._names import Names
from lqr.conversation._patterns import (
    AUX,
    CLASS_NOUN,
    CLAUSE,
    EXPLETIVE,
    GENERIC,
    LEAD,
    ONE,
    PRONOUN,
    STARTS_AUX,
    THERE,
    UNCOUNTED,
    VERBS,
)
from lqr.conversation._words import is_plural, plural, shares, singular, tidy
from lqr.text import STOPWORDS, content_words

Change = tuple[str, list[str]]  # the text, and what was put in


def point_back(body: str, focus: Focus, names: Names) -> tuple[str, str] | None:
    """Put what they stand for in place of "it", "they", "the disease", "there", "one" and a missing "how many (ewes)"."""
    text, notes = body, []
    for change in (_full_name, _called, _uncounted, _class_noun, _ones, _places, _pronouns):
        text, said = change(text, focus, names)
        notes += said
    return (tidy(text), "; ".join(notes)) if notes else None


def _full_name(text: str, focus: Focus, names: Names) -> Change:
    """ "Tendulkar" once "Sachin Tendulkar" is the topic."""
    if focus.kind != "name" or " " not in focus.topic or focus.topic.lower() in text.lower():
        return text, []
    last = focus.topic.split()[-1]
    match = re.search(rf"(?<![\w-])(?<!(?-i:[A-Z][a-z]) ){re.escape(last)}(?![\w-])", text, re.IGNORECASE)
    if not match or len(last) < 3:
        return text, []
    return text[: match.start()] + focus.topic + text[match.end() :], [f"{last} is {focus.topic}"]


_THE_NOUN = re.compile(r"\b(?:the|this|that) (?P<noun>[a-z]{3,})(?! (?:of|in|that|which|who)\b)\b")


def _called(text: str, focus: Focus, names: Names) -> Change:
    """ "the house" once the Farnsworth House was named."""
    for match in _THE_NOUN.finditer(text):
        for name in reversed(focus.called):
            if name.split()[-1].lower() == match["noun"] and not shares(" ".join(name.split()[:-1]), text):
                return f"{text[: match.start()]}the {name}{text[match.end() :]}", [f"“{match.group()}” is the {name}"]
    return text, []


def _uncounted(text: str, focus: Focus, names: Names) -> Change:
    lead = LEAD.match(text)
    at = lead.end() if lead else 0
    match = UNCOUNTED.match(text[at:])
    if not match:
        return text, []
    noun = focus.beings if match["how"].lower() == "many" else focus.counted
    if match["how"].lower() == "many":
        noun = _plural_of(focus) or noun
    if not noun or shares(noun, text) or re.match(r"\s+(?:of|does it cost|is it)\b", text[at + match.end() :], re.IGNORECASE):
        return text, []
    end = at + match.end()
    return f"{text[:end]} {noun}{text[end:]}", [f"how {match['how']} {noun}"]


def _plural_of(focus: Focus) -> str:
    for phrase in (focus.counted, focus.beings, focus.topic):
        if is_plural(phrase):
            return phrase
    return ""


def _class_noun(text: str, focus: Focus, names: Names) -> Change:
    match = CLASS_NOUN.search(text)
    if not match or not focus.topic or names.titles(text) or names.things(text[: match.start()]):
        return text, []
    return text[: match.start()] + focus.topic + text[match.end() :], [f"“{match.group()}” is {focus.topic}"]


def _ones(text: str, focus: Focus, names: Names) -> Change:
    match = ONE.search(text)
    if not match or (names.things(text[: match.start()]) and not re.search(r"\b(?:in|on|per)\s+$", text[: match.start()])):
        return text, []
    noun = (
        focus.counted
        if re.search(r"\b(?:in|on|per)\s+$", text[: match.start()])
        else focus.beings or focus.counted or focus.topic
    )
    if not noun:
        return text, []
    noun = noun.split(" in ")[0].split(" of ")[0]
    before = text[: match.start()].rstrip().lower()
    if match["one"].lower() == "ones":
        new = plural(noun.split()[-1])
    elif before.endswith(("which", "another", "other", "this", "that")) or not before:
        new = singular(noun)
        new = new if before else f"one {new}"
    elif before.endswith((" in", " on", " per")):
        new = f"one {singular(noun)}"
    else:
        return text, []
    return text[: match.start()] + new + text[match.end() :], [f"“{match.group()}” is {new}"]


def _places(text: str, focus: Focus, names: Names) -> Change:
    match = THERE.search(text)
    if not match or not focus.place or re.search(r"\bin [A-Z]", text[: match.start()]):
        return text, []
    link = "" if re.search(r"\b(?:in|from|to|at)\s+$", text[: match.start()]) else "in "
    return text[: match.start()] + link + focus.place + text[match.end() :], [f"“there” is {focus.place}"]


_PEOPLE_DO = re.compile(r"\s+(?:sow|plant|drill|plough|plow|harvest|spray|irrigate|shear|vaccinate)\b", re.IGNORECASE)


def _pronouns(text: str, focus: Focus, names: Names) -> Change:
    empty = [m.span() for m in EXPLETIVE.finditer(text)]
    used: list[str] = []
    notes: list[str] = []
    out, at = "", 0
    for match in PRONOUN.finditer(text):
        kind = "person" if match["person"] else "plural" if match["plural"] else "thing"
        if any(start <= match.start() < end for start, end in empty) or kind in used or _not_a_pronoun(match, text):
            continue
        if match.group().lower() == "they" and _PEOPLE_DO.match(text[match.end() :]):
            continue  # "when do they sow maize there": whoever farms there
        owner = _is_owner(match, text)
        if bound(text, match.start(), names, kind) or (owner and _owner_in_clause(text[: match.start()], kind, names)):
            continue
        held = kind == "thing" and focus.matter and _INSIDE.search(text[: match.start()])
        new = f"the {focus.matter}" if held else referent(kind, match.group().lower(), focus)
        if kind == "thing" and focus.kind == "title" and _ELSEWHERE.search(text[match.end() :]):
            new = new.split(" in ")[0]
        if not new or any(new == n for n in notes) or new.lower() in text.lower():
            continue
        used.append(kind)
        notes.append(new)
        before = re.sub(r"\b(how (?:many|much)) of $", r"\1 ", text[at : match.start()], flags=re.IGNORECASE)
        out += before + (_owned(new) if owner else new)
        at = match.end()
    said = [
        f"“{kind_word}” is {new}"
        for kind_word, new in zip([{"person": "she", "plural": "they", "thing": "it"}[k] for k in used], notes, strict=True)
    ]
    return out + text[at:], said


def referent(kind: str, word: str, focus: Focus) -> str:
    """What a pronoun of ``kind`` most likely stands for; empty when nothing fits."""
    if kind == "person":
        if focus.beings:
            return _one_of(focus.beings)
        return (focus.who or focus.main or focus.topic) if focus.kind == "name" else focus.who
    if kind == "plural":
        if focus.kind == "name" and not focus.who and not focus.beings:
            return focus.main or focus.topic  # a band, a tribe, a firm
        for phrase in (focus.counted, focus.beings, focus.topic):
            if is_plural(phrase) and not (phrase == focus.counted and is_plural(focus.beings)):
                return phrase
        if focus.beings:
            return plural(focus.beings)
        return focus.topic
    if focus.case and shares(focus.topic, focus.case):
        return ""  # "it" is what was told, and that has no name
    if focus.person and focus.latest and focus.latest != focus.topic:
        return focus.latest
    if focus.who and focus.topic == focus.who:
        return ""  # nobody calls a person "it": the name stands behind the question, not in it
    if focus.beings and shares(focus.topic, focus.beings) and focus.kind != "title":
        # "it" is hardly the ewe: what was asked about her, or nothing that has a name
        return "" if shares(focus.counted, focus.beings) else focus.counted or focus.matter
    if (word in ("this", "that") and not focus.kind) or (focus.kind == "title" and ACTIVITY.match(focus.topic)):
        return ""  # the topic then stands behind the question: nobody means "taking a soil sample" by "where do I put it"
    return focus.topic or focus.counted


# "how long do they stand in it": a bath, a pen, a bin; hardly what is treated there
_INSIDE = re.compile(r"\b(?:in|into|inside|through|out of)\s+$", re.IGNORECASE)
ACTIVITY = re.compile(r"(?!spring )[a-z]+ing [a-z]", re.IGNORECASE)  # "helping a difficult lambing", not "spring wheat"


# "dangerous for people", "affects goats": then "orf in lambs" is about orf alone
_ELSEWHERE = re.compile(r"\b(?:for|to|in|by|affect\w*|infect\w*|hurts?|kills?|catch)\s+(?:the |my )?[\w-]+", re.IGNORECASE)


def bound(text: str, at: int, names: Names, kind: str) -> bool:
    """Whether the pronoun at ``at`` finds its noun in an earlier clause of the same message.

    A noun of its own clause is none, for "can a ewe eat it" is not about eating the ewe.
    """
    ends = [m.start() for m in CLAUSE.finditer(text) if m.end() <= at]
    before = text[: ends[-1]] if ends else ""
    if not before.strip():
        return False
    if kind != "thing":
        if names.things(before) or any(n.kind == "name" for n in names.all(before)):
            return True
        return bool((_PEOPLE if kind == "person" else _PLURALS).search(before))
    if names.titles(before):
        return True
    own = [w for w in content_words(before) if w not in GENERIC | VERBS]
    return len(own) >= 2 or (
        bool(own)
        and bool(
            re.match(
                r"^(?:the |my |our |a |an )?[\w-]+ (?:is|was|has|had|would|will|came|looks?|smells?|got)\b", before, re.IGNORECASE
            )
        )
    )


_PEOPLE = re.compile(
    r"\b(?:man|woman|boy|girl|wife|husband|son|daughter|father|mother|dad|mum|brother|sister|neighbou?r|child|worker|men|friend)\b",
    re.IGNORECASE,
)


_PLURALS = re.compile(
    r"\b(?:the|my|our|some|two|three|both|\d+) (?:[\w-]+ )?[\w-]{3,}s\b|\b(?:people|farmers|men|women|they|we)\b", re.IGNORECASE
)


def _owner_in_clause(before: str, kind: str, names: Names) -> bool:
    """ "do people there graze their sheep", "a ewe that lost her lambs": a possessive may belong to its own subject."""
    if kind == "thing":
        return False
    return bool(names.things(before)) or bool((_PEOPLE if kind == "person" else _PLURALS).search(before))


def dangling(body: str, names: Names) -> bool:
    """Whether an "it" or "that" has found no noun, here or before."""
    empty = [m.span() for m in EXPLETIVE.finditer(body)]
    return any(
        match["thing"]
        and not _not_a_pronoun(match, body)
        and not any(start <= match.start() < end for start, end in empty)
        and not bound(body, match.start(), names, "thing")
        for match in PRONOUN.finditer(body)
    )


def _not_a_pronoun(match: re.Match[str], text: str) -> bool:
    word, after = match.group().lower(), text[match.end() :]
    if word in ("it", "they", "them", "he", "she", "him", "its", "their", "his", "theirs", "hers"):
        return False
    if word == "her":
        return False
    following = re.match(r"\s+([\w'’-]+)", after)
    if not following or (
        re.match(r"\s+[a-z]+ (?:out|up|off|the|my|our|a|it|them)\b", after, re.IGNORECASE) and STARTS_AUX.match(text)
    ):
        return False
    next_word = following.group(1).lower()
    # "that the ewe", "this year", "these ewes": a conjunction or a determiner
    if re.fullmatch(AUX, next_word, re.IGNORECASE):
        return (
            word == "that"
            and bool(re.search(r"\w\s+$", text[: match.start()]))
            and not re.search(rf"\b(?:{AUX}|how|why|what|when|and|but|so|if)\s+$", text[: match.start()], re.IGNORECASE)
        )
    return next_word not in {
        "for",
        "in",
        "on",
        "with",
        "to",
        "at",
        "before",
        "after",
        "and",
        "or",
        "without",
        "by",
        "from",
        "too",
        "happen",
        "happens",
        "mean",
        "means",
    }


def _is_owner(match: re.Match[str], text: str) -> bool:
    word = match.group().lower()
    if word in ("its", "their", "his", "hers", "theirs"):
        return not (
            word == "its" and re.match(r"\s+(?:out|not|a|the|been|still|too|very|in|on)\b", text[match.end() :], re.IGNORECASE)
        )
    if word != "her":
        return False
    following = re.match(r"\s+([\w-]+)", text[match.end() :])
    return bool(following) and following.group(1).lower() not in STOPWORDS | {"die", "eat", "stand", "milk"}  # type: ignore[union-attr]


def _owned(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"


def _one_of(beings: str) -> str:
    one = singular(beings)
    return one if one[:1].isupper() or (one != beings and one.lower() == beings.lower()) else f"the {one}"
