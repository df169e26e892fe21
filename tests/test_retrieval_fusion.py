from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lqr.retrieval.fusion import reciprocal_rank_fusion


def slow(rankings: list[list[str]], k: int, weights: list[float]) -> dict[str, float]:
    items = {item for ranking in rankings for item in ranking}
    return {
        item: sum(w / (k + ranking.index(item) + 1) for ranking, w in zip(rankings, weights, strict=True) if item in ranking)
        for item in items
    }


lists = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=1, max_size=4)


@given(lists, st.integers(1, 100), st.lists(st.floats(0.1, 5), min_size=4, max_size=4))
def test_equals_the_formula(rankings: list[list[str]], k: int, weights: list[float]) -> None:
    weights = weights[: len(rankings)]
    fused = reciprocal_rank_fusion(rankings, k=k, weights=weights)
    assert dict(fused) == pytest.approx(slow(rankings, k, weights))
    assert fused == sorted(fused, key=lambda pair: (-pair[1], pair[0]))


def test_ties_by_id_whatever_the_order_of_the_rankings() -> None:
    assert [item for item, _ in reciprocal_rank_fusion([["b", "a"], ["a", "b"]])] == ["a", "b"]
    assert [item for item, _ in reciprocal_rank_fusion([["a", "b"], ["b", "a"]])] == ["a", "b"]


def test_first_place_of_a_repeat_counts() -> None:
    assert dict(reciprocal_rank_fusion([["a", "a", "b"]], k=1)) == pytest.approx({"a": 1 / 2, "b": 1 / 3})


def test_weights_must_match() -> None:
    with pytest.raises(ValueError, match="argument 2"):
        reciprocal_rank_fusion([["a"]], weights=[1.0, 2.0])


def test_nothing() -> None:
    assert reciprocal_rank_fusion([]) == []
    assert reciprocal_rank_fusion([[], []]) == []
