"""Splits a complex question into q1 and q2 (Huang et al. 2024, section 3.2): by rules and a trained model of spans.

A text that asks two questions is split between them by rule, whatever the model says: it was trained on single questions.
The second part may say ``#1``: the answer to the first. There is always a valid fallback. Knows nothing of retrieval; the
complexity classifier decides *whether* to split.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lqr.decompose import rules
from lqr.decompose.cut import cut_bridge, cut_comparison
from lqr.decompose.questions import question_starts
from lqr.decompose.spans import WEIGHTS_FILE, SpanModel
from lqr.decompose.words import Span, Word, split_words
from lqr.settings import Settings
from lqr.text import content_words
from lqr.types import Decomposition

__all__ = ["Decomposer", "decompose", "load_decomposer", "question_starts"]

Names = Callable[[str], list[str]]

# Rules that go before the model. On held-out training questions of 2WikiMultiHopQA the comparison rule agrees better with
# the annotated steps than the model's cut (79.2 against 78.2, n = 12), and on farm questions too (models/README.md).
SURE = ("rules: two questions", "rules: comparison")
_STORY = re.compile(r"(?:\w{3}\.|\?)\s+\w")  # more than one sentence: the model knows none such


@dataclass(frozen=True)
class Decomposer:
    """Callable like :func:`decompose`, with a trained model if there is one. Safe to use from several threads."""

    model: SpanModel | None = None

    def __call__(self, question: str, *, entities: Names | None = None) -> Decomposition:
        """Split ``question``; see :func:`lqr.decompose.rules.decompose` for the arguments."""
        by_rule = rules.decompose(question, entities=entities)
        text = rules.tidy(question)
        if self.model is None or by_rule.method in SURE or _STORY.search(text):
            return by_rule
        return self._by_model(text, entities) or by_rule

    def _by_model(self, question: str, entities: Names | None) -> Decomposition | None:
        words = split_words(question)
        reading = self.model.read(words) if self.model else None
        if reading is None:
            return None
        if reading.operator == "bridge":
            if _only_names(question, words, reading.spans[0], entities):
                return None  # "What is Aohan Fine-wool?" is no step: nothing is said of what to find out about it
            first, second = cut_bridge(question, words, reading.spans[0])
        else:
            first, second = cut_comparison(question, words, reading.spans)
        return rules.valid(first, second, f"spans: {reading.operator}")


def _only_names(question: str, words: Sequence[Word], span: Span, entities: Names | None) -> bool:
    """Whether a span is a name of the collection and nothing besides."""
    inner = question[words[span[0]].start : words[span[1] - 1].end].lower()
    for name in sorted(entities(inner) if entities else (), key=len, reverse=True):
        inner = inner.replace(name.lower(), " ")
    return entities is not None and not content_words(inner)


def decompose(question: str, *, entities: Names | None = None) -> Decomposition:
    """Split ``question`` by the rules alone."""
    return Decomposer()(question, entities=entities)


def load_decomposer(settings: Settings) -> tuple[Decomposer, str]:
    """The decomposer with the model in ``settings.models / "decomposer"`` if there is one, and the reason for the start-up log.

    Raises:
        WeightsError: the model's file is damaged.
    """
    folder = settings.models / "decomposer"
    if not (folder / WEIGHTS_FILE).is_file():
        return Decomposer(), "rules, for models/decomposer holds no model"
    return Decomposer(SpanModel.load(folder)), "rules for two questions, models/decomposer for one"
