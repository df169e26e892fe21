"""The prefix filter finds exactly what comparing every pair finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqr.text import words
from lqr.training.datasets.near_duplicates import JaccardIndex, without_near_duplicates

texts = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=7).map(" ".join), max_size=14)


def slow_jaccard(one: str, other: str) -> float:
    left, right = set(words(one)), set(words(other))
    return len(left & right) / len(left | right) if left | right else 1.0


def slow(rows: list[str], threshold: float, against: list[str]) -> tuple[list[int], int, int]:
    kept: list[int] = []
    in_test = repeated = 0
    for number, row in enumerate(rows):
        if any(slow_jaccard(row, other) >= threshold - 1e-9 for other in against):
            in_test += 1
        elif any(slow_jaccard(row, rows[i]) >= threshold - 1e-9 for i in kept):
            repeated += 1
        else:
            kept.append(number)
    return kept, in_test, repeated


@given(texts, texts, st.sampled_from((0.34, 0.5, 0.6, 0.75, 0.8, 1.0)))
def test_same_as_every_pair(rows: list[str], against: list[str], threshold: float) -> None:
    assert without_near_duplicates(rows, threshold=threshold, against=against) == slow(rows, threshold, against)


def test_four_of_five_words_are_just_enough() -> None:
    index = JaccardIndex(0.8)
    index.add("a b c d")
    assert index.near("a b c d e") == 0
    assert index.near("a b c e") is None


def test_case_and_marks_do_not_matter() -> None:
    assert without_near_duplicates(["Who was it?", "who was IT"], threshold=1.0) == ([0], 0, 1)


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.1])
def test_threshold_out_of_range(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold"):
        JaccardIndex(threshold)
