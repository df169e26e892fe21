"""Two figures of an answer that need no right answer beside it: is it grounded, and is it about what was asked?

Groundedness counts the verdicts that the writer's checks gave each claim, as RAGAS' faithfulness does with a language model
for a judge (Es et al. 2024, arXiv 2309.15217). Relevance is asked of the relevance model, which was trained to tell whether
a text helps with a question. Neither says that an answer is right: a sentence can be quoted faithfully from a passage that
is wrong, or miss the point in a way that the model does not see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lqr.types import Claim, Evaluation, Scorer, Support

GROUNDED: tuple[Support, ...] = ("quoted", "supported")


def evaluate(question: str, claims: Sequence[Claim], scorer: Scorer) -> Evaluation | None:
    """The figures of an answer that makes ``claims``; None when it makes none.

    Args:
        question: the standalone question, with the collection's own names beside those of the people.
        scorer: the relevance model. It reads the claims in order, without headings and numbers, as far as its window goes.
    """
    if not claims:
        return None
    counts = Counter(claim.support for claim in claims)
    (relevance,) = scorer([(question, ("", " ".join(claim.text for claim in claims)))])
    return Evaluation(
        groundedness=round(sum(counts[name] for name in GROUNDED) / len(claims), 4),
        relevance=round(relevance, 4),
        quoted=counts["quoted"],
        supported=counts["supported"],
        partial=counts["partial"],
        unsupported=counts["unsupported"],
    )
