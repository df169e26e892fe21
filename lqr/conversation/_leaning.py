"""Messages that lean on the last question without a word that points back: "how often?", "how much seed", "still ok?".

The last question lends its words or its topic; a message with a topic of its own gets none.
"""

from __future__ import annotations

import re

from lqr.conversation._case import gist, story
from lqr.conversation._focus import Focus, counted_in
from lqr.conversation._names import Names
from lqr.conversation._patterns import (
    BACKWARD,
    DEFINITE,
    DO_IT,
    GENERIC,
    LATEST,
    LEAD,
    ONE,
    PRONOUN,
    STARTS_AUX,
    VERBS,
    WH,
    WH_PHRASE,
    WHAT_ABOUT,
)
from lqr.conversation._pointing import ACTIVITY, bound, dangling
from lqr.conversation._swapping import Result, swap
from lqr.conversation._words import ARTICLE, PREPOSITION, has_clause, shares, tidy
from lqr.text import content_words


def bare_question_word(body: str, focus: Focus, names: Names) -> Result | None:
    """ "how often?", "why?", "how much seed?", "when for the ewes?": a wh-phrase without a sentence."""
    head = re.sub(r"^(?:and|but|so|ok|or)\s+", "", body.rstrip("?!. "), flags=re.IGNORECASE)
    match = WH.match(head)
    if not match or WHAT_ABOUT.match(head) or len(head.split()) > 7:
        return None
    tail = head[match.end() :].strip()
    if has_clause(tail) or PRONOUN.search(tail) or ONE.search(tail) or "," in tail:
        return None
    own = [w for w in content_words(tail) if w not in GENERIC]
    if named := names.things(tail):
        if len(own) > len({n.start for n in named}):
            return None
        question, _ = bare_question_word(head[: len(head) - len(tail)].strip(), focus, names) or (focus.question, "")
        changed = swap(ARTICLE.sub("", PREPOSITION.sub(r"\g<rest>", tail)), question, names)
        if changed:
            return changed
        if not (focus.counted or focus.topic) or (shares(tail, focus.topic) and not focus.counted):
            return None
        about = focus.counted or focus.topic
        return tidy(
            f"{head} ({about})?" if not shares(about, tail) else f"{head} ({gist(focus.question)})?"
        ), f"about {named[0].text}"
    if own:
        about = focus.topic
        if not about or shares(tail, about):
            return None
        if told := told_of(focus):
            return tidy(f"{head} ({told})?"), f"about {told}"
        return tidy(f"{head} for {about}?"), f"about {about}"
    question = focus.question.rstrip("?!. ")
    last = re.split(r"(?<=[.!?;])\s+", question)[-1]
    rest = WH_PHRASE.sub("", last)
    extra = ""
    if focus.topic and not shares(focus.topic, rest):
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
    about = recalled(question) or focus.topic
    if focus.topic and not shares(focus.topic, about):
        about = f"{about}, {focus.topic}"
    return (tidy(f"{head} ({about})?"), f"about {about}") if about else None


def repeat_action(body: str, focus: Focus) -> Result | None:
    """ "best way to do it?": the action is the one of the last question."""
    if not DO_IT.search(body) or not focus.question or len(content_words(body)) > 4:
        return None
    return tidy(f"{body.rstrip('?!. ')} ({recalled(focus.question)})?"), "“it” is what the last question asks about"


RECALLED = 24  # words of a question that is put behind another one whole


def recalled(question: str) -> str:
    """The last question as it stands in brackets behind a bare one: whole, so that it still reads, or the gist of a long one."""
    text = question.strip(" ?!.")
    return text if len(text.split()) <= RECALLED else gist(question)


def with_topic(body: str, focus: Focus, names: Names, said: str) -> Result | None:
    """A whole question that leans on the topic without a word for it: "and when do I dock?", "still ok?".

    ``said`` is ``body`` before words were put in it: "the ewe" for "her" is no sign of leaning.
    """
    open_pronoun = dangling(body, names)
    topic = focus.topic
    if focus.kind == "name" and not open_pronoun and not LATEST.search(body):
        topic = focus.main or topic  # "the album" is the latest thing named, "the band" the one that the talk began with
    told = told_of(focus)
    if not (told or topic) or shares(told or topic, said if told else body):
        return None
    found = names.find(body)
    if not open_pronoun and ([n for n in found if n.kind in ("title", "breed")] or len({n.thing for n in found}) > 1):
        return None
    own = [w for w in content_words(LEAD.sub("", body)) if w not in GENERIC and w not in VERBS]
    about_it = bool(told) and not ONE.search(said) and _of_beings(said, names)  # "how much do I give her"
    led = about_it or bool(
        LEAD.match(body) or BACKWARD.search(body) or DO_IT.search(body) or (_definite(said) and _definite(body))
    )
    if not led and any(n.kind == "name" for n in names.all(body)):
        return None
    if found and not open_pronoun and not about_it:
        # one thing in scope and little else: "is it dangerous for dogs?" after orf
        others = names.things(topic)
        if not led or any(n.kind == o.kind for n in found for o in others) or len(own) > 4:
            return None
    elif len(own) > (6 if led else 2) and not open_pronoun:
        return None
    if told:
        return tidy(f"{body.rstrip('?!. ')} ({told})?"), f"about {told}"
    if open_pronoun and not (focus.kind == "title" and ACTIVITY.match(topic)):
        topic = story(focus.question) or topic
    if (open_pronoun or not found) and focus.kind != "name" and focus.counted and not shares(focus.counted, f"{topic} {body}"):
        topic = f"{focus.counted}, {topic}"
    link = "for" if not has_clause(body) and len(body.split()) <= 5 and " for " not in body else ""
    put_on = f"{link} {topic}" if link else f"({topic})"
    return tidy(f"{body.rstrip('?!. ')} {put_on}?"), f"about {topic}"


def told_of(focus: Focus) -> str:
    """The case that is talked of, unless its question named a thing besides: "can it be worms?"."""
    return focus.case if shares(focus.topic, focus.case) else ""


def _of_beings(said: str, names: Names) -> bool:
    """Whether a "she" or "they" is one of an earlier message."""
    kinds = ((m.start(), "person" if m["person"] else "plural") for m in PRONOUN.finditer(said) if not m["thing"])
    return any(not bound(said, start, names, kind) for start, kind in kinds)


def _definite(body: str) -> bool:
    """ "the trough", "the war": a thing taken as known; not "the best time" and not "the leaves of ..."."""
    return any(
        m["noun"].lower() not in GENERIC and not m["noun"].endswith("est") and not m["noun"][0].isupper()
        for m in DEFINITE.finditer(body)
    )
