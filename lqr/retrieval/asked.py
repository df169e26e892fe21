"""Finds passages by the questions that people ask about them: question against question, by cosine.

A question resembles another question more than it resembles its answer; several may lead to one passage, the nearest
counts. A question also tells which sentence of its passage answers it. Knows rows, not passages, and nothing of where the
questions come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lqr.retrieval.bm25 import FloatArray, best
from lqr.types import Asked


@dataclass(frozen=True)
class AskedIndex:
    """``vectors[i]`` is a question that row ``rows[i]`` answers with ``snippets[i]``; ``size`` rows in all. May be empty."""

    vectors: FloatArray  # (questions, dimension), unit length
    rows: npt.NDArray[np.int64]  # (questions,)
    size: int
    snippets: tuple[str, ...]

    def scores(self, vector: FloatArray) -> FloatArray:
        """For each row the cosine of its nearest question, 0.0 for rows without any; shape ``(size,)``."""
        found = np.zeros(self.size, dtype=np.float32)
        if len(self.rows):
            np.maximum.at(found, self.rows, self.vectors @ vector)
        return found

    def search(self, vector: FloatArray, k: int) -> list[tuple[int, float]]:
        """The ``k`` rows with the nearest questions as ``(row, cosine)``, best first."""
        return best(self.scores(vector), k, above=0.0) if len(self.rows) else []

    def about(self, row: int, vector: FloatArray) -> list[tuple[str, float]]:
        """For each question about ``row`` the snippet that answers it, and its cosine."""
        return [(self.snippets[i], float(self.vectors[i] @ vector)) for i in np.flatnonzero(self.rows == row)]

    @classmethod
    def empty(cls, size: int, dimension: int) -> AskedIndex:
        """An index of no questions."""
        return cls(np.zeros((0, dimension), dtype=np.float32), np.zeros(0, dtype=np.int64), size, ())


def flatten(asked: Sequence[Sequence[Asked]]) -> tuple[list[Asked], npt.NDArray[np.int64]]:
    """Questions row by row as one list, with the row of each."""
    pairs = [(item, row) for row, items in enumerate(asked) for item in items]
    return [item for item, _ in pairs], np.array([row for _, row in pairs], dtype=np.int64)
