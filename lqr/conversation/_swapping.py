"""The last question about another thing: "and for lambs?", "what about goats", "maize", "no, the other one".

A thing takes the place of one of its own kind (profile groups; breeds among titles), with number agreement by endings.
"""

from __future__ import annotations

import re

from lqr.conversation._focus import Focus
from lqr.conversation._names import Name, Names
from lqr.conversation._patterns import LEAD, ONE, PRONOUN, SAME, STARTS_AUX, WH, WHAT_ABOUT, WHICH_OF_TWO
from lqr.conversation._words import ARTICLE, PREPOSITION, has_clause, plural, shares, singular, tidy
from lqr.text import content_words

Result = tuple[str, str]  # the standalone question, and what was done


def fragment(body: str, focus: Focus, names: Names) -> Result | None:
    """ "and for lambs?", "what about goats", "maize": the last question about another thing."""
    led = bool(LEAD.match(body) or WHAT_ABOUT.match(LEAD.sub("", body)) or SAME.match(LEAD.sub("", body)))
    rest = SAME.sub("", WHAT_ABOUT.sub("", LEAD.sub("", body))).strip(" ?!.,")
    rest = re.sub(r"\s+(?:then|too|as well|again|now)$", "", rest, flags=re.IGNORECASE)
    if not rest or len(rest.split()) > _LIMIT or WH.match(rest) or STARTS_AUX.match(rest) or has_clause(rest):
        return None
    match = PREPOSITION.match(rest)
    phrase = ARTICLE.sub("", match["rest"] if match else rest)
    if PRONOUN.search(rest) or ONE.search(rest) or not (content_words(phrase) or names.all(phrase)):
        return None
    swapped = swap(phrase, focus.question, names, led or body.rstrip().endswith("?"))
    if swapped:
        return swapped
    if match:
        if match["prep"].lower() == "per" and (old := re.search(r"\bper [\w%]+", focus.question)):
            return tidy(focus.question[: old.start()] + rest + focus.question[old.end() :]), f"{rest} in place of {old.group()}"
        return tidy(f"{focus.question.rstrip('?!. ')} {rest}?"), f"the last question, {rest}"
    named = names.all(phrase)
    kinds = {n.kind for n in names.things(focus.question, classes=False)}
    if led and named and not kinds:
        return tidy(f"{focus.question.rstrip('?!. ')}, {rest}?"), f"the last question, {rest}"
    if named and covers(named, phrase):
        return tidy(f"What about {phrase}?"), f"now {phrase}"
    if not named and (led or len(phrase.split()) <= 4) and focus.topic:
        about = focus.topic if not shares(phrase, focus.topic) else ""
        if not about:
            return tidy(f"{rest}?"), ""
        return tidy(f"{rest} for {about}?"), f"about {about}"
    return None


_LIMIT = 9  # words of a message that can be a fragment


def covers(named: list[Name], phrase: str) -> bool:
    """Whether names make up the phrase but for two words."""
    rest = phrase
    for name in named:
        rest = rest.replace(name.text, " ")
    return len(content_words(rest)) <= 1


def swap(phrase: str, question: str, names: Names, led: bool = True) -> Result | None:
    """``question`` with ``phrase`` in place of the thing of the same kind in it."""
    new_titles, old_titles = names.titles(phrase), names.titles(question)
    for new in new_titles:
        for old in old_titles:
            if new.kind == old.kind and new.thing != old.thing and (new.kind == "breed" or led):
                return put(question, [old], phrase, names), f"{phrase} in place of {old.text}"
    if several := _swap_several(phrase, question, names):
        return several
    in_title = [(n.start, n.end) for n in old_titles if n.kind == "breed"]
    for new in (*_classes_first(names.things(phrase), names),):
        old_things = [n for n in names.things(question) if n.kind == new.kind]
        others = [n for n in old_things if n.thing != new.thing]
        if others and not any(n.thing == new.thing for n in old_things):
            owned = [n for n in others if re.search(r"\b(?:my|our|his|her|their)\s+$", question[: n.start], re.IGNORECASE)]
            # "my sheep ... made for cattle": the animal that eats comes first, whose feed it is comes later
            target = (owned or others)[0] if new.kind == "animal" else others[-1]
            inside = [n for n in old_titles if n.kind == "breed" and n.start <= target.start < n.end]
            same = inside or [n for n in others if n.thing == target.thing and not any(s <= n.start < e for s, e in in_title)]
            if same:
                return put(question, same, phrase, names), f"{phrase} in place of {same[-1].text}"
    return _narrowed(phrase, question, names)


