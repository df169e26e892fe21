"""The lexical index: bm25s over our own tokens.

Scores are Lucene's BM25: ``ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * length / mean length))``,
summed over the query's terms (Robertson & Zaragoza 2009; the variant of Kamphuis et al. 2020). It knows rows, not
passages: the retriever maps one to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

K1 = 1.2  # with B the best of three pairs on the training questions of HotpotQA
B = 0.75

FloatArray = npt.NDArray[np.float32]
DoubleArray = npt.NDArray[np.float64]


class BM25Index:
    """An immutable BM25 index; searches from several threads are safe."""

    def __init__(self, index: Any, size: int) -> None:
        """Wrap a ``bm25s.BM25`` (``None`` when no row holds a term) over ``size`` rows; use :meth:`build` or :meth:`load`."""
        self._index = index
        self.size = size

    @classmethod
    def build(cls, rows: Sequence[Sequence[str]], *, k1: float = K1, b: float = B) -> BM25Index:
        """Index token lists, one a row; empty lists are rows that never match.

        Args:
            k1: how slowly repeats of a term saturate.
            b: how much a long row is held against it, 0 to 1.
        """
        import bm25s

        vocabulary: dict[str, int] = {}
        ids = [[vocabulary.setdefault(token, len(vocabulary)) for token in row] for row in rows]
        if not vocabulary:
            return cls(None, len(rows))
        index = bm25s.BM25(k1=k1, b=b, method="lucene", backend="numpy")
        # Ids instead of strings: bm25s numbers strings through a set, in an order that differs from run to run.
        index.index((ids, vocabulary), create_empty_token=False, show_progress=False)
        return cls(index, len(rows))

    def scores(self, query: Sequence[str]) -> FloatArray:
        """BM25 score of every row, shape ``(size,)``; zeros when no term is known."""
        ids = self._index.get_tokens_ids(list(query)) if self._index is not None else []
        if not ids:
            return np.zeros(self.size, dtype=np.float32)
        return np.asarray(self._index.get_scores_from_ids(ids), dtype=np.float32)

    def search(self, query: Sequence[str], k: int) -> list[tuple[int, float]]:
        """The best ``k`` rows that share a term with the query, as ``(row, score)``; equal scores by row."""
        return best(self.scores(query), k, above=0.0)

    def rarity(self, term: str) -> float:
        """The inverse document frequency of ``term``, as in the scores; highest for a term that no row holds."""
        return idf(self.holders(term), self.size)

    def holders(self, term: str) -> int:
        """How many rows hold ``term``."""
        number = None if self._index is None else self._index.vocab_dict.get(term)
        return 0 if number is None else int(np.diff(self._index.scores["indptr"][number : number + 2])[0])

    def contributions(self, terms: Sequence[str], rows: npt.NDArray[np.int64]) -> FloatArray:
        """What each term adds to the score of each of ``rows``, shape ``(len(terms), len(rows))``; 0 where it is not held."""
        found = np.zeros((len(terms), len(rows)), dtype=np.float32)
        if self._index is None:
            return found
        scores = self._index.scores
        for place, term in enumerate(terms):
            number = self._index.vocab_dict.get(term)
            if number is None:
                continue
            span = slice(*scores["indptr"][number : number + 2])
            holders = scores["indices"][span]
            at = np.minimum(np.searchsorted(holders, rows), len(holders) - 1)
            held = holders[at] == rows
            found[place, held] = scores["data"][span][at[held]]
        return found

    def save(self, folder: Path) -> None:
        """Write the index into ``folder`` as ``.npy`` and JSON files (no pickle)."""
        folder.mkdir(parents=True, exist_ok=True)
        if self._index is not None:
            self._index.save(folder, show_progress=False, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path, size: int, *, mmap: bool = True) -> BM25Index:
        """Read what :meth:`save` wrote; with ``mmap`` the scores stay on the disk until they are needed.

        Raises:
            OSError, ValueError, KeyError: the files are missing or damaged.
        """
        import bm25s

        if not (folder / "params.index.json").exists():
            return cls(None, size)
        index = bm25s.BM25.load(folder, mmap=mmap, allow_pickle=False, show_progress=False)
        if index.scores["num_docs"] != size:
            raise ValueError(f"{folder} holds {index.scores['num_docs']} rows, not {size}")
        return cls(index, size)


def idf(holders: int, size: int) -> float:
    """The weight of a term that ``holders`` of ``size`` rows hold."""
    return float(np.log(1 + (size - holders + 0.5) / (holders + 0.5)))


def how_rare(holders: int, size: int) -> float:
    """How rare a term is, in [0, 1]: 1.0 if none or one of ``size`` rows holds it, about 0 if each does."""
    return 1.0 if not holders else float(np.log((size + 1) / holders) / np.log(size + 1))


def best(scores: FloatArray | DoubleArray, k: int, *, above: float | None = None) -> list[tuple[int, float]]:
    """The ``k`` highest of ``scores`` as ``(row, score)``, best first, equal scores by row; only those ``above``, if given."""
    rows = np.arange(len(scores)) if above is None else np.flatnonzero(scores > above)
    k = max(0, min(k, len(rows)))
    if k == 0:
        return []
    if k < len(rows):
        limit = np.partition(scores[rows], len(rows) - k)[len(rows) - k]
        rows = rows[scores[rows] >= limit]  # all that tie for the last place: the order below must not depend on numpy
    order = np.lexsort((rows, -scores[rows]))[:k]
    return [(int(row), float(scores[row])) for row in rows[order]]
