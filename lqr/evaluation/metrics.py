"""How right an answer and a ranking are, each as a number from 0 to 1.

Answers: exact match and token F1 with the normalisation of SQuAD's script (Rajpurkar et al. 2016), and accuracy as in Huang et
al. 2024 (the prediction contains an answer). Rankings: recall@k, all-gold@k, reciprocal rank. A question with several
answers counts the best. It knows no files and no models.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

CUTOFFS = (1, 2, 3, 5, 10)  # of recall@k

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise_answer(text: str) -> str:
    """SQuAD's normalisation: lower case, ASCII punctuation and articles removed, white space folded."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, answers: Sequence[str]) -> float:
    """1.0 if the normalised prediction equals a normalised answer; an empty prediction never does."""
    said = normalise_answer(prediction)
    return float(bool(said) and any(said == normalise_answer(answer) for answer in answers))


def token_f1(prediction: str, answers: Sequence[str]) -> float:
    """The best harmonic mean of token precision and recall over the answers; 0.0 without a common token."""
    return max((_f1(normalise_answer(prediction).split(), normalise_answer(answer).split()) for answer in answers), default=0.0)


def contains_answer(prediction: str, answers: Sequence[str]) -> float:
    """*Accuracy* in the sense of the paper: 1.0 if the normalised prediction contains a normalised answer."""
    said = normalise_answer(prediction)
    return float(any(wanted in said for answer in answers if (wanted := normalise_answer(answer))))


def answer_scores(prediction: str, answers: Sequence[str]) -> dict[str, float]:
    """``em``, ``f1`` and ``accuracy`` of a prediction; empty if the question has no answers to compare with."""
    if not answers:
        return {}
    return {
        "em": exact_match(prediction, answers),
        "f1": token_f1(prediction, answers),
        "accuracy": contains_answer(prediction, answers),
    }


def recall_at(ranking: Sequence[str], gold: Sequence[str], k: int) -> float:
    """Share of the ids in ``gold`` that stand among the first ``k`` of ``ranking``.

    Raises:
        ValueError: ``gold`` is empty, so there is nothing to recall.
    """
    wanted = set(gold)
    if not wanted:
        raise ValueError("recall of no passage is not defined; leave the question out of the mean")
    return len(wanted & set(ranking[:k])) / len(wanted)


def reciprocal_rank(ranking: Sequence[str], gold: Sequence[str]) -> float:
    """1 / the place of the first gold passage, 0.0 if there is none."""
    wanted = set(gold)
    return next((1 / place for place, passage in enumerate(ranking, start=1) if passage in wanted), 0.0)


def ranking_scores(ranking: Sequence[str], gold: Sequence[str], cutoffs: Sequence[int] = CUTOFFS) -> dict[str, float]:
    """``recall@k`` and ``all_gold@k`` for each cutoff, and ``mrr``; empty if no gold passage is known."""
    if not gold:
        return {}
    scores: dict[str, float] = {}
    for k in cutoffs:
        recall = recall_at(ranking, gold, k)
        scores[f"recall@{k}"] = recall
        scores[f"all_gold@{k}"] = float(recall == 1.0)
    return {**scores, "mrr": reciprocal_rank(ranking, gold)}


def _f1(said: Sequence[str], wanted: Sequence[str]) -> float:
    common = sum((Counter(said) & Counter(wanted)).values())
    if not common:
        return 0.0
    precision, recall = common / len(said), common / len(wanted)
    return 2 * precision * recall / (precision + recall)
