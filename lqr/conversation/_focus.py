"""What a conversation is about at one moment, and what a word such as "it" then stands for.

The focus is kept over turns: a follow-up that names nothing new ("how much seed?") leaves it as it was. Every phrase here
is a stretch of some earlier message, as written. Knows the names of the collection; rewrites nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from lqr.conversation._case import MAX_PHRASE, case_of
from lqr.conversation._names import Name, Names
from lqr.conversation._patterns import AUX, BEINGS, COMPARES, COUNTED, GENERIC, PAIR, VERBS
from lqr.conversation._words import GROUPS, own_words, shares
from lqr.text import STOPWORDS, content_words


@dataclass(frozen=True, slots=True)
class Focus:
    """The state after a user turn.

    ``question`` is the last standalone question; ``topic`` the phrase that it is about ("maize in Gansu"); ``beings`` what
    "she" and "they" may be ("ewes"); ``counted`` what was last asked how much of ("hay"); ``place`` what "there" is;
    ``pair`` the two things last compared; ``latest`` the last thing named, wherever.
    """

    question: str = ""
    topic: str = ""
    beings: str = ""
    counted: str = ""
    place: str = ""
    matter: str = ""  # what was asked about the beings, when it has no name ("the mineral mix")
    pair: tuple[str, ...] = ()
    latest: str = ""
    kind: str = ""  # of the topic: title, breed, a group of the profile, name; empty for a plain noun phrase
    person: bool = False  # the topic has been called he or she
    who: str = ""  # a name that has been called he or she, or asked "who is"; another topic does not change it
    main: str = ""  # the first name that was a topic
    case: str = ""  # what was told of animals ("my ewe collapsed two weeks before lambing"), while it is talked of
    called: tuple[str, ...] = ()  # names that end in a common noun ("Farnsworth House"), latest last


def after_question(question: str, names: Names, old: Focus) -> Focus:
    """The focus after a standalone ``question``; what it does not name stays as it was."""
    found = names.all(question)
    if old.topic and _still(old, question, found):
        topic, kind = old.topic, old.kind  # put there by the rewrite, or said again: still the topic
    else:
        topic, kind = topic_of(question, names, found)
    telling = bool(found) or not old.topic or len(own_words(question)) >= 2
    named = topic if kind == "name" else ""
    scope = [n for n in found if n.kind in names.profile.scope or n.kind in names.profile.classes or n.kind == "breed"]
    place = place_of(question, names)
    counted = counted_in(question)
    case = case_of(question, names)
    if not case and old.case and (not telling or old.case.lower() in question.lower()):
        case = old.case
    living = _counted_first([n for n in scope if n.kind in BEINGS or n.kind.endswith("_class")], counted)
    return replace(
        old,
        question=question,
        topic=topic if telling and topic else old.topic,
        kind=kind if telling and topic else old.kind,
        beings=_widened(question, living[0], names, of=False)
        if living
        else old.beings
        if shares(topic, old.topic) or not telling
        else "",
        counted=counted or (old.counted if shares(topic, old.topic) or not telling else ""),
        matter=_matter(question, found) if telling else old.matter,
        place=place or old.place,
        case=case,
        who=named if named and _WHO.match(question) else old.who,
        main=old.main or named,
        called=with_called(old.called, found),
        pair=pair_in(question, names) or (old.pair if not telling or shares(question, " ".join(old.pair)) else ()),
        latest=found[-1].text if found else counted or old.latest,
    )


_WHO = re.compile(r"^(?:and |so )?who (?:is|was)\b", re.IGNORECASE)


def _still(old: Focus, question: str, found: list[Name]) -> bool:
    """Whether ``question`` keeps the old topic: the rewrite put it there, it is said again, or nothing else is named."""
    if old.topic.lower() in question.lower():
        return not any(n.kind == "title" for n in found)
    return old.kind == "name" and (shares(question, old.topic) or (not found and len(own_words(question)) < 4))


def with_reply(focus: Focus, reply: str, names: Names) -> Focus:
    """The focus once the answer is read: it gives a topic to a question that had none ("what is it?"), and a pair.

    A refusal tells nothing: what it names is what the documents hold besides. A list names many things by the way, and the
    heading of a section ("Colostrum and milk for kids:") an aspect, where that of an article has its title in front.
    """
    if any(reply.startswith(names.profile.text("refusal", language)) for language in ("en", "zh")):
        return focus
    opening = _SECTION.sub("", _LISTED.sub("", reply[:400]))
    found = names.titles(opening)
    topic, kind = focus.topic, focus.kind
    asked = {k: things for k, things in names.profile.things(topic).items() if k not in BEINGS and k != "region"}
    for k, things in asked.items():  # "qingke in Tibet", answered from a calendar of Tibet: still qingke
        found = [title for title in found if things & names.profile.things(title.text).get(k, set())]
    if found and not focus.case and not names.titles(focus.question):
        topic, kind = found[0].text, found[0].kind
        if found[0].start == 0 and kind == "title":
            topic = topic[:1].lower() + topic[1:]
    told = _asked_for(focus, opening, names)
    topic, kind = (told, "") if told else (topic, kind)
    heard = [name for name in names.all(opening) if name.kind == "name"]
    pair = focus.pair or (pair_in(opening, names) if len(names.find(focus.question)) <= 1 else ())
    return replace(
        focus, topic=topic, kind=kind, counted=told or focus.counted, pair=pair, called=with_called(focus.called, heard)
    )


_WHICH = re.compile(r"^(?:and |so )?(?:which|what) (?P<noun>[a-z]{3,}?)(?:e?s)?\b", re.IGNORECASE)


def _asked_for(focus: Focus, opening: str, names: Names) -> str:
    """ "clostridial vaccine", once "which shot does every flock need?" was answered by one."""
    match = _WHICH.match(names.profile.renamed(focus.question))
    if not match or names.titles(focus.question) or match["noun"].lower() in GENERIC | VERBS | STOPWORDS:
        return ""
    sentence = re.split(r"(?<=[.!?])\s", opening, maxsplit=1)[0]
    for said in re.finditer(rf"\b(?P<of>[a-z][a-z-]+) {match['noun']}(?:e?s)?\b", sentence):
        if said["of"] not in STOPWORDS | VERBS | GENERIC | {"other", "every", "new", "same"}:
            return said.group()
    return ""


_LISTED = re.compile(r"^- .*$", re.MULTILINE)
_SECTION = re.compile(r"^(?:(?! – )[^\n.])*:$", re.MULTILINE)


def with_called(called: tuple[str, ...], found: list[Name]) -> tuple[str, ...]:
    """``called`` and the names in ``found`` of two words or more, the last of them a word that may be said alone."""
    new = [n.text for n in found if n.kind == "name" and " " in n.text and len(n.text.split()[-1]) > 2]
    return (*(name for name in called if name not in new), *dict.fromkeys(new))[-12:]


def topic_of(question: str, names: Names, found: list[Name]) -> tuple[str, str]:
    """The phrase a question is about, and its kind: a title, else scope terms, else capitalised names, else a noun phrase.

    Names joined by a preposition are one phrase ("orf in Tan sheep", "maize in Gansu").
    """
    best = next((n for n in found if n.kind == "title"), None) or next((n for n in found if n.kind == "breed"), None)
    scope = _counted_first([n for n in found if n.kind in names.profile.scope], counted_in(question))
    best = best or next((n for n in scope if n.kind not in BEINGS and not _AT.search(question[: n.start])), None)
    best = best or next(iter(scope), None) or next((n for n in found if n.kind != "name"), None) or (found[0] if found else None)
    if best is None:
        return noun_phrase(question), ""
    start, end = best.start, best.end
    for other in found:
        if other.text.lower() in GROUPS:
            continue  # "footrot in my flock" is footrot
        if other.start >= end and _JOINS.fullmatch(question[end : other.start]):
            end = other.end
    for other in reversed(found):
        if other.end <= start and _JOINS.fullmatch(question[other.end : start]):
            start = other.start
    if len(question[start:end].split()) > MAX_PHRASE:
        start, end = best.start, best.end
    return _widened(question, Name(question[start:end], start, end, best.kind, best.thing), names), best.kind


# "orf in Tan sheep", "qingke in the river valleys of Tibet"
_JOINS = re.compile(
    r"\s+(?:(?:in|of|for|on|from|with|at|under)\s+(?:the [\w-]+ (?:[\w-]+ )?of )?)?"
    r"(?:(?:the|my|our|an?)\s+)?(?:(?:late|early|young|old|dry|pregnant)\s+)?",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[\w'’%-]+")


def _widened(text: str, name: Name, names: Names, *, of: bool = True) -> str:
    """``name`` with the modifiers before it ("pregnant ewes", "guard dogs") and "X of a" ("udder of a ewe")."""
    start = name.start
    if name.kind == "name":
        return text[start : name.end]
    before = list(_TOKEN.finditer(text[:start]))[-2:]
    for token in reversed(before):
        gap = text[token.end() : start]
        word = token.group().lower()
        if gap.strip() or word in STOPWORDS | VERBS | GENERIC or word[0].isdigit() or word.endswith(("ly", "ing", "est")):
            break
        if re.search(rf"\b(?:i|you|we|they|to|not|{AUX})\s+$", text[: token.start()], re.IGNORECASE):
            break  # a verb that we do not know
        if word.endswith("ed") and not _ADJECTIVE_AFTER.search(text[: token.start()]):
            break  # "sheep poisoned corn", but "eat wilted corn"
        start = token.start()
    whole = re.search(r"([\w'’-]+) of (?:a |an |the |my )?$", text[:start]) if of else None
    if whole and whole.group(1).lower() not in STOPWORDS | VERBS | GENERIC and not whole.group(1)[0].isdigit():
        start = whole.start()
    elif (
        of
        and name.kind in names.profile.scope
        and name.kind != "region"
        and _ENDS.match(text[name.end :])
        and (borne := _BORNE.search(text[:start]))
    ):
        run: list[str] = []
        for word in reversed(borne["noun"].split()):
            if (
                word.lower() in STOPWORDS | VERBS | GENERIC | {"against"}
                or word.lower().endswith(("ed", "ing", "ly"))
                or word[0].isdigit()
            ):
                break
            run.insert(0, word)
        if run and name.text.lower() in GROUPS:
            return " ".join(run)
        start = text.rindex(" ".join(run), 0, start) if run else start
    phrase = text[start : name.end]
    # a capital that only begins the sentence does not belong to the phrase
    if start == 0 and name.kind != "breed" and name.thing[:1].islower():
        phrase = phrase[:1].lower() + phrase[1:]
    return phrase


# "ticks on my goats", "couch grass in wheat": what they have
_BORNE = re.compile(r"(?P<noun>(?:[\w'’-]+\s){1,2})(?:on|in)\s(?:(?:the|my|our|an?)\s)?$", re.IGNORECASE)


def _counted_first(found: list[Name], counted: str) -> list[Name]:
    """ "wolves took 4 sheep. how many guard dogs ...": the dogs are what is asked about."""
    return sorted(found, key=lambda n: n.text.lower() not in counted.lower())


_AT = re.compile(r"\b(?:in|at|near|from)\s+(?:the )?$", re.IGNORECASE)


_ADJECTIVE_AFTER = re.compile(
    r"\b(?:an?|the|my|our|some|eat|ate|give|gave|feed|fed|graze|grazed|of|for|in|on)\s+$", re.IGNORECASE
)


def noun_phrase(question: str) -> str:
    """Without any name: what is counted or chosen ("how many guard dogs"), else the longest run of telling words."""
    if counted := counted_in(question):
        return counted
    runs: list[list[str]] = [[]]
    between: list[str] = []  # function words since the last run, to keep "gas in a new silo" one phrase
    for token in re.findall(r"[\w'’%.-]*[\w'’%]|[.,;:!?]", question):
        low = token.lower()
        if low in STOPWORDS | VERBS | GENERIC or not token[0].isalnum():
            between.append(low)
            continue
        if between and runs[-1]:
            if re.fullmatch(r"(?:of|in)(?: (?:the|a|an|my))?", " ".join(between)):
                runs[-1] += between
            else:
                runs.append([])
        between = []
        runs[-1].append(token)
    phrases = [" ".join(run[:MAX_PHRASE]) for run in runs if run]
    if not phrases:
        return ""
    if re.search(r"[,.;!?:]\s", question):
        return ", ".join(phrases[:3])
    return max(phrases, key=lambda phrase: len(phrase.split()))


def _matter(question: str, found: list[Name]) -> str:
    """The noun phrase after a determiner that holds no name: "mineral mix" of "give my sheep the mineral mix made for ..."."""
    for match in re.finditer(r"\b(?:the|a|an|this|some)\s+((?:[\w'’-]+\s*){1,3})", question, re.IGNORECASE):
        run: list[str] = []
        for word in match[1].split():
            if word.lower() in STOPWORDS | GENERIC | {"made", "given", "kept", "is", "are"} or (len(run) == 2 and word in VERBS):
                break
            run.append(word)
        run = run[: 3 if _ENDS.match(question[match.end() :]) else 2]
        if run and not any(match.start(1) <= n.start < match.end(1) for n in found):
            return " ".join(run)
    return ""


_ENDS = re.compile(rf"\W*$|\s*(?:{AUX}|be|for|in|on|of|to|at|with)\b", re.IGNORECASE)  # where a noun phrase is over


def counted_in(question: str) -> str:
    """ "hay" of "how much hay does a ewe need", "vaccine" of "which vaccine does every flock need"."""
    for match in COUNTED.finditer(question):
        run: list[str] = []
        for word in match["noun"].split():
            if word.lower() in VERBS | STOPWORDS:
                break
            run.append(word)
        if any(word.lower() not in GENERIC for word in run):
            return " ".join(run)
    return ""


def place_of(question: str, names: Names) -> str:
    """The last capitalised or scope name after "in", "at", "to", "from": what a later "there" is."""
    found = [n for n in names.all(question) if n.text[:1].isupper() or (n.kind in names.profile.scope and n.kind not in BEINGS)]
    places = [n for n in found if re.search(r"\b(?:in|at|to|from|near|of)\s+(?:the )?$", question[: n.start], re.IGNORECASE)]
    return places[-1].text if places else ""


def pair_in(text: str, names: Names) -> tuple[str, ...]:
    """Exactly two things that ``text`` sets against one another, as written; else empty."""
    if not COMPARES.search(text):
        return ()
    joined = re.compile(
        r"\W*(?:\s(?:and|or|versus|vs\.?|from|than|compared (?:to|with))\s+)(?:an? |the )?(?:[\w-]+ )?", re.IGNORECASE
    )
    found = names.find(text)
    for left, right in pairwise(found):
        if left.thing != right.thing and joined.fullmatch(text[left.end : right.start]):
            return left.text, right.text
    for match in PAIR.finditer(text):
        before, after = _tail(match["a"]), match["b"].strip()
        if before and content_words(after) and before.lower() != after.lower():
            return before, after
    return ()


def _tail(phrase: str) -> str:
    """The last run of words of ``phrase`` that is no verb or function word."""
    run: list[str] = []
    for word in reversed(phrase.split()):
        if word.lower() in STOPWORDS | VERBS:
            break
        run.insert(0, word)
    return " ".join(run)
