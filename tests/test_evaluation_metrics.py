"""Tests of lqr.evaluation.metrics, against slow and obvious versions of the same."""

from __future__ import annotations

import math
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqr.evaluation.metrics import (
    answer_scores,
    contains_answer,
    exact_match,
    normalise_answer,
    ranking_scores,
    recall_at,
    reciprocal_rank,
    token_f1,
)

WORDS = st.lists(
    st.sampled_from(["the", "a", "An", "Paris", "paris.", "(1984)", "New", "York", "-", "1,500", "naïve"]), max_size=7
)
TEXTS = WORDS.map(" ".join)


def slow_normal(text: str) -> list[str]:
    kept = []
    for word in "".join(c for c in text.lower() if c not in string.punctuation).split():
        if word not in ("a", "an", "the"):
            kept.append(word)
    return kept


def slow_f1(prediction: str, answer: str) -> float:
    said, wanted = slow_normal(prediction), slow_normal(answer)
    left, common = list(wanted), 0
    for word in said:
        if word in left:
            left.remove(word)
            common += 1
    if common == 0:
        return 0.0
    return 2 * (common / len(said)) * (common / len(wanted)) / (common / len(said) + common / len(wanted))


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_answers_score_as_in_the_slow_version(prediction: str, answers: list[str]) -> None:
    assert normalise_answer(prediction).split() == slow_normal(prediction)
    assert math.isclose(token_f1(prediction, answers), max(slow_f1(prediction, answer) for answer in answers))
    same = any(slow_normal(prediction) == slow_normal(answer) for answer in answers) and slow_normal(prediction)
    assert exact_match(prediction, answers) == float(bool(same))


@pytest.mark.parametrize(
    ("prediction", "answers", "em", "f1", "accuracy"),
    [
        ("The Beatles.", ["Beatles"], 1, 1, 1),
        ("It was the Beatles", ["Beatles"], 0, 0.5, 1),
        ("Beatle", ["The Beatles", "beatle"], 1, 1, 1),
        ("New York", ["New York City"], 0, 0.8, 0),
        ("", ["Paris"], 0, 0, 0),
        ("the", ["a"], 0, 0, 0),  # nothing is left of either: no credit for saying nothing
        ("1,984", ["1984"], 1, 1, 1),
    ],
)
def test_known_cases(prediction: str, answers: list[str], em: float, f1: float, accuracy: float) -> None:
    assert answer_scores(prediction, answers) == pytest.approx({"em": em, "f1": f1, "accuracy": accuracy})


def test_a_question_without_answers_has_no_scores() -> None:
    assert answer_scores("Paris", []) == {}
    assert not contains_answer("Paris", ["the"])


IDS = st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True)


@given(IDS, IDS.filter(bool), st.integers(1, 9))
def test_rankings_score_as_in_the_slow_version(ranking: list[str], gold: list[str], k: int) -> None:
    found = 0
    for wanted in gold:
        for place in range(min(k, len(ranking))):
            found += ranking[place] == wanted
    scores = ranking_scores(ranking, gold, (k,))
    assert scores[f"recall@{k}"] == found / len(gold)
    assert scores[f"all_gold@{k}"] == (found == len(gold))
    places = [ranking.index(wanted) + 1 for wanted in gold if wanted in ranking]
    assert scores["mrr"] == (1 / min(places) if places else 0.0)


def test_gold_named_twice_counts_once() -> None:
    assert recall_at(["a", "b"], ["a", "a", "c"], 5) == 0.5
    assert reciprocal_rank(["x", "a"], ["a", "a"]) == 0.5


def test_recall_of_nothing_is_no_number() -> None:
    assert ranking_scores(["a"], []) == {}
    with pytest.raises(ValueError, match="not defined"):
        recall_at(["a"], [], 5)
