"""Makes claims that an evidence text supports, and claims that differ from them in one thing it does not hold.

No hand-labelled pair is needed: a claim comes from a question and its answer (turned into a statement, in the manner of
Demszky et al. 2018, "Transforming question answering datasets into natural language inference datasets"), from the first
sentence of an article ("X is an American actor"), or from a part of a sentence. The wrong one has the answer, name, number
or kind of another, or a negation. Which words were exchanged is kept, so that the reader can be taught word by word.
Deterministic for a seed. Knows nothing of the model.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lqr.text import sentence_spans


@dataclass(frozen=True, slots=True)
class SupportPair:
    """A claim with its evidence. ``wrong`` are the character spans of the claim that the evidence does not hold.

    An unsupported pair without ``wrong`` teaches only the whole claim. ``origin`` names how it was made.
    """

    claim: str
    evidence: str
    supported: bool
    wrong: tuple[tuple[int, int], ...] = ()
    origin: str = ""


_WH = re.compile(
    r"^(?:and |so |but )?(?:in |on |at |to |by |for |from |with )?(who|what|which|when|where|how many|how much)\b", re.I
)
_DO = re.compile(r"^(do|does|did)\s+", re.I)
_BE = re.compile(r"^(is|was|are|were)\s+", re.I)
_AUX = frozenset("do does did is was are were can could will would has have had should may might must".split())
_NEGATED = re.compile(r"\b(is|was|are|were|has|had|can|could|will|would|did|does)\b(?! not)")
_KIND = re.compile(
    r"^(?P<name>[A-Z][^.;]{2,60}?)\s+(?P<be>is|was|are|were)\s+(?P<article>an?)\s+(?P<kind>[^.,;()]{4,70}?)"
    r"(?=[.,;]| who | that | which | from | by | in | of | based | and (?:was|is) |$)"
)
_DROPPED = re.compile(r"\s*\([^()]*\)")
_NAME = re.compile(r"(?<=[a-z,] )(?:[A-Z][\w'’-]+)(?: (?:of |the |de )?[A-Z][\w'’-]+)*")
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w])")
_OPPOSED = {
    "first": "last",
    "last": "first",
    "before": "after",
    "after": "before",
    "more": "fewer",
    "most": "least",
    "largest": "smallest",
    "highest": "lowest",
    "increase": "decrease",
    "increased": "decreased",
    "north": "south",
    "south": "north",
    "east": "west",
    "west": "east",
    "northern": "southern",
    "southern": "northern",
    "male": "female",
    "female": "male",
    "won": "lost",
    "best": "worst",
    "high": "low",
    "low": "high",
    "began": "ended",
    "early": "late",
    "late": "early",
    "always": "never",
    "many": "few",
    "large": "small",
    "small": "large",
    "success": "failure",
    "successful": "unsuccessful",
    "older": "younger",
    "younger": "older",
    "above": "below",
    "below": "above",
    "wet": "dry",
    "dry": "wet",
    "safe": "dangerous",
    "higher": "lower",
    "lower": "higher",
    "major": "minor",
    "public": "private",
    "private": "public",
    "brother": "sister",
    "father": "mother",
}


def from_questions(paragraphs: Sequence[Mapping[str, Any]], rng: random.Random) -> Iterator[SupportPair]:
    """Statements from questions with answer spans; the wrong answer is another question's in the same paragraph.

    Args:
        paragraphs: ``{"title", "text", "questions": [{"question", "answer", "answer_start"}]}``.
    """
    for paragraph in paragraphs:
        text, asked = paragraph["text"], list(paragraph["questions"])
        spans = sentence_spans(text)
        rng.shuffle(asked)
        for item in asked[:3]:
            answer = item["answer"]
            if not 1 <= len(answer) <= 60:
                continue
            home = next((i for i, (a, b) in enumerate(spans) if a <= item["answer_start"] < b), None)
            if home is None:
                continue
            evidence = " ".join(text[a:b] for a, b in spans[max(0, home - rng.randint(0, 1)) : home + 1])
            others = [
                o["answer"] for o in asked if _other(o["answer"], answer) and o["answer"].lower() not in item["question"].lower()
            ]
            alike = [o for o in others if _shape(o) == _shape(answer)] or others
            right = statement(item["question"], answer)
            if right is None:
                continue
            yield SupportPair(right[0], evidence, True, origin="question")
            if alike:
                wrong = statement(item["question"], rng.choice(alike))
                if wrong is not None:
                    yield SupportPair(wrong[0], evidence, False, (wrong[1],), "question")


def from_articles(articles: Sequence[Mapping[str, Any]], rng: random.Random) -> Iterator[SupportPair]:
    """Statements of kind from the first sentences of articles ``{"title", "text"}``; the wrong kind is another article's.

    Every second wrong one is negated, and so is right: otherwise "not" alone would mean *unsupported*.
    """
    found = []
    for article in articles:
        spans = sentence_spans(article["text"])
        if not spans:
            continue
        first = article["text"][slice(*spans[0])]
        match = _KIND.match(_DROPPED.sub("", first))
        if match:
            found.append((match["name"], match["be"], match["kind"].split(), first))
    for name, be, kind, first in found:
        start = rng.randrange(max(1, len(kind) - 1)) if rng.random() < 0.5 else 0
        mine = " ".join(kind[start:])
        yield SupportPair(f"{name} {be} {_article(mine)} {mine}.", first, True, origin="kind")
        _, _, other, elsewhere = rng.choice(found)
        theirs = " ".join(other[-rng.randint(1, len(other)) :])
        if theirs.split()[-1].lower() in first.lower() or len(theirs) < 4:
            continue
        head = f"{name} {be} "
        tail = f"{_article(theirs)} {theirs}"
        if rng.random() < 0.25:
            yield SupportPair(f"{head}not {tail}.", first, True, origin="kind negated")
        else:
            yield SupportPair(f"{head}{tail}.", first, False, ((len(head), len(head) + len(tail)),), "kind")
        if rng.random() < 0.35:
            claim = f"{head}not {_article(mine)} {mine}."
            yield SupportPair(claim, first, False, ((len(head), len(head) + 3),), "kind negated")
        if rng.random() < 0.15:
            yield SupportPair(f"{name} {be} {_article(mine)} {mine}.", elsewhere, False, (), "elsewhere")


def from_sentences(texts: Sequence[str], rng: random.Random) -> Iterator[SupportPair]:
    """A part of a sentence as it is, and with a name, a number or an opposite exchanged, or negated."""
    names: list[str] = []
    for text in texts:
        spans = sentence_spans(text)
        usable = [i for i, (a, b) in enumerate(spans) if 40 <= b - a <= 260]
        if not usable:
            continue
        index = rng.choice(usable)
        sentence = text[slice(*spans[index])]
        claim = _part(sentence, rng)
        evidence = " ".join(text[a:b] for a, b in spans[max(0, index - rng.randint(0, 1)) : index + rng.randint(1, 2)])
        here = _NAME.findall(text)
        changed = _changed(claim, evidence, names[-400:], here, rng)
        names.extend(here)
        yield SupportPair(claim, evidence, True, origin="sentence")
        if changed is not None:
            yield SupportPair(changed[0], evidence, False, (changed[1],), "sentence")


def statement(question: str, answer: str) -> tuple[str, tuple[int, int]] | None:
    """``question`` and ``answer`` as one statement, and where the answer stands in it; None for forms that don't turn."""
    text = question.strip().rstrip("?").strip()
    match = _WH.match(text)
    if not match:
        return None
    rest = text[match.end() :].strip()
    words = rest.split()
    if not words:
        return None
    # "what city did X visit": the noun goes with the wh-word; without an auxiliary near, the wh-phrase is the subject
    at = next((i for i, word in enumerate(words[:4]) if word.lower() in _AUX), None)
    if at is None:
        if match[1].lower() in ("when", "where"):
            return None
        after = " ".join(words if match[1].lower() in ("who", "what") else words[1:])
        return (f"{answer} {after}.", (0, len(answer))) if after else None
    noun, tail = words[:at], " ".join(words[at:])
    preposition = (
        text.split()[0].lower() if text.split()[0].lower() in ("in", "on", "at", "to", "by", "for", "from", "with") else ""
    )
    link = preposition or {"when": "in", "where": "in"}.get(match[1].lower(), "")
    counted = f" {' '.join(noun)}" if match[1].lower().startswith("how") and noun else ""
    if do := _DO.match(tail):
        body = f"{tail[do.end() :]} {link} ".replace("  ", " ")
        return f"{body}{answer}{counted}.", (len(body), len(body) + len(answer))
    if be := _BE.match(tail):
        if match[1].lower() in ("who", "what", "which") and not preposition and len(tail.split()) > 2 and not noun:
            body = f"{tail[be.end() :]} {be[1].lower()} "
            return f"{body}{answer}.", (len(body), len(body) + len(answer))
        halves = tail[be.end() :].rsplit(" ", 1)
        if len(halves) == 2 and re.search(r"(?:ed|en|wn|nt|ld|de|born|held|built|found|made|set)$", halves[1]):
            body = f"{halves[0]} {be[1].lower()} {halves[1]} {link} ".replace("  ", " ")
            return f"{body}{answer}{counted}.", (len(body), len(body) + len(answer))
        if noun or match[1].lower() in ("who", "what", "which"):
            return f"{answer}{counted} {tail}.", (0, len(answer))
    return None


