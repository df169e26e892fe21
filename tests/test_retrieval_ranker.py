"""Tests of lqr.retrieval.ranker."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lqr.errors import WeightsError
from lqr.retrieval import second_round
from lqr.retrieval.paths import FEATURES
from lqr.retrieval.ranker import FILE_NAME, Ranker, Tree, Trees

STUMP = Tree((2, -1, -1), (0.5, -2.0, -2.0), (1, -1, -1), (2, -1, -1), (0.0, -1.0, 3.0))
DEEP = Tree((0, -1, 1, -1, -1), (0.2, 0, 0.7, 0, 0), (1, -1, 3, -1, -1), (2, -1, 4, -1, -1), (0, 1.0, 0, 2.0, 4.0))
BOTH = Ranker(Trees((STUMP, DEEP), -1.5), Trees((DEEP,), 0.5))


def slow(tree: Tree, row: np.ndarray, node: int = 0) -> float:
    if tree.feature[node] < 0:
        return tree.value[node]
    left = row[tree.feature[node]] <= tree.threshold[node]
    return slow(tree, row, tree.left[node] if left else tree.right[node])


def test_scores_equal_the_slow_walk() -> None:
    features = np.random.default_rng(1).random((50, len(FEATURES))).astype(np.float32)
    scores = Trees((STUMP, DEEP), 0.25).scores(features)
    assert scores == pytest.approx([0.25 + slow(STUMP, row) + slow(DEEP, row) for row in features])
    assert Trees((STUMP,)).scores(features[:0]).shape == (0,)
    assert Trees((), 2.0).scores(features[:3]).tolist() == [2.0, 2.0, 2.0]


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    BOTH.save(tmp_path / "ranker", {"seed": 13})
    assert Ranker.load(tmp_path / "ranker") == BOTH
    assert Ranker.load(tmp_path / "elsewhere") is None


def _loop(raw: dict[str, Any]) -> None:
    raw["second"]["trees"][0]["left"][0] = 0


def _other_feature(raw: dict[str, Any]) -> None:
    raw["second"]["trees"][0]["feature"][0] = len(second_round.FEATURES)


def _short(raw: dict[str, Any]) -> None:
    raw["second"]["trees"][0]["value"].pop()


def _endless(raw: dict[str, Any]) -> None:
    raw["second"]["trees"][0]["value"][1] = float("nan")


def _renamed(raw: dict[str, Any]) -> None:
    raw["second"]["features"][0] = "colour"


def _missing(raw: dict[str, Any]) -> None:
    del raw["first"]["bias"]


@pytest.mark.parametrize("damage", [_loop, _other_feature, _short, _endless, _renamed, _missing])
def test_a_damaged_file_is_refused(tmp_path: Path, damage: Callable[[dict[str, Any]], None]) -> None:
    BOTH.save(tmp_path, {})
    raw = json.loads((tmp_path / FILE_NAME).read_text(encoding="utf-8"))
    damage(raw)
    (tmp_path / FILE_NAME).write_text(json.dumps(raw), encoding="utf-8")
    with pytest.raises(WeightsError, match=r"benchmarks.retrieval fit"):
        Ranker.load(tmp_path)


def test_an_exported_model_scores_as_the_fitted_one() -> None:
    pytest.importorskip("sklearn")
    from benchmarks.retrieval import FIRST, exported, fitted

    random = np.random.default_rng(2)
    features = random.random((600, len(FEATURES))).astype(np.float32)
    labels = features[:, 0] + features[:, 3] * features[:, 5] > 0.9
    model = fitted(features, labels, FIRST | {"max_iter": 12})
    trees = exported(model)
    assert len({*trees.scores(features)}) > 10
    assert trees.scores(features) == pytest.approx(model.decision_function(features), abs=1e-4)


def test_questions_that_share_a_passage_share_a_fold() -> None:
    from benchmarks.retrieval import folded

    gold = [frozenset(ids) for ids in ("ab", "bc", "d", "e", "cf", "gh", "i", "h")]
    places = folded(gold, 3)
    assert places[0] == places[1] == places[4]
    assert places[5] == places[7]
    assert sorted(places.count(fold) for fold in range(3)) == [2, 3, 3]
