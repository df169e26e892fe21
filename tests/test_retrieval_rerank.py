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


def test_a_collection_without_asked_questions_has_weights_of_its_own() -> None:
    blend = Blend(passage={"bias": -9.0, "asked": 10.0}, unasked={"bias": -1.0, "cosine": 2.0})
    reranker = Reranker(half, lambda query, ids: ([0.75, 0.75, 0.75], [0.0, 0.0, 0.0], [None, 0.0, 1.0]), blend)
    rows = reranker.features("q", [hit(0), hit(1), hit(2)], [0.5, 0.5, 0.5])
    assert ["asked" in row for row in rows] == [False, True, True]  # nobody wrote any; none for this passage; one that is near
    scores = reranker.scores(["q"], [hit(0), hit(1), hit(2)])[0]
    assert scores == pytest.approx([1 / (1 + math.exp(-0.5)), 1 / (1 + math.exp(9.0)), 1 / (1 + math.exp(-1.0))])


def test_the_logistic_agrees_with_the_formula_and_never_overflows() -> None:
    assert blended({"bias": -1.0, "cosine": 2.0}, {"cosine": 0.75, "unknown": 9.0}) == pytest.approx(1 / (1 + math.exp(-0.5)))
    assert blended({"bias": 1e9}, {}) <= 1.0
    assert logit(0.0) == pytest.approx(-logit(1.0))
    assert logit(0.5) == 0.0


def test_the_file_is_read_and_checked(tmp_path: Path) -> None:
    assert Blend.load(tmp_path) == Blend()
    whole = {"passage": {"bias": 1, "cosine": 2}, "unasked": {"lexical": 4}, "unit": {"encoder": 3}, "unasked_unit": {"item": 5}}
    (tmp_path / "blend.json").write_text(json.dumps(whole))
    assert Blend.load(tmp_path) == Blend({"bias": 1.0, "cosine": 2.0}, {"lexical": 4.0}, {"encoder": 3.0}, {"item": 5.0})
    del whole["unasked"], whole["unasked_unit"]  # as in files of before: the encoder's own probability stands
    (tmp_path / "blend.json").write_text(json.dumps(whole))
    assert Blend.load(tmp_path).unasked == Blend.load(tmp_path).unasked_unit == {"encoder": 1.0}
    for bad in (
        "{",
        "[]",
        '{"passage": {}, "unasked": {}}',
        '{"passage": {"x": 1}, "unasked": {}, "unit": {}}',
        '{"passage": {}, "unasked": {"asked": 1}, "unit": {}}',
        '{"passage": {"bias": NaN}, "unasked": {}, "unit": {}}',
        '{"passage": {}, "unasked": {"bias": Infinity}, "unit": {}}',
        '{"passage": {"bias": "a"}, "unasked": {}, "unit": {}}',
    ):
        (tmp_path / "blend.json").write_text(bad)
        with pytest.raises(WeightsError, match=r"blend\.json"):
            Blend.load(tmp_path)


def test_the_encoder_reads_only_what_the_other_signals_put_first() -> None:
    asked: list[str] = []

    def scorer(pairs: Sequence[tuple[str, tuple[str, str]]]) -> list[float]:
        asked.extend(text for _, (_, text) in pairs)
        return [0.9 if text == "text 3" else 0.3 for _, (_, text) in pairs]

    cosines = [0.1, 0.8, 0.2, 0.6, 0.0]
    blend = Blend(unasked={"encoder": 1.0, "cosine": 5.0})

    def signals(query: str, ids: Sequence[str]) -> tuple[list[float], list[float], list[float | None]]:
        return cosines, [0.0] * 5, [None] * 5

    hits = [hit(n) for n in range(5)]
    (few,) = Reranker(scorer, signals, blend, read=2).scores(["q"], hits)
    assert asked == ["text 1", "text 3"]
    (every,) = Reranker(scorer, signals, blend, read=5).scores(["q"], hits)
    assert (few[1], few[3]) == (every[1], every[3])  # what is read is scored as ever
    assert max(few[0], few[2], few[4]) < min(few[1], few[3])  # and what is not comes after it
    assert few[2] > few[0] > few[4]  # in the order of the other signals
