"""Finds passages by the questions that people ask about them: question against question, by cosine.

A question resembles another question more than it resembles its answer; several may lead to one passage, the nearest
counts. Knows rows, not passages, and nothing of where the questions come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lqr.retrieval.bm25 import FloatArray, best


@dataclass(frozen=True)
class AskedIndex:
    """``vectors[i]`` is a question that row ``rows[i]`` answers; ``size`` rows in all. Empty where nobody wrote any."""

    vectors: FloatArray  # (questions, dimension), unit length
    rows: npt.NDArray[np.int64]  # (questions,)
    size: int

    def scores(self, vector: FloatArray) -> FloatArray:
        """For each row the cosine of its nearest question, 0.0 for rows without any; shape ``(size,)``."""
        found = np.zeros(self.size, dtype=np.float32)
        if len(self.rows):
            np.maximum.at(found, self.rows, self.vectors @ vector)
        return found

    def search(self, vector: FloatArray, k: int) -> list[tuple[int, float]]:
        """The ``k`` rows with the nearest questions as ``(row, cosine)``, best first."""
        return best(self.scores(vector), k, above=0.0) if len(self.rows) else []

    @classmethod
    def empty(cls, size: int, dimension: int) -> AskedIndex:
        """An index of no questions."""
        return cls(np.zeros((0, dimension), dtype=np.float32), np.zeros(0, dtype=np.int64), size)


def flatten(asked: Sequence[Sequence[str]]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Questions row by row as one list, with the row of each."""
    pairs = [(question, row) for row, questions in enumerate(asked) for question in questions]
    return [question for question, _ in pairs], np.array([row for _, row in pairs], dtype=np.int64)
