"""How much of what an answer on its topic must say does it say? The share of required elements that it covers.

Topics and their elements (dose, timing, species, withdrawal period, source) stand in the collection's profile as data; a
question may also bring its own list. An element is covered when the answer shows it: a quantity, a time, a thing of a
kind, one of some words, a citation. That the element is *right* is the business of the checks, not of this module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lqr.answer_type import shows
from lqr.corpus.profile import Element, Profile
from lqr.grounding.quantities import quantities
from lqr.types import Claim


@dataclass(frozen=True, slots=True)
class Completeness:
    """``score`` is covered / required, in [0, 1]; None where nothing is required."""

    score: float | None
    covered: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    topic: str = ""


def completeness(
    profile: Profile, question: str, text: str, claims: Sequence[Claim], *, required: Sequence[str] = ()
) -> Completeness:
    """Elements of the answer ``text`` against those that its topic requires.

    Args:
        required: names of elements that this question needs; overrules the topic's.

    Raises:
        KeyError: ``required`` names an element that the profile does not know.
    """
    topic = next((t for t in profile.topics if any(_has(question, word) for word in t.words)), None)
    names = tuple(required) or (topic.required if topic else ())
    known: Mapping[str, Element] = {element.name: element for element in profile.elements}
    covered = tuple(name for name in names if _shown(known[name], profile, text, claims))
    return Completeness(
        len(covered) / len(names) if names else None,
        covered,
        tuple(name for name in names if name not in covered),
        topic.name if topic else "",
    )


def _shown(element: Element, profile: Profile, text: str, claims: Sequence[Claim]) -> bool:
    if element.by == "quantity":
        return any(quantity.dimension not in ("", "time", "times") for quantity in quantities(text))
    if element.by == "time":
        return shows(text, "time")
    if element.by == "cited":
        return bool(claims) and all(claim.passages for claim in claims)
    if element.by == "scope":
        return any(kind in element.words for kind in profile.things(text))
    return any(_has(text, word) for word in element.words)


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}", text, re.IGNORECASE) is not None
