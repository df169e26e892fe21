"""What a fine-tuned complexity classifier has to beat: rules, words, and a frozen encoder.

Each is a function from training rows to a scorer, and a scorer gives the probability of *complex* for each question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lqr.classifiers.complexity import RULE_FEATURES, RuleComplexity
from lqr.training.datasets.complexity import Question

Scorer = Callable[[Sequence[str]], Sequence[float]]


def rules(entities: Callable[[str], list[str]] | None = None) -> Scorer:
    """The semantic rules, which learn nothing."""
    model = RuleComplexity(entities)
    return lambda questions: [model.route(question).probability for question in questions]


def words_logistic(rows: Sequence[Question], *, seed: int = 13) -> Scorer:
    """TF-IDF of words and pairs of words, in lower case, with a logistic regression."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2, token_pattern=r"(?u)\b\w+\b"),
        LogisticRegression(C=10.0, max_iter=1000, random_state=seed),
    )
    model.fit([row.question for row in rows], [row.label for row in rows])
    return lambda questions: _second_column(model.predict_proba(list(questions))) if questions else []


def frozen_logistic(
    rows: Sequence[Question],
    encode: Callable[[Sequence[str]], Any],
    entities: Callable[[str], list[str]] | None = None,
    *,
    seed: int = 13,
) -> Scorer:
    """A logistic regression on a frozen encoder's vector and the signs that the rules count.

    Args:
        encode: texts to an array ``(n, size)``.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    signs = RuleComplexity(entities)

    def features(questions: Sequence[str]) -> Any:
        found = [[signs.features(question)[name] for name in RULE_FEATURES] for question in questions]
        return np.hstack([np.asarray(encode(list(questions))), np.asarray(found)])

    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2000, random_state=seed))
    model.fit(features([row.question for row in rows]), [row.label for row in rows])
    return lambda questions: _second_column(model.predict_proba(features(questions))) if questions else []


def _second_column(probabilities: Any) -> list[float]:
    return [float(value) for value in probabilities[:, 1]]
