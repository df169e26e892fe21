"""Tests of lqr.retrieval.second_round."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse  # type: ignore[import-untyped]

from lqr.retrieval import second_round
from lqr.retrieval.graph import PassageGraph
from lqr.retrieval.paths import FEATURES as FIRST
from lqr.retrieval.paths import Candidates

# row 0 names 2 (0.9), 2 shares with 5 (0.5), 5 is named in 0 (0.6); 3 is no candidate, though 0 names it (0.8)
EDGES = {(0, 2): (0.9, "names"), (2, 5): (0.5, "shares 'x' with"), (5, 0): (0.6, "is named in"), (0, 3): (0.8, "names")}
ROWS = np.array([0, 2, 5], dtype=np.int64)
HELD = np.array([[0.4, 0.0, 0.0], [0.0, 0.3, 0.1], [0.0, 0.0, 0.2]])  # three terms of the question
SCORES = np.array([1.0, 2.0, -3.0])


def graph() -> PassageGraph:
    places = sorted(EDGES)
    phrases = list(dict.fromkeys(EDGES[place][1] for place in places))
    weights = np.array([EDGES[place][0] for place in places], dtype=np.float32)
    begin = np.searchsorted([source for source, _ in places], range(7))
    matrix = sparse.csr_matrix((weights, np.array([target for _, target in places]), begin), shape=(6, 6))
    notes = np.array([phrases.index(EDGES[place][1]) for place in places], dtype=np.int32)
    return PassageGraph([f"p{row}" for row in range(6)], matrix, notes, phrases)


def columns(scores: np.ndarray = SCORES) -> dict[str, list[float]]:
    found = Candidates(ROWS, np.zeros((3, len(FIRST)), dtype=np.float32), HELD)
    table = second_round.features(graph(), found, scores)
    return {name: [float(value) for value in table[:, place]] for place, name in enumerate(second_round.FEATURES)}


def probability(place: int) -> float:
    return 1 / (1 + math.exp(-SCORES[place]))


def test_neighbours_lend_by_their_scores() -> None:
    found = columns()
    assert found["lent_names"] == pytest.approx([0.0, probability(0) * 0.9, 0.0], abs=1e-6)
    assert found["lent_shares"] == pytest.approx([0.0, 0.0, probability(1) * 0.5], abs=1e-6)
    assert found["lent_named_by"] == pytest.approx([probability(2) * 0.6, 0.0, 0.0], abs=1e-6)
    assert found["gives"] == pytest.approx([probability(1) * 0.9, probability(2) * 0.5, probability(0) * 0.6], abs=1e-6)


def test_what_the_lender_leaves_unsaid_counts() -> None:
    found = columns()
    assert found["adds_names"][1] == pytest.approx(probability(0) * 0.9 * 0.3, abs=1e-6)
    assert found["adds_shares"][2] == pytest.approx(probability(1) * 0.5 * 0.2, abs=1e-6)  # the second term is said already


def test_places_and_leaders() -> None:
    found = columns()
    assert found["rank"] == pytest.approx([math.log(2), 0.0, math.log(3)], abs=1e-6)
    assert found["behind_first"] == pytest.approx([-1.0, 0.0, -5.0], abs=1e-6)
    assert found["edge_0"] == pytest.approx([0.0, 0.0, 0.5], abs=1e-6)  # from row 2, the best
    assert found["edge_1"] == pytest.approx([0.0, 0.9, 0.0], abs=1e-6)  # from row 0, the second
    assert found["new_0"] == pytest.approx([0.4, 0.0, 0.2], abs=1e-6)
    assert found["new_to_all"] == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)


def test_a_higher_score_of_the_lender_lends_more() -> None:
    assert columns(np.array([3.0, 2.0, -3.0]))["lent_names"][1] > columns()["lent_names"][1]


def test_no_candidates_have_no_features() -> None:
    found = Candidates(np.zeros(0, dtype=np.int64), np.zeros((0, len(FIRST)), dtype=np.float32), np.zeros((2, 0)))
    assert second_round.features(graph(), found, np.zeros(0)).shape == (0, len(second_round.FEATURES))
