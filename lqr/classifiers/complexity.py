"""Is a question simple (one retrieval) or complex (two)? The paper's semantic rules, without a model.

Huang et al. 2024, section 3.1: a question is complex when it can be decomposed. The signs are its wh-structure, nested
relative clauses, comparisons, and several entities or constraints. Each sign is a feature; a logistic gives the
probability. This is the baseline and the fallback of the trained classifier (``trained_complexity.py``), which
:func:`load_complexity` prefers. Knows nothing of retrieval.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from lqr.errors import WeightsError
from lqr.settings import Settings
from lqr.text import AUX, QUESTION_BEGINS, WH, content_words, words
from lqr.types import Route, RouteLabel


class ComplexityModel(Protocol):
    """Decides the route of a standalone question."""

    name: str

    def route(self, question: str) -> Route:
        """The label with the probability of *complex*."""

    def with_entities(self, entities: Callable[[str], list[str]]) -> ComplexityModel:
        """The same model for a collection whose names ``entities`` finds; nothing is loaded anew."""


# Two things set against one another. "than", "same" and "both" say so only when two things are named (see features()).
_COMPARISON = re.compile(
    r"\bdifferen(?:t|ce|ces)\b|\bversus\b|\bvs\b|\bcompare[ds]?\b|\brather than\b|\b(?:which|who|what)\b.*\bor\b|"
    r"\b(?:tell|distinguish)\b.*\b(?:from|apart)\b|\w\s+or\s[^,?]+,\s+(?:what|which|how)\b|"
    r"\b(?:better|worse|more|less|higher|lower|earlier|later|older|younger|longer|larger|bigger|cheaper|faster|heavier)\b.*\bor\b",
    re.IGNORECASE,
)
_WEAK_COMPARISON = re.compile(r"\b(?:than|both|same)\b", re.IGNORECASE)
# "the worm that causes bottle jaw", "like where Tan sheep come from"; "a ewe that has aborted" describes a case, not a bridge.
_RELATIVE = re.compile(
    r"\b(?:the|any|of|in|from)\s+(?!an?\b|\d)(?:(?!and\b|or\b|an?\b|when\b)[\w'-]+\s+){1,3}?"
    r"(?:that|which|who|whose|where|in which|from which)\s+(?!is the best|should i|do i|can i|s\b)\w+|"
    r"\b(?:like|in|at|for|from|of|rain|climate|weather)\s+(?:the )?(?:place |region |area )?where\b"
    r"(?! (?:can|do|should) (?:i|we)\b)|"
    r"\b(?:home|native) (?:county|country|region|town|area|land|place)\b.*\bof\b|"
    r"\b(?:caused|carried|spread|transmitted|made|produced|written|directed|founded|won|owned|grown|born|bred) (?:by|in|at)\b"
    r".*\b(?:of|that|which|in)\b",
    re.IGNORECASE,
)
_ASPECTS = frozenset("soon often long much many fast done know year day days time happen happens follow cost costs kg".split())
_NESTED_OF = re.compile(
    r"^(?:what|which|who|where|when|how)\b.*\b(?:of|in|for)\s+the\s+[\w-]+(?:\s+[\w-]+)?\s+(?:of|that|in|where|who|which)\s+",
    re.IGNORECASE,
)
_POSSESSIVE_CHAIN = re.compile(
    r"[\w-]+['’]s\s+(?!pole|disease)[\w-]+(?:\s+[\w-]+)?['’]?s?\b.*(?:['’]s|\bof\b|\bborn\b|\bdie)", re.IGNORECASE
)
_CONDITION = re.compile(r"\b(?:if|after|before|when|while|during|without|at|above|below|under|over|by)\b", re.IGNORECASE)
# "since sheep need more copper than goats, ...": a premise is not part of what is asked.
_PREMISE = re.compile(rf"^(?:since|because|as)\b[^,]*,\s*(?=(?:{WH}|{AUX})\b)", re.IGNORECASE)

# Weights set by hand from the paper's description, in log-odds.
_BIAS = -2.3
_WEIGHTS = {
    "comparison": 2.9,
    "relative": 2.9,
    "second question": 3.2,
    "nested of": 1.9,
    "possessive chain": 1.6,
    "entities": 0.4,
    "conditions": 0.2,
    "long": 0.3,
}
RULE_FEATURES = tuple(_WEIGHTS)


class RuleComplexity:
    """The semantic rules. ``entities`` finds names in a text (document titles, scope terms)."""

    name = "rules"

    def __init__(self, entities: Callable[[str], list[str]] | None = None, threshold: float = 0.5) -> None:
        self._entities = entities or _capitalised
        self._threshold = threshold

    def with_entities(self, entities: Callable[[str], list[str]]) -> RuleComplexity:
        """See :class:`ComplexityModel`."""
        return RuleComplexity(entities, self._threshold)

    def features(self, question: str) -> dict[str, float]:
        """The signs found, by name; 1.0 or a count."""
        question = _PREMISE.sub("", question)
        named = list(dict.fromkeys(n.lower() for n in self._entities(question)))
        compared = _COMPARISON.search(question) or (len(named) > 1 and _WEAK_COMPARISON.search(question))
        return {
            "comparison": float(bool(compared)),
            "relative": float(bool(_RELATIVE.search(question))),
            "second question": float(_second_question(question, named)),
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


def _second_question(question: str, named: Sequence[str]) -> bool:
    """Whether a second question follows that asks for more than "and how soon?"; after a "?" one word of its own is more."""
    starts = [match.start("question") for match in QUESTION_BEGINS.finditer(question)]
    if len(starts) < 2:
        return False
    first, second = question[: starts[1]].lower(), question[starts[1] :].lower()
    new = [name for name in named if name in second and name not in first]
    said = set(content_words(first))
    own = [word for word in content_words(second) if word not in _ASPECTS and word not in said]
    return bool(new) or len(own) >= (1 if "?" in first else 2)


def _capitalised(text: str) -> list[str]:
    return re.findall(r"(?<!^)(?<![.?!] )\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)*", text)


def load_complexity(settings: Settings, entities: Callable[[str], list[str]] | None = None) -> tuple[ComplexityModel, str]:
    """The trained classifier of ``settings.models/complexity``, or the rules where there is none; and why, for the log.

    Raises:
        WeightsError: the folder is there and cannot be loaded, or the base of its adapter is not to be had.
    """
    folder = settings.models / "complexity"
    rules = RuleComplexity(entities)
    adapter = folder / "adapter_config.json"
    if not adapter.is_file() and not (folder / "config.json").is_file():
        return rules, "the rules of the paper, no trained classifier in models/complexity"
    from lqr.classifiers.trained_complexity import TrainedComplexity
    from lqr.weights import find_weights

    base = find_weights(_base_of(adapter), settings=settings).path if adapter.is_file() else None
    device = "cuda" if settings.profile == "gpu" else "cpu"
    return TrainedComplexity(folder, rules, base=base, device=device), "models/complexity"


def _base_of(adapter: Path) -> str:
    try:
        return str(json.loads(adapter.read_text(encoding="utf-8"))["base_model_name_or_path"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"models/complexity/{adapter.name}: {error!r}; restore it, or train the model again") from error
