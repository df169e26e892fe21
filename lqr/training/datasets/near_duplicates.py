"""Finds texts that say nearly the same, exactly: token-set Jaccard with prefix filtering.

Two sets with a Jaccard of at least ``t`` share one of their ``|x| - ceil(t |x|) + 1`` rarest tokens (Chaudhuri et al. 2006,
"A Primitive Operator for Similarity Joins in Data Cleaning"; Bayardo et al. 2007, "Scaling up all pairs similarity search").
So only those are indexed and looked up, and no pair is missed, as MinHash would. Knows nothing of where the texts come from.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from lqr.text import words


class JaccardIndex:
    """Texts seen so far; :meth:`near` finds one that is as similar as ``threshold``.

    Args:
        threshold: Jaccard of the sets of lower-cased words from which two texts count as the same, above 0.
        vocabulary: texts whose word counts decide which words are rare; any texts are right, the real ones are fast.
    """

    def __init__(self, threshold: float, vocabulary: Iterable[str] = ()) -> None:
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold {threshold} is not in (0, 1]")
        self._threshold = threshold
        self._count: Counter[str] = Counter()
        for text in vocabulary:
            self._count.update(set(words(text)))
        self._sets: list[frozenset[str]] = []
        self._by_token: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, text: str) -> int:
        """Take ``text`` in; returns its number, counted from 0."""
        tokens = self._ordered(text)
        number = len(self._sets)
        self._sets.append(frozenset(tokens))
        for token in self._prefix(tokens):
            self._by_token[token].append(number)
        return number

    def near(self, text: str) -> int | None:
        """The number of the first text taken in with a Jaccard of at least the threshold; None if there is none.

        A text without a word equals only another without one.
        """
        tokens = self._ordered(text)
        own = frozenset(tokens)
        if not own:
            return next((number for number, other in enumerate(self._sets) if not other), None)
        candidates = {number for token in self._prefix(tokens) for number in self._by_token.get(token, ())}
        return min((number for number in candidates if self._similar(own, self._sets[number])), default=None)

    def _ordered(self, text: str) -> list[str]:
        return sorted(set(words(text)), key=lambda token: (self._count[token], token))

    def _prefix(self, tokens: Sequence[str]) -> Sequence[str]:
        # 1e-9: 0.8 * 5 must stay 4 in floating point, a longer prefix is only slower
        return tokens[: len(tokens) - math.ceil(self._threshold * len(tokens) - 1e-9) + 1]

    def _similar(self, one: frozenset[str], other: frozenset[str]) -> bool:
        shared = len(one & other)
        return shared >= self._threshold * (len(one) + len(other) - shared) - 1e-9


def without_near_duplicates(texts: Sequence[str], *, threshold: float, against: Sequence[str] = ()) -> tuple[list[int], int, int]:
    """Which of ``texts`` to keep.

    Args:
        texts: in order of preference: of two that are alike the first stays.
        against: texts (a test split) that none of those kept may be like.

    Returns:
        The indices kept, in order; how many were like one of ``against``; how many were like an earlier one.
    """
    vocabulary = [*texts, *against]
    held_back = JaccardIndex(threshold, vocabulary)
    for text in against:
        held_back.add(text)
    seen = JaccardIndex(threshold, vocabulary)
    kept: list[int] = []
    in_test = repeated = 0
    for number, text in enumerate(texts):
        if held_back.near(text) is not None:
            in_test += 1
        elif seen.near(text) is not None:
            repeated += 1
        else:
            seen.add(text)
            kept.append(number)
    return kept, in_test, repeated