def _narrowed(phrase: str, question: str, names: Names) -> Result | None:
    """ "and for lambs?" after a question about sheep: the class in place of its animal's own name.

    The name stays behind it, for what is said of sheep holds for lambs where nothing is said of them.
    """
    for new in names.things(phrase):
        general = [
            n
            for n in names.things(question)
            if n.kind == new.kind and n.thing == new.thing and n.text.lower() == n.thing.lower() != new.text.lower()
        ]
        if general and len(general) == 1:
            changed = put(question, general, phrase, names)
            return tidy(f"{changed.rstrip('?!. ')} ({general[0].text})?"), f"{phrase} in place of {general[0].text}"
    return None


def _swap_several(phrase: str, question: str, names: Names) -> Result | None:
    """ "spring maize in Sichuan" in place of "maize in Yunnan": two kinds of thing at once."""
    pairs = [(new, old) for new in names.things(phrase) for old in names.things(question) if new.kind == old.kind]
    if len({new.start for new, _ in pairs}) < 2 or all(new.thing == old.thing for new, old in pairs):
        return None
    start, end = min(old.start for _, old in pairs), max(old.end for _, old in pairs)
    if len(question[start:end].split()) > 6:
        return None
    return tidy(question[:start] + phrase + question[end:]), f"{phrase} in place of {question[start:end]}"


def _classes_first(found: list[Name], names: Names) -> list[Name]:
    """ "lambs" after "ewes" changes the class of sheep; only else the animal."""
    return sorted(found, key=lambda n: (n.kind not in names.profile.classes, -len(n.text)))


def put(question: str, olds: list[Name], phrase: str, names: Names) -> str:
    """Replace each of ``olds``, agreeing in number where only the ending differs ("does a ewe": "does a lamb")."""
    for old in reversed(olds):
        before, after = question[: old.start], question[old.end :]
        new = phrase
        single = re.search(r"\b(?:a|an|one|each|every|per)\s+((?:[\w-]+\s+)?)$", before, re.IGNORECASE)
        if single and not re.match(r"(?:a|an|the|my)\s", phrase, re.IGNORECASE):
            new = singular(phrase)
            if article := re.search(r"\b(an?)\s+$", before, re.IGNORECASE):
                fitting = "an" if new[:1].lower() in "aeiou" else "a"
                before = before[: article.start(1)] + fitting + before[article.end(1) :]
        elif re.search(r"\b(?:do|are|were|have|many|these|those)\b[^?]*$", before, re.IGNORECASE) and old.text.endswith("s"):
            new = plural(phrase)
        question = before + new + after
    if len(olds) > 1:  # "lambs (sheep)" has become "goats (goats)"
        question = re.sub(rf"\s*\({re.escape(phrase)}\)(?=\W*$)", "", question, flags=re.IGNORECASE)
    return tidy(question)


def of_the_pair(body: str, focus: Focus, names: Names) -> Result | None:
    """ "which one spreads faster?": both things stay in the question."""
    if len(focus.pair) != 2 or not WHICH_OF_TWO.search(body) or names.find(body):
        return None
    left, right = focus.pair
    if re.match(r"^(?:and |so |but )?(?:which|what)\b", body, re.IGNORECASE):
        return tidy(f"{body.rstrip('?!. ')}, {left} or {right}?"), f"one of {left} and {right}"
    return tidy(f"{body.rstrip('?!. ')}, {left} and {right}?"), f"about {left} and {right}"


def one_of_two(body: str, which: str, focus: Focus, reply: str) -> Result | None:
    """ "the other one", "no, the second": one of the two things last named; None when it stays open."""
    pair = focus.pair
    if len(pair) != 2:
        return None
    if which in ("first", "former"):
        picked = pair[0]
    elif which in ("second", "latter"):
        picked = pair[1]
    else:
        said = [thing for thing in pair if thing.lower() in focus.question.lower()]
        told = [thing for thing in pair if thing.lower() in reply.lower()]
        spoken = said if len(said) == 1 else told if len(told) == 1 else []
        if not spoken:
            return None
        picked = pair[1] if spoken[0] == pair[0] else pair[0]
    return only(focus.question, pair, picked), f"the {which} one is {picked}"


def only(question: str, pair: tuple[str, ...], picked: str) -> str:
    """``question`` about ``picked`` alone."""
    left, right = map(re.escape, pair)
    links = r"\W+(?:and|or|from|versus|vs\.?|than)\W+(?:an? |the )?"
    both = re.compile(rf"(?:between )?(?:{left}{links}{right}|{right}{links}{left})", re.IGNORECASE)
    if both.search(question):
        if not re.search(r"\bor\b", question):
            return f"What about {picked}?"
        return tidy(both.sub(lambda m: picked, question, count=1))
    other = pair[0] if picked == pair[1] else pair[1]
    if other.lower() in question.lower():
        return tidy(re.sub(re.escape(other), lambda m: picked, question, count=1, flags=re.IGNORECASE))
    return tidy(f"{question.rstrip('?!. ')}: {picked}?")
