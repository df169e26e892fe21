from __future__ import annotations

import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from lqr.retrieval.bm25 import K1, B, BM25Index, best


def plain_bm25(rows: list[list[str]], query: list[str], k1: float = K1, b: float = B) -> list[float]:
    """The formula, written out."""
    mean = sum(map(len, rows)) / len(rows)
    scores = []
    for row in rows:
        counts, score = Counter(row), 0.0
        for term in query:
            df = sum(term in other for other in rows)
            if df:
                idf = math.log(1 + (len(rows) - df + 0.5) / (df + 0.5))
                score += idf * counts[term] / (counts[term] + k1 * (1 - b + b * len(row) / mean))
        scores.append(score)
    return scores


@pytest.fixture
def rows() -> list[list[str]]:
    random.seed(3)
    words = [f"w{i}" for i in range(40)]
    return [random.choices(words, weights=range(1, 41), k=random.randint(0, 30)) for _ in range(60)]


def test_scores_equal_plain_bm25(rows: list[list[str]]) -> None:
    index = BM25Index.build(rows)
    for query in (["w3"], ["w1", "w39", "w20"], ["w5", "w5", "unknown"]):
        np.testing.assert_allclose(index.scores(query), plain_bm25(rows, query), rtol=1e-5)


def test_order_equals_plain_bm25(rows: list[list[str]]) -> None:
    index = BM25Index.build(rows, k1=0.9, b=0.4)
    query = ["w1", "w7", "w30"]
    scores = plain_bm25(rows, query, 0.9, 0.4)
    expected = sorted((row for row in range(len(rows)) if scores[row] > 0), key=lambda row: (-scores[row], row))[:10]
    found = index.search(query, 10)
    assert [scores[row] for row, _ in found] == pytest.approx([scores[row] for row in expected], rel=1e-5)


def test_equal_rows_come_in_order() -> None:
    index = BM25Index.build([["sheep"]] * 50)
    assert [row for row, _ in index.search(["sheep"], 5)] == [0, 1, 2, 3, 4]


def test_k_is_clamped_and_misses_are_no_hits() -> None:
    index = BM25Index.build([["sheep"], ["maize"], []])
    assert [row for row, _ in index.search(["sheep"], 99)] == [0]
    assert index.search(["sheep"], 0) == []
    assert index.search(["unknown"], 5) == []
    assert index.search([], 5) == []


@pytest.mark.parametrize("empty", [[], [[]], [[], []]])
def test_nothing_to_index(empty: list[list[str]], tmp_path: Path) -> None:
    index = BM25Index.build(empty)
    assert index.search(["sheep"], 3) == []
    index.save(tmp_path / "b")
    assert BM25Index.load(tmp_path / "b", len(empty)).search(["sheep"], 3) == []


@pytest.mark.parametrize("mmap", [True, False])
def test_round_trip(rows: list[list[str]], tmp_path: Path, mmap: bool) -> None:
    index = BM25Index.build([*rows, ["羊", "mg/kg", "°c"]])
    index.save(tmp_path)
    loaded = BM25Index.load(tmp_path, len(rows) + 1, mmap=mmap)
    for query in (["w1", "w39"], ["羊", "mg/kg"]):
        assert loaded.search(query, 7) == index.search(query, 7)
    assert {path.suffix for path in tmp_path.iterdir()} <= {".npy", ".json"}
    with pytest.raises(ValueError, match="rows"):
        BM25Index.load(tmp_path, 3)


def test_best_against_sorting() -> None:
    scores = np.random.default_rng(0).integers(0, 5, 200).astype(np.float32)
    expected = sorted(range(200), key=lambda row: (-scores[row], row))
    assert [row for row, _ in best(scores, 17)] == expected[:17]
    assert [row for row, _ in best(scores, 500, above=0.0)] == [row for row in expected if scores[row] > 0]
