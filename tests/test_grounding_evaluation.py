"""The figures of an answer are counted from its claims; relevance is asked once, of the claims alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lqr.grounding.evaluation import evaluate
from lqr.types import Claim, Evaluation, Support


def claims(*supports: Support) -> list[Claim]:
    return [Claim(f"Sentence {n}.", ("a-1",), support) for n, support in enumerate(supports, start=1)]


class Scorer:
    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, str]]] = []

    def __call__(self, pairs: Sequence[tuple[str, tuple[str, str]]]) -> list[float]:
        self.asked.extend(pairs)
        return [0.71234567 for _ in pairs]


def test_counts_and_share() -> None:
    scorer = Scorer()
    found = evaluate("How?", claims("quoted", "supported", "partial", "unsupported", "quoted"), scorer)
    assert found == Evaluation(0.6, 0.7123, quoted=2, supported=1, partial=1, unsupported=1)
    assert scorer.asked == [("How?", ("", "Sentence 1. Sentence 2. Sentence 3. Sentence 4. Sentence 5."))]


@pytest.mark.parametrize(("supports", "share"), [(("quoted",), 1.0), (("partial",), 0.0), (("supported", "unsupported"), 0.5)])
def test_what_is_partly_supported_is_not_grounded(supports: tuple[Support, ...], share: float) -> None:
    found = evaluate("How?", claims(*supports), Scorer())
    assert found is not None
    assert found.groundedness == share


def test_an_answer_without_claims_has_no_figures_and_costs_nothing() -> None:
    scorer = Scorer()
    assert evaluate("How?", (), scorer) is None
    assert scorer.asked == []
