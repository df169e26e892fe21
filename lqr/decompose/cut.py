"""Cuts a question at spans of its words: the two sub-questions as text.

Knows nothing of how the spans were found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lqr.decompose.words import Span, Word

_DESCRIBED = re.compile(
    r"^(?:the|an?)?\s*(?P<noun>[\w'’-]+(?: [\w'’-]+){0,2}?) (?:that|which|who) (?P<clause>.+)$", re.IGNORECASE
)
_PLACE = re.compile(r"^(?:the|an?)?\s*(?:[\w'’-]+ )?(?:where|in which) (?P<clause>.+)$", re.IGNORECASE)
_ASKED = re.compile(r"^(?:who|what|which|where|when|why|how)\b", re.IGNORECASE)


def cut_bridge(question: str, words: Sequence[Word], span: Span) -> tuple[str, str]:
    """q1 asks what the span describes; q2 is the question with ``#1`` in its place."""
    start, end = words[span[0]].start, words[span[1] - 1].end
    inner = question[start:end].strip(" ,?")
    ending = " " if question[end : end + 1].isalnum() else ""
    return _asking(inner), f"{question[:start]}#1{ending}{question[end:]}"


def _asking(inner: str) -> str:
    """ "the actor who voices Batman" as "which actor voices Batman"."""
    if match := _PLACE.match(inner):
        return f"where {match['clause']}"
    if match := _DESCRIBED.match(inner):
        return f"which {match['noun']} {match['clause']}"
    return inner if _ASKED.match(inner) else f"what is {inner}"


def cut_comparison(question: str, words: Sequence[Word], spans: Sequence[Span]) -> tuple[str, str]:
    """The question about the first thing alone, and about the second alone; both keep what stands around them."""
    (a, b), (c, d) = spans
    head, tail = question[: words[a].start], question[words[d - 1].end :]
    left = question[words[a].start : words[b - 1].end]
    right = question[words[c].start : words[d - 1].end]
    # "Are both villages, X and Y, in the same country?": the marks that held the pair hold one thing no more
    head = re.sub(r"\bboth\s+", "", head, flags=re.IGNORECASE)
    return f"{head}{left}{tail}", f"{head}{right}{tail}"
