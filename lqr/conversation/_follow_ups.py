"""The rewrites themselves: each takes a message and the focus, and gives a standalone question with a note, or None.

A rewrite is made of words of the message and of the history, in singular or plural, and of a few function words.
"""

from __future__ import annotations

import re

from lqr.conversation._focus import Focus, _shares, counted_in, gist, story
from lqr.conversation._names import Name, Names
from lqr.conversation._patterns import (
    AUX,
    BACKWARD,
    CLASS_NOUN,
    CLAUSE,
    DO_IT,
    EXPLETIVE,
    GENERIC,
    LEAD,
    ONE,
    PRONOUN,
    SAME,
    STARTS_AUX,
    THERE,
    UNCOUNTED,
    VERBS,
    WH,
    WH_PHRASE,
    WHAT_ABOUT,
    WHICH_OF_TWO,
)
from lqr.text import STOPWORDS, content_words, words

Result = tuple[str, str]  # the standalone question, and what was done
_PREPOSITION = re.compile(
    r"^(?P<prep>for|in|with|on|about|to|of|after|before|during|when|at|per|under|from|without)\s+(?P<rest>.+)$", re.IGNORECASE
)
_ARTICLE = re.compile(r"^(?:the|my|our|a|an|some)\s+", re.IGNORECASE)
_LIMIT = 9  # words of a message that can be a fragment


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
    both = re.compile(
        rf"(?:between )?{left}\W+(?:and|or|from|versus|vs\.?|than)\W+(?:an? |the )?{right}|{right}\W+(?:and|or|from|than)\W+(?:an? |the )?{left}",
        re.IGNORECASE,
    )
    if both.search(question):
        if not re.search(r"\bor\b", question):
            return f"What about {picked}?"
        return tidy(both.sub(lambda m: picked, question, count=1))
    other = pair[0] if picked == pair[1] else pair[1]
    if other.lower() in question.lower():
        return tidy(re.sub(re.escape(other), lambda m: picked, question, count=1, flags=re.IGNORECASE))
    return tidy(f"{question.rstrip('?!. ')}: {picked}?")


def of_the_pair(body: str, focus: Focus, names: Names) -> Result | None:
    """ "which one spreads faster?": both things stay in the question."""
    if len(focus.pair) != 2 or not WHICH_OF_TWO.search(body) or names.find(body):
        return None
    left, right = focus.pair
    if re.match(r"^(?:and |so |but )?(?:which|what)\b", body, re.IGNORECASE):
        return tidy(f"{body.rstrip('?!. ')}, {left} or {right}?"), f"one of {left} and {right}"
    return tidy(f"{body.rstrip('?!. ')}, {left} and {right}?"), f"about {left} and {right}"


def fragment(body: str, focus: Focus, names: Names) -> Result | None:
    """ "and for lambs?", "what about goats", "maize": the last question about another thing."""
    led = bool(LEAD.match(body) or WHAT_ABOUT.match(LEAD.sub("", body)) or SAME.match(LEAD.sub("", body)))
    rest = SAME.sub("", WHAT_ABOUT.sub("", LEAD.sub("", body))).strip(" ?!.,")
    rest = re.sub(r"\s+(?:then|too|as well|again|now)$", "", rest, flags=re.IGNORECASE)
    if not rest or len(rest.split()) > _LIMIT or WH.match(rest) or STARTS_AUX.match(rest) or _has_clause(rest):
        return None
    match = _PREPOSITION.match(rest)
    phrase = _ARTICLE.sub("", match["rest"] if match else rest)
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
        about = focus.topic if not _shares(phrase, focus.topic) else ""
        if not about:
            return tidy(f"{rest}?"), ""
        return tidy(f"{rest} for {about}?"), f"about {about}"
    return None


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
            target = others[-1]
            inside = [n for n in old_titles if n.kind == "breed" and n.start <= target.start < n.end]
            same = inside or [n for n in others if n.thing == target.thing and not any(s <= n.start < e for s, e in in_title)]
            if same:
                return put(question, same, phrase, names), f"{phrase} in place of {same[-1].text}"
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
    return tidy(question)


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


def plural(phrase: str) -> str:
    """The last word in the plural, when it is a plain singular noun with an article of its own."""
    bare = re.sub(r"^(?:a|an)\s+", "", phrase, flags=re.IGNORECASE)
    if bare == phrase or phrase.lower().endswith("s"):
        return phrase
    *rest, last = bare.split(" ")
    backward = {one: many for many, one in _IRREGULAR.items()}
    return " ".join([*rest, backward.get(last.lower()) or last + "s"])


