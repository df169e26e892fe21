"""The blend of encoder, cosine and BM25: its arithmetic, its file, and what it does to an order."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from lqr.blend import Blend, blended, logit
from lqr.errors import WeightsError
from lqr.retrieval.rerank import Reranker
from lqr.types import Hit, Passage


def hit(number: int, kind: str = "paragraph") -> Hit:
    return Hit(Passage(f"d-{number}", "d", "Title", ("Part",), f"text {number}", number, 0, 6, kind), 1.0)  # type: ignore[arg-type]


def half(pairs: Sequence[tuple[str, tuple[str, str]]]) -> list[float]:
    return [0.5] * len(pairs)


def test_without_weights_the_encoder_decides_alone() -> None:
    def rising(pairs: Sequence[tuple[str, tuple[str, str]]]) -> list[float]:
        return [0.2, 0.9][: len(pairs)]

    scores = Reranker(rising, lambda query, ids: ([1.0, 0.0], [9.0, 0.0], [0.9, 0.0]), Blend()).scores(["q"], [hit(0), hit(1)])
    assert scores == [[pytest.approx(0.2), pytest.approx(0.9)]]


def test_lexical_is_relative_to_the_best_of_the_pool() -> None:
    reranker = Reranker(half, lambda query, ids: ([0.1, 0.2], [4.0, 8.0], [0.7, 0.0]), Blend())
    first, second = reranker.features("q", [hit(0), hit(1, "table_row")], [0.5, 0.5])
    assert (first["lexical"], second["lexical"]) == (0.5, 1.0)
    assert (first["row"], second["row"]) == (0.0, 1.0)
    assert (first["asked"], second["asked"]) == (0.7, 0.0)
    nothing = Reranker(half, lambda query, ids: ([0.0], [0.0], [0.0]), Blend()).features("q", [hit(0)], [0.5])
    assert nothing[0]["lexical"] == 0.0


def test_each_question_has_its_row_of_scores() -> None:
    signals = {"a": ([1.0, 0.0], [0.0, 0.0], [0.0, 0.0]), "b": ([0.0, 1.0], [0.0, 0.0], [0.0, 0.0])}
    reranker = Reranker(half, lambda query, ids: signals[query], Blend(passage={"cosine": 2.0}))
    rows = reranker.scores(["a", "b"], [hit(0), hit(1)])
    assert rows[0][0] > rows[0][1]
    assert rows[1][0] < rows[1][1]


def test_the_logistic_agrees_with_the_formula_and_never_overflows() -> None:
    assert blended({"bias": -1.0, "cosine": 2.0}, {"cosine": 0.75, "unknown": 9.0}) == pytest.approx(1 / (1 + math.exp(-0.5)))
    assert blended({"bias": 1e9}, {}) <= 1.0
    assert logit(0.0) == pytest.approx(-logit(1.0))
    assert logit(0.5) == 0.0


def test_the_file_is_read_and_checked(tmp_path: Path) -> None:
    assert Blend.load(tmp_path) == Blend()
    (tmp_path / "blend.json").write_text(json.dumps({"passage": {"bias": 1, "cosine": 2}, "unit": {"encoder": 3}}))
    assert Blend.load(tmp_path) == Blend({"bias": 1.0, "cosine": 2.0}, {"encoder": 3.0})
    for bad in (
        "{",
        "[]",
        '{"passage": {"x": 1}, "unit": {}}',
        '{"passage": {"bias": NaN}, "unit": {}}',
        '{"passage": {"bias": "a"}, "unit": {}}',
    ):
        (tmp_path / "blend.json").write_text(bad)
        with pytest.raises(WeightsError, match=r"blend\.json"):
            Blend.load(tmp_path)
