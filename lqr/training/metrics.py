"""Figures of a yes-or-no classifier, each computed from labels and probabilities and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence


def summary(labels: Sequence[int], probabilities: Sequence[float], *, threshold: float = 0.5) -> dict[str, float]:
    """``n``, accuracy, precision, recall, F1 of class 1, macro F1 and the expected calibration error (ten bins); four digits.

    Raises:
        ValueError: there is no row, or the sequences differ in length.
    """
    if not labels:
        raise ValueError("no rows to measure")
    pairs = [(int(label), p >= threshold) for label, p in zip(labels, probabilities, strict=True)]
    hits = sum(said for label, said in pairs if label)
    misses = sum(not said for label, said in pairs if label)
    false = sum(said for label, said in pairs if not label)
    rest = len(pairs) - hits - misses - false
    figures = {
        "accuracy": (hits + rest) / len(pairs),
        "precision": hits / max(1, hits + false),
        "recall": hits / max(1, hits + misses),
        "f1": _f1(hits, false, misses),
        "macro_f1": (_f1(hits, false, misses) + _f1(rest, misses, false)) / 2,
        "ece": expected_calibration_error(labels, probabilities),
    }
    return {"n": len(pairs), **{name: round(value, 4) for name, value in figures.items()}}


def expected_calibration_error(labels: Sequence[int], probabilities: Sequence[float], bins: int = 10) -> float:
    """How far the mean probability of class 1 is from its share, over equal bins, weighted by size (Guo et al. 2017)."""
    inside: dict[int, list[tuple[int, float]]] = {}
    for label, probability in zip(labels, probabilities, strict=True):
        inside.setdefault(min(int(probability * bins), bins - 1), []).append((int(label), probability))
    return sum(abs(sum(label for label, _ in part) - sum(p for _, p in part)) for part in inside.values()) / max(1, len(labels))


def best_threshold(labels: Sequence[int], probabilities: Sequence[float]) -> float:
    """The threshold of best accuracy; of equally good ones the nearest to one half. In [0, 1], between two probabilities."""
    order = sorted(zip(probabilities, map(int, labels), strict=True))
    right = sum(label for _, label in order)  # at threshold 0 all are called 1
    best = (right, -0.5, 0.0)  # (right, nearness to one half, threshold)
    for (probability, label), (following, _) in zip(order, [*order[1:], (1.0, 1)], strict=True):
        right += 1 if label == 0 else -1
        if following > probability:
            middle = (probability + following) / 2
            best = max(best, (right, -abs(middle - 0.5), middle))
    return best[2]


def _f1(hits: int, false: int, missed: int) -> float:
    return 2 * hits / max(1, 2 * hits + false + missed)