def bare_question_word(body: str, focus: Focus, names: Names) -> Result | None:
    """ "how often?", "why?", "how much seed?", "when for the ewes?": a wh-phrase without a sentence."""
    head = re.sub(r"^(?:and|but|so|ok|or)\s+", "", body.rstrip("?!. "), flags=re.IGNORECASE)
    match = WH.match(head)
    if not match or WHAT_ABOUT.match(head) or len(head.split()) > 7:
        return None
    tail = head[match.end() :].strip()
    if _has_clause(tail) or PRONOUN.search(tail) or ONE.search(tail) or "," in tail:
        return None
    own = [w for w in content_words(tail) if w not in GENERIC]
    if named := names.things(tail):
        if len(own) > len({n.start for n in named}):
            return None
        question, _ = bare_question_word(head[: len(head) - len(tail)].strip(), focus, names) or (focus.question, "")
        changed = swap(_ARTICLE.sub("", _PREPOSITION.sub(r"\g<rest>", tail)), question, names)
        if changed:
            return changed
        if not (focus.counted or focus.topic) or _shares(tail, focus.topic) and not focus.counted:
            return None
        about = focus.counted or focus.topic
        return tidy(
            f"{head} ({about})?" if not _shares(about, tail) else f"{head} ({gist(focus.question)})?"
        ), f"about {named[0].text}"
    if own:
        about = focus.topic
        if not about or _shares(tail, about):
            return None
        return tidy(f"{head} for {about}?"), f"about {about}"
    question = focus.question.rstrip("?!. ")
    last = re.split(r"(?<=[.!?;])\s+", question)[-1]
    rest = WH_PHRASE.sub("", last)
    extra = ""
    if focus.topic and not _shares(focus.topic, rest):
        extra = f" ({focus.topic})"
    counted = counted_in(last)
    if counted and not extra and counted.lower() not in rest.lower() and not head.lower().startswith(("which", "what")):
        extra = f" ({counted})"
    if rest != last and len(rest.split()) >= 2:
        return tidy(f"{head} {rest}{extra}?"), "the last question with another question word"
    if STARTS_AUX.match(last) and head.lower() == "why not":
        return tidy(f"Why not: {last}?"), "the last question with another question word"
    if STARTS_AUX.match(last):
        return tidy(f"{head} {last[:1].lower()}{last[1:]}{extra}?"), "the last question with another question word"
    about = gist(question) or focus.topic
    if focus.topic and not _shares(focus.topic, about):
        about = f"{about}, {focus.topic}"
    return (tidy(f"{head}, {about}?"), f"about {about}") if about else None


def point_back(body: str, focus: Focus, names: Names) -> Result | None:
    """Put what they stand for in place of "it", "they", "the disease", "there", "one" and a missing "how many (ewes)"."""
    text, notes = body, []
    for change in (_full_name, _uncounted, _class_noun, _ones, _places, _pronouns):
        text, said = change(text, focus, names)
        notes += said
    return (tidy(text), "; ".join(notes)) if notes else None


def _full_name(text: str, focus: Focus, names: Names) -> tuple[str, list[str]]:
    """ "Tendulkar" once "Sachin Tendulkar" is the topic."""
    if focus.kind != "name" or " " not in focus.topic or focus.topic.lower() in text.lower():
        return text, []
    last = focus.topic.split()[-1]
    match = re.search(rf"(?<![\w-])(?<![A-Z][a-z] ){re.escape(last)}(?![\w-])", text, re.IGNORECASE)
    if not match or len(last) < 3:
        return text, []
    return text[: match.start()] + focus.topic + text[match.end() :], [f"{last} is {focus.topic}"]


def _uncounted(text: str, focus: Focus, names: Names) -> tuple[str, list[str]]:
    lead = LEAD.match(text)
    at = lead.end() if lead else 0
    match = UNCOUNTED.match(text[at:])
    if not match:
        return text, []
    noun = focus.beings if match["how"].lower() == "many" else focus.counted
    if match["how"].lower() == "many":
        noun = _plural_of(focus) or noun
    if not noun or _shares(noun, text) or re.match(r"\s+(?:of|does it cost|is it)\b", text[at + match.end() :], re.IGNORECASE):
        return text, []
    end = at + match.end()
    return f"{text[:end]} {noun}{text[end:]}", [f"how {match['how']} {noun}"]


def _plural_of(focus: Focus) -> str:
    for phrase in (focus.counted, focus.beings, focus.topic):
        if _is_plural(phrase):
            return phrase
    return ""