def _part(sentence: str, rng: random.Random) -> str:
    short = _DROPPED.sub("", sentence).strip()
    cut = [m.start() for m in re.finditer(r",\s|;\s|\s(?:and|but|which|who|while|because|although)\s", short) if m.start() > 30]
    return short[: rng.choice(cut)].rstrip(" ,;") + "." if cut and rng.random() < 0.6 else short


def _changed(
    claim: str, evidence: str, foreign: Sequence[str], here: Sequence[str], rng: random.Random
) -> tuple[str, tuple[int, int]] | None:
    ways = ["name", "number", "opposite", "not"]
    rng.shuffle(ways)
    for way in ways:
        if way == "number" and (found := list(_NUMBER.finditer(claim))):
            match = rng.choice(found)
            new = _other_number(match.group(), rng)
            if new not in evidence:
                return _put(claim, match.start(), match.end(), new)
        if way == "name" and (found := list(_NAME.finditer(claim))):
            match = rng.choice(found)
            pool = [
                n
                for n in (here if rng.random() < 0.5 else foreign)
                if n not in claim and not set(n.split()) & set(match.group().split())
            ]
            if pool and (new := rng.choice(pool)) not in evidence:
                return _put(claim, match.start(), match.end(), new)
        if way == "opposite":
            found = [m for m in re.finditer(r"\b[a-z]+\b", claim) if m.group() in _OPPOSED]
            if found:
                match = rng.choice(found)
                return _put(claim, match.start(), match.end(), _OPPOSED[match.group()])
        if way == "not" and rng.random() < 0.5 and (m := _NEGATED.search(claim)):
            return _put(claim, m.end(), m.end(), " not" if rng.random() < 0.8 else " never")
    return None


def _put(text: str, start: int, end: int, new: str) -> tuple[str, tuple[int, int]]:
    return text[:start] + new + text[end:], (start, start + len(new))


def _other_number(number: str, rng: random.Random) -> str:
    plain = number.replace(",", "")
    if "." in plain:
        return f"{float(plain) * rng.choice([0.1, 2, 3, 0.5]) + 0.1:.1f}"
    value = int(plain)
    return str(value + rng.choice([-7, -3, -2, -1, 1, 2, 3, 10]) if value > 20 else value + rng.randint(1, 9))


def _other(one: str, two: str) -> bool:
    a, b = set(re.findall(r"\w+", one.lower())), set(re.findall(r"\w+", two.lower()))
    return bool(a and b) and not a & b


def _shape(text: str) -> str:
    return "number" if re.search(r"\d", text) else "name" if text[:1].isupper() else "words"


def _article(noun: str) -> str:
    return "an" if noun[:1].lower() in "aeiou" else "a"
