"""What a fine-tuned complexity classifier has to beat: the rules.

A scorer gives the probability of *complex* for each question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lqr.classifiers.complexity import RuleComplexity

Scorer = Callable[[Sequence[str]], Sequence[float]]


def rules(entities: Callable[[str], list[str]] | None = None) -> Scorer:
    """The semantic rules, which learn nothing."""
    model = RuleComplexity(entities)
    return lambda questions: [model.route(question).probability for question in questions]