def _class_noun(text: str, focus: Focus, names: Names) -> tuple[str, list[str]]:
    match = CLASS_NOUN.search(text)
    if not match or not focus.topic or names.titles(text) or names.things(text[: match.start()]):
        return text, []
    if match["noun"].lower() in focus.topic.lower() and match["noun"].lower() not in ("problem", "problems"):
        new = focus.topic
    else:
        new = focus.topic
    return text[: match.start()] + new + text[match.end() :], [f"“{match.group()}” is {new}"]


def _ones(text: str, focus: Focus, names: Names) -> tuple[str, list[str]]:
    match = ONE.search(text)
    if not match or names.things(text[: match.start()]) and not re.search(r"\b(?:in|on|per)\s+$", text[: match.start()]):
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
        new = _many(noun)
    elif before.endswith(("which", "another", "other", "this", "that")) or not before:
        new = singular(noun) if not before or before.endswith("another") else singular(noun)
        new = new if before else f"one {new}"
    elif before.endswith((" in", " on", " per")):
        new = f"one {singular(noun)}"
    else:
        return text, []
    return text[: match.start()] + new + text[match.end() :], [f"“{match.group()}” is {new}"]


def _places(text: str, focus: Focus, names: Names) -> tuple[str, list[str]]:
    match = THERE.search(text)
    if not match or not focus.place or re.search(r"\bin [A-Z]", text[: match.start()]):
        return text, []
    link = "" if re.search(r"\b(?:in|from|to|at)\s+$", text[: match.start()]) else "in "
    return text[: match.start()] + link + focus.place + text[match.end() :], [f"“there” is {focus.place}"]


def _pronouns(text: str, focus: Focus, names: Names) -> tuple[str, list[str]]:
    empty = [m.span() for m in EXPLETIVE.finditer(text)]
    used: list[str] = []
    notes: list[str] = []
    out, at = "", 0
    for match in PRONOUN.finditer(text):
        kind = "person" if match["person"] else "plural" if match["plural"] else "thing"
        if any(start <= match.start() < end for start, end in empty) or kind in used or _not_a_pronoun(match, text):
            continue
        owner = _is_owner(match, text)
        if bound(text, match.start(), names, kind) or owner and _owner_in_clause(text[: match.start()], kind, names):
            continue
        new = referent(kind, match.group().lower(), focus)
        if kind == "thing" and focus.kind == "title" and _ELSEWHERE.search(text[match.end() :]):
            new = new.split(" in ")[0]
        if not new or any(new == n for n in notes) or new.lower() in text.lower():
            continue
        used.append(kind)
        notes.append(new)
        out += text[at : match.start()] + (_owned(new) if owner else new)
        at = match.end()
    said = [
        f"“{kind_word}” is {new}"
        for kind_word, new in zip([{"person": "she", "plural": "they", "thing": "it"}[k] for k in used], notes, strict=True)
    ]
    return out + text[at:], said


