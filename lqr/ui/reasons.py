"""Why an answer is trusted as far as it is, and why it was looked up as it was, in the reader's words and language.

The stages give their reasons in English and in their own terms; these are kept for "the numbers behind it". Here the
same facts are read from the answer itself. Returns plain text; escaping is the caller's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from lqr.ui.options import Options
from lqr.ui.texts import Texts

SUPPORTS = ("quoted", "supported", "partial", "unsupported")
# What the graph calls an edge from a to b: the text that says so, and whether it is said from b to a.
_EDGES = {
    "links to": ("way_links", False),
    "is linked from": ("way_links", True),
    "names": ("way_names", False),
    "is named in": ("way_names", True),
    "shares ‘{x}’ with": ("way_shares", False),
    "is in the same section as": ("way_section", False),
    "stands next to": ("way_beside", False),
    "cites": ("way_cites", False),
    "is cited by": ("way_cites", True),
    "is part of": ("way_part", False),
    "has the part": ("way_part", True),
    "was replaced by": ("way_replaced", False),
    "replaces": ("way_replaced", True),
    "uses the term ‘{x}’ of": ("way_uses", False),
}
_PHRASE = "|".join(phrase.replace("{x}", ".+?") for phrase in _EDGES)
_CLAUSE = re.compile(rf"“(?P<a>.+?)” (?P<edge>{_PHRASE}) “(?P<b>.+?)”(?:; (?=“)|$)")


def confidence(answer: Mapping[str, Any], texts: Texts) -> str:
    """One line: what the answer stands on, and what speaks against it."""
    given = answer["confidence"]
    if texts.language == "en" and given.get("reason"):
        return str(given["reason"])  # the stage's own words are the more exact ones
    cited = {passage for claim in answer["claims"] for passage in claim.get("passages", ())}
    if not cited:
        return texts.because_refused
    documents = {source.get("document_id") for source in answer["sources"]}
    said = texts.stands_on.format(
        passages=texts.passage_count.format(n=len(cited)), documents=texts.document_count.format(n=len(documents))
    )
    if given.get("level") != "thin":
        return said
    support = claims(answer)
    doubtful = support["partial"] + support["unsupported"]
    if doubtful:
        why = texts.because_doubt.format(n=doubtful)
    elif answer["trace"].get("sub_questions") and len(cited) < 2:
        why = texts.because_half
    else:
        why = texts.because_loose
    return f"{said}; {why}" if texts.language == "en" else f"{said}；{why}"


def reached(why: str, texts: Texts) -> str:
    """How a passage was reached along the graph, in plain words; what is no such way is given back as it is.

    Args:
        why: ``Hit.why`` of the passage; the last step of the way ends at it.
    """
    steps = list(_CLAUSE.finditer(why))
    if "".join(step.group() for step in steps) != why:
        return why
    said: list[str] = []
    for step in steps:
        edge, _, rest = step["edge"].partition("‘")
        term, _, ending = rest.rpartition("’")
        field, turned = _EDGES[f"{edge}‘{{x}}’{ending}" if rest else edge]
        a, b = (f"“{step[side].replace(' > ', ' › ')}”" for side in "ab")
        if step is steps[-1]:
            b = texts.way_this
        one = str(getattr(texts, field)).format(a=b if turned else a, b=a if turned else b, x=term)
        said.append(one[:1].upper() + one[1:] if not said else one)
    return ("; " if texts.language == "en" else "；").join(said)


def grounded(share: float, texts: Texts) -> str:
    """What the groundedness of an answer, in [0, 1], measures: how many of its sentences stand in what they cite."""
    if share >= 1:
        return texts.grounded_all
    return texts.grounded_some.format(share=f"{min(99, round(100 * share))}\N{NO-BREAK SPACE}%")


def claims(answer: Mapping[str, Any]) -> Counter[str]:
    """How many of the answer's sentences are supported in which way."""
    return Counter(str(claim.get("support")) for claim in answer["claims"] if claim.get("support") in SUPPORTS)


def route(trace: Mapping[str, Any], options: Options, texts: Texts) -> str:
    """Why one look-up or two, as a person would say it."""
    if options.route != "auto" or str(trace.get("route_reason") or "").startswith("set by hand"):
        return texts.why_set
    if trace.get("route") != "complex":
        return texts.why_simple
    return texts.why_complex if trace.get("sub_questions") else texts.why_whole


def options(chosen: Options, texts: Texts) -> list[str]:
    """What differs from the usual settings."""
    said = []
    if chosen.route != "auto":
        said.append(f"{texts.set_route}: {getattr(texts, chosen.route)}")
    if chosen.strictness != "balanced":
        said.append(f"{texts.set_strictness}: {getattr(texts, chosen.strictness)}")
    if chosen.passages:
        said.append(f"{texts.set_passages}: {chosen.passages}")
    return said
