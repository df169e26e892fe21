"""Is a question simple (one retrieval) or complex (two)? The paper's semantic rules, without a model.

Huang et al. 2024, section 3.1: a question is complex when it can be decomposed. The signs are its wh-structure, nested
relative clauses, comparisons, and several entities or constraints. Each sign is a feature; a logistic gives the
probability. This is the baseline and the fallback of the trained classifier. Knows nothing of retrieval.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Protocol

from lqr.text import content_words, words
from lqr.types import Route, RouteLabel


class ComplexityModel(Protocol):
    """Decides the route of a standalone question."""

    name: str

    def route(self, question: str) -> Route:
        """The label with the probability of *complex*."""


_COMPARISON = re.compile(
    r"\b(?:differen(?:t|ce|ces)|versus|vs\.?|compare[ds]?|compared (?:to|with)|than|rather than|"
    r"both|same)\b|\bwhich\b.*\bor\b|\b(?:tell|distinguish)\b.*\b(?:from|apart)\b|\b(?:better|"
    r"worse|more|less|higher|lower|earlier|later|older|younger|longer|larger|bigger|cheaper|faster)\b.*\b(?:or|"
    r"than)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(?:the|a|an|any|of|in|that|from)\s+(?:[\w'-]+\s+){1,4}?(?:that|which|who|whose|where|in which|"
    r"from which)\s+(?!is the best|should i|do i|can i)\w+|\b(?:like|in|at|for|from|of)\s+(?:the )?(?:place "
    r"|region |area )?where\b|"
    r"\b(?:caused|carried|spread|transmitted|made|produced|written|directed|founded|won|owned|"
    r"grown|born|bred) (?:by|in|at)\b.*\b(?:of|that|which|in)\b",
    re.IGNORECASE,
)
_SECOND_QUESTION = re.compile(
    r"(?:\?|,| and| but| then)\s+(?:(?:and|also|then|at|for|in|by)\s+)*(?:what|which|who|where|"
    r"when|why|how)\b.+|\band (?:is|are|do|does|can|could|should|must|will) (?:i|it|they|we|you|"
    r"the|there)\b",
    re.IGNORECASE,
)
_NESTED_OF = re.compile(r"\b(?:of|in|for)\s+the\s+[\w-]+(?:\s+[\w-]+)?\s+(?:of|that|in|where|who|which)\s+", re.IGNORECASE)
_POSSESSIVE_CHAIN = re.compile(
    r"[\w-]+['’]s\s+(?!pole|disease)[\w-]+(?:\s+[\w-]+)?['’]?s?\b.*(?:['’]s|\bof\b|\bborn\b|\bdie)", re.IGNORECASE
)
_CONDITION = re.compile(r"\b(?:if|after|before|when|while|during|without|at|above|below|under|over|by)\b", re.IGNORECASE)

# Weights set by hand from the paper's description, in log-odds; the trained classifier replaces them.
_BIAS = -2.3
_WEIGHTS = {
    "comparison": 2.9,
    "relative": 2.9,
    "second question": 2.7,
    "nested of": 1.9,
    "possessive chain": 1.6,
    "entities": 0.8,
    "conditions": 0.35,
    "long": 0.5,
}


class RuleComplexity:
    """The semantic rules. ``entities`` finds names in a text (document titles, scope terms)."""

    name = "rules"

    def __init__(self, entities: Callable[[str], list[str]] | None = None, threshold: float = 0.5) -> None:
        self._entities = entities or _capitalised
        self._threshold = threshold

    def features(self, question: str) -> dict[str, float]:
        """The signs found, by name; 1.0 or a count."""
        named = {n.lower() for n in self._entities(question)}
        return {
            "comparison": float(bool(_COMPARISON.search(question))),
            "relative": float(bool(_RELATIVE.search(question))),
            "second question": float(bool(_SECOND_QUESTION.search(question))),
            "nested of": float(bool(_NESTED_OF.search(question))),
            "possessive chain": float(bool(_POSSESSIVE_CHAIN.search(question))),
            "entities": float(max(0, len(named) - 1)),
            "conditions": float(min(3, max(0, len(_CONDITION.findall(question)) - 1))),
            "long": float(len(content_words(question)) > 14),
        }

    def route(self, question: str) -> Route:
        """See :class:`ComplexityModel`. A question of three words or fewer is simple."""
        if len(words(question)) <= 3:
            return Route("simple", 0.02, "very short")
        found = self.features(question)
        logit = _BIAS + sum(_WEIGHTS[name] * value for name, value in found.items())
        probability = 1 / (1 + math.exp(-logit))
        signs = [name for name, value in found.items() if value]
        label: RouteLabel = "complex" if probability >= self._threshold else "simple"
        return Route(label, round(probability, 4), ", ".join(signs) if signs else "no sign of a second step")


def _capitalised(text: str) -> list[str]:
    return re.findall(r"(?<!^)(?<![.?!] )\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)*", text)