def _not_a_pronoun(match: re.Match[str], text: str) -> bool:
    word, after = match.group().lower(), text[match.end() :]
    if word in ("it", "they", "them", "he", "she", "him", "its", "their", "his", "theirs", "hers"):
        return False
    if word == "her":
        return False
    following = re.match(r"\s+([\w'’-]+)", after)
    if (
        not following
        or re.match(r"\s+[a-z]+ (?:out|up|off|the|my|our|a|it|them)\b", after, re.IGNORECASE)
        and STARTS_AUX.match(text)
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
    return (
        len(own) >= 2
        or bool(own)
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


def referent(kind: str, word: str, focus: Focus) -> str:
    """What a pronoun of ``kind`` most likely stands for; empty when nothing fits."""
    if kind == "person":
        if focus.beings:
            return _one_of(focus.beings)
        return focus.topic if focus.kind == "name" else ""
    if kind == "plural":
        for phrase in (focus.counted, focus.beings, focus.topic):
            if _is_plural(phrase) and not (phrase == focus.counted and _is_plural(focus.beings)):
                return phrase
        if focus.beings:
            return _many(focus.beings)
        return focus.topic
    if focus.person and focus.latest and focus.latest != focus.topic:
        return focus.latest
    if focus.beings and _shares(focus.topic, focus.beings) and focus.kind != "title":
        # "it" is hardly the ewe: what was asked about her, or nothing that has a name
        return "" if _shares(focus.counted, focus.beings) else focus.counted or focus.matter
    if word in ("this", "that") and not focus.kind:
        return ""
    return focus.topic or focus.counted


# "dangerous for people", "affects goats": then "orf in lambs" is about orf alone
_ELSEWHERE = re.compile(r"\b(?:for|to|in|by|affect\w*|infect\w*|hurts?|kills?|catch)\s+(?:the |my )?[\w-]+", re.IGNORECASE)


def _is_plural(phrase: str) -> bool:
    return bool(re.search(r"(?<![sui])s$|sheep$|cattle$", phrase, re.IGNORECASE))


def _many(noun: str) -> str:
    """A singular scope noun as "they" needs it."""
    if noun.lower().endswith(("s", "sheep", "cattle", "deer", "fish", "poultry")):
        return noun
    backward = {one: many for many, one in _IRREGULAR.items()}
    *rest, last = noun.split(" ")
    return " ".join([*rest, backward.get(last.lower()) or last + "s"])


def _one_of(beings: str) -> str:
    one = singular(beings)
    return one if one[:1].isupper() or one != beings and one.lower() == beings.lower() else f"the {one}"


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


def repeat_action(body: str, focus: Focus) -> Result | None:
    """ "best way to do it?": the action is the one of the last question."""
    if not DO_IT.search(body) or not focus.question or len(content_words(body)) > 4:
        return None
    return tidy(f"{body.rstrip('?!. ')}: {gist(focus.question)}?"), "“it” is what the last question asks about"


def with_topic(body: str, focus: Focus, names: Names) -> Result | None:
    """A whole question that leans on the topic without a word for it: "and when do I dock?", "still ok?"."""
    topic = focus.topic
    if not topic or _shares(topic, body):
        return None
    found = names.find(body)
    dangling = _dangling(body, names)
    if not dangling and ([n for n in found if n.kind in ("title", "breed")] or len({n.thing for n in found}) > 1):
        return None
    own = [w for w in content_words(LEAD.sub("", body)) if w not in GENERIC and w not in VERBS]
    led = bool(LEAD.match(body) or BACKWARD.search(body) or DO_IT.search(body) or _definite(body))
    if not led and any(n.kind == "name" for n in names.all(body)):
        return None
    if found and not dangling:
        # one thing in scope and little else: "is it dangerous for dogs?" after orf
        others = names.things(topic)
        if not led or any(n.kind == o.kind for n in found for o in others) or len(own) > 4:
            return None
    elif len(own) > (5 if led else 2) and not dangling:
        return None
    if dangling:
        topic = story(focus.question) or topic
    if (dangling or not found) and focus.counted and not _shares(focus.counted, f"{topic} {body}"):
        topic = f"{focus.counted}, {topic}"
    link = "for" if not _has_clause(body) and len(body.split()) <= 5 and " for " not in body else ""
    put_on = f"{link} {topic}" if link else f"({topic})"
    return tidy(f"{body.rstrip('?!. ')} {put_on}?"), f"about {topic}"


def _definite(body: str) -> bool:
    """ "the trough", "the war": a thing taken as known; not "the best time" and not "the leaves of ..."."""
    return any(m["noun"].lower() not in GENERIC and not m["noun"].endswith("est") for m in _THE.finditer(body))


_THE = re.compile(r"\bthe (?P<noun>[\w-]{3,})(?! (?:[\w-]+ )?(?:of|for|in|on|at)\b)", re.IGNORECASE)


def _dangling(body: str, names: Names) -> bool:
    """Whether an "it" or "that" has found no noun, here or before."""
    empty = [m.span() for m in EXPLETIVE.finditer(body)]
    return any(
        match["thing"]
        and not _not_a_pronoun(match, body)
        and not any(start <= match.start() < end for start, end in empty)
        and not bound(body, match.start(), names, "thing")
        for match in PRONOUN.finditer(body)
    )


def _has_clause(text: str) -> bool:
    """Whether ``text`` holds a verb that we know."""
    return bool(re.search(rf"\b(?:{AUX}|i|we|you|they|it|he|she)\b", text, re.IGNORECASE)) or any(
        w in _CLAUSE_VERBS for w in words(text)
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


def tidy(text: str) -> str:
    """Single spaces, a capital in front, no doubled end marks."""
    text = LEAD.sub("", re.sub(r"\s+", " ", text).strip()) or text
    text = re.sub(r"\s+([?!.,;:])", r"\1", text)
    text = re.sub(r"([?!.])[?!.]+$", r"\1", text)
    return text[:1].upper() + text[1:]


def mentions(text: str, phrase: str) -> bool:
    """Whether ``text`` has a content word of ``phrase``."""
    return _shares(text, phrase)
