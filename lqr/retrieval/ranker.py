"""Orders candidates by their features: boosted regression trees (Friedman 2001), read from JSON and summed with numpy.

Two rounds: the first scores each candidate by what words and graph say of it, the second by those scores of its neighbours as
well. Fitted by ``python -m benchmarks.retrieval fit`` on training questions; the file holds numbers only, nothing is unpickled.
It knows no text: what the columns mean is said in :mod:`lqr.retrieval.paths` and :mod:`lqr.retrieval.second_round`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lqr import manifest
from lqr.errors import WeightsError
from lqr.retrieval import paths, second_round
from lqr.retrieval.bm25 import DoubleArray, FloatArray
from lqr.retrieval.graph import PassageGraph

FILE_NAME = "ranker.json"
FORMAT = 2
_PARTS = ("feature", "threshold", "left", "right", "value")
_ROUNDS = {"first": paths.FEATURES, "second": second_round.FEATURES}  # and the features that each is fitted on


@dataclass(frozen=True)
class Tree:
    """One binary tree; node 0 is the root and a leaf has feature -1. ``x <= threshold`` goes left."""

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]


@dataclass(frozen=True)
class Trees:
    """The sum of many trees, in log-odds."""

    trees: tuple[Tree, ...]
    bias: float = 0.0

    def scores(self, features: FloatArray) -> DoubleArray:
        """Log-odds that each candidate belongs to the answer, shape ``(c,)``, for ``features`` of shape ``(c, f)``."""
        wide = features.astype(np.float64)
        feature, threshold, left, right, value = self._stacked
        tree, row = np.arange(len(self.trees))[None, :], np.arange(len(wide))[:, None]
        node = np.zeros((len(wide), len(self.trees)), dtype=np.int64)
        while (inner := feature[tree, node] >= 0).any():
            goes_left = wide[row, feature[tree, node]] <= threshold[tree, node]
            node = np.where(inner, np.where(goes_left, left[tree, node], right[tree, node]), node)
        found: DoubleArray = value[tree, node].sum(axis=1) + self.bias
        return found

    @cached_property
    def _stacked(self) -> tuple[npt.NDArray[Any], ...]:
        """The parts of all trees, shape ``(trees, nodes of the largest)``: one walk goes down all of them."""
        most = max((len(tree.feature) for tree in self.trees), default=1)
        padded = [
            np.array([[*getattr(tree, part), *[-1] * (most - len(tree.feature))] for tree in self.trees]) for part in _PARTS
        ]
        return tuple(array.reshape(len(self.trees), most) for array in padded)


@dataclass(frozen=True)
class Ranker:
    """Both rounds."""

    first: Trees
    second: Trees

    def scores(self, graph: PassageGraph, found: paths.Candidates) -> DoubleArray:
        """Log-odds that each candidate belongs to the answer, shape ``(c,)``."""
        return self.second.scores(second_round.features(graph, found, self.first.scores(found.features)))

    @classmethod
    def load(cls, folder: Path) -> Ranker | None:
        """The ranker in ``folder/ranker.json``; ``None`` if there is no such file.

        Raises:
            WeightsError: the file is malformed, was fitted on other features, or is not what the manifest says.
        """
        manifest.verify(folder)
        path = folder / FILE_NAME
        if not path.is_file():
            return None
        again = f"models/{folder.name}/{FILE_NAME}: {{}}; fit it again with `python -m benchmarks.retrieval fit`"
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            if raw["format"] != FORMAT or any(raw[name]["features"] != list(known) for name, known in _ROUNDS.items()):
                raise WeightsError(again.format("fitted for other features"))
            rounds = {
                name: Trees(tuple(_tree(tree, len(known)) for tree in raw[name]["trees"]), float(raw[name]["bias"]))
                for name, known in _ROUNDS.items()
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise WeightsError(again.format(repr(error))) from error
        return cls(**rounds)

    def save(self, folder: Path, record: dict[str, Any]) -> None:
        """Write ``folder/ranker.json``; ``record`` says what it was fitted on and how well it did."""
        folder.mkdir(parents=True, exist_ok=True)
        raw: dict[str, Any] = {"format": FORMAT, "record": record}
        for name, known in _ROUNDS.items():
            part: Trees = getattr(self, name)
            trees = [{key: list(getattr(tree, key)) for key in _PARTS} for tree in part.trees]
            raw[name] = {"features": list(known), "bias": part.bias, "trees": trees}
        (folder / FILE_NAME).write_text(json.dumps(raw) + "\n", encoding="utf-8")


def _tree(raw: dict[str, Sequence[float]], width: int) -> Tree:
    """Check a tree as read: equal lengths, finite numbers, and children after their parent, so that a walk must end."""
    tree = Tree(
        tuple(int(f) for f in raw["feature"]),
        tuple(float(t) for t in raw["threshold"]),
        tuple(int(i) for i in raw["left"]),
        tuple(int(i) for i in raw["right"]),
        tuple(float(v) for v in raw["value"]),
    )
    size = len(tree.feature)
    if not size or {len(part) for part in (tree.threshold, tree.left, tree.right, tree.value)} != {size}:
        raise ValueError("a tree's parts differ in length")
    for node, feature in enumerate(tree.feature):
        children = (tree.left[node], tree.right[node])
        if feature >= width or (feature >= 0 and not all(node < child < size for child in children)):
            raise ValueError("a tree names a feature or node that does not exist")
    if not np.isfinite([*tree.threshold, *tree.value]).all():
        raise ValueError("a tree holds an endless number")
    return tree
