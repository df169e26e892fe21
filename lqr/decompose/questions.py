"""Two questions in one message: where they begin, and what the second one needs of the first to stand alone.

"where do Maiwa yaks come from and what is the July temperature there": the second part may say ``#1``, the answer to the first.
Knows nothing of comparisons and bridges, which are one question each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lqr.text import AUX, QUESTION_BEGINS, content_words

Parts = tuple[str, str]

_I = re.IGNORECASE

# ", which spreads" goes on with the clause before it.
_RELATIVE_JOINT = re.compile(r"^(?:which|who|whom|whose|where|when)\b", _I)

_POINTS_BACK = re.compile(r"\b(?:it|its|they|them|their|this|that|these|those|there|he|she|him|her|each)\b", _I)
_SEVERAL = re.compile(r"\b(?:each|they|them|these|those|both)\b", _I)
# "that plateau", "it", "there": what the first question asks for.
_DEMONSTRATIVE = re.compile(r"\b(?:(?:that|this|those|these) [\w-]+(?=\W*$|[?,.;])|it|there)\b", _I)
_POSSESSED = re.compile(r"\b(?:its|their)\b(?! own\b)", _I)
# "which worms ...", "which clostridial diseases does ...", but not "which worm causes ..."
_MANY = re.compile(rf"(?:which|what) (?:[\w'’-]*[^s\W]s\b|[\w'’-]+ [\w'’-]*[^s\W]s {AUX}\b)", _I)
# "How is footrot recognised": what stands between the auxiliary and the verb.
_SUBJECT = re.compile(rf"\b{AUX}\s+(?:the |an? |my |our )?(?P<subject>(?!i\b|we\b|you\b)[\w'’-]+(?: [\w'’-]+)??)\s+[\w'’-]+$", _I)
# "How much milk does a goat give, and can I drink it raw?": what is measured.
_MEASURED = re.compile(r"^how (?:much|many) (?P<noun>[\w'’-]+)\s", _I)
_IT = re.compile(r"\b(?:it|them|they)\b", _I)
_IDENTIFIES = re.compile(r"^(?:which|who|where|what(?! (?:is|are|does|do|can|would|should)\b))\b", _I)
_ASPECTS = frozenset("soon often long much many fast what how which when why get see kg".split())


def two_questions(text: str, named: list[str]) -> Parts | None:
    """The two questions of ``text``, each standing alone; None if it holds but one.

    Args:
        named: the names in ``text``, in order.
    """
    starts = question_starts(text)
    if len(starts) < 2:
        return None
    story = re.sub(r"[\s,:;.–&-]+$|\s+(?:and|but|so)$", "", text[: starts[0]].strip())
    first = re.sub(r"[\s,;:.?&–-]*(?:\b(?:and|but|also|then)\s*)*$", "", text[starts[0] : starts[1]], flags=_I)
    second = text[starts[1] :]
    if not (_own(first) or story) or not (_own(second) or _missing(second, named)):
        return None
    whole_first = _with_story(first, story, named)
    return whole_first, _carried(second, first, story, named)


def question_starts(text: str) -> list[int]:
    """Where the questions of ``text`` begin, in order."""
    starts: list[int] = []
    for match in QUESTION_BEGINS.finditer(text):
        joint = match["joint"].strip()
        if joint == "," and starts and _RELATIVE_JOINT.match(match["question"]):
            continue
        starts.append(match.start("question"))
    return starts


def _own(part: str) -> list[str]:
    return [word for word in content_words(part) if word not in _ASPECTS]


def _missing(part: str, named: Sequence[str]) -> list[str]:
    return [name for name in named if name.lower() not in part.lower()]


def _with_story(part: str, story: str, named: list[str]) -> str:
    """The first question with what it needs of the story before it: all of it, its names, or nothing."""
    if not story:
        return part
    if len(story.split()) <= 6 or len(_own(part)) < 3 or _POINTS_BACK.search(part):
        return f"{story}: {part}"
    lost = [name for name in _missing(part, named) if name.lower() in story.lower()]
    return f"{part} ({', '.join(lost[:2])})" if lost else part


def _carried(second: str, first: str, story: str, named: list[str]) -> str:
    """The second question with what its "it" stands for, or with the topic when it names nothing."""
    pointing = _DEMONSTRATIVE.search(second)
    if pointing and _IDENTIFIES.match(first):
        return second[: pointing.start()] + "#1" + second[pointing.end() :]
    if (measured := _MEASURED.match(first)) and (it := _IT.search(second)) and content_words(measured["noun"]):
        about = next((name for name in named if name.lower() in first.lower()), "")
        of = f" ({about})" if about and about.lower() not in second.lower() else ""
        return f"{second[: it.start()]}{measured['noun']}{of}{second[it.end() :]}"
    if (possessive := _POSSESSED.search(second)) and (owner := _owner(possessive, first, story, named)):
        return f"{second[: possessive.start()]}{owner}'s{second[possessive.end() :]}"
    held = [name for name in named if name.lower() in second.lower()]
    topics = [name for name in _missing(second, named) if name.lower() in f"{story} {first}".lower()]
    if held and len(_own(second)) >= 3:
        return second
    lacking = topics[:2] or (_own(story) + _own(first))[:4]
    if held and not topics:
        lacking = [word for word in _own(first) if word not in second.lower()][:4]
    elif held:  # "what can alfalfa take?": the aspect is in the first question
        lacking = [word for word in _own(first) if not any(word in name.lower() for name in named)][:4]
    elif len(_own(second)) < 3:
        lacking = [*topics[:2], *(w for w in _own(first) if not any(w in t.lower() for t in topics[:2]))][:4]
    elif topics and _SEVERAL.search(second):  # "how quick does each come on": what "each" is
        lacking = list(dict.fromkeys([*topics[:2], *(w for w in _own(first) if not any(w in t.lower() for t in topics[:2]))]))[:6]
    return f"{second.rstrip(' ?.!')} ({' '.join(lacking)})" if lacking else second


def _owner(possessive: re.Match[str], first: str, story: str, named: Sequence[str]) -> str:
    """Whose "its treatment" is: ``#1`` if the first question asks for such a thing, else what it is about; empty if unclear."""
    if re.search(r"\ban? [\w'’-]+", possessive.string[: possessive.start()], _I):
        return ""  # "how is a sheep given its first course": its own
    if _IDENTIFIES.match(first):
        many = _MANY.match(first) is not None
        return "#1" if many == (possessive.group().lower() == "their") else ""
    for told in (first, story):
        if topic := next((name for name in named if name.lower() in told.lower()), ""):
            return topic
    match = _SUBJECT.search(first)
    return match["subject"] if match and content_words(match["subject"]) else ""
