"""How sure a mean or a difference is: bootstrap intervals, and a paired test between two result files.

Intervals are percentile bootstraps (Efron 1979) over questions. The paired test is a randomisation test that flips the
sign of each question's difference (Fisher 1935; Smucker et al. 2007 recommend it for retrieval). Both are seeded. It
knows rows and scores, not what made them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lqr.errors import ReadError

RESAMPLES = 2000
FLIPS = 10000
LEVEL = 0.95
TIMES = ("seconds", "cpu_seconds")
_BLOCK = 500  # resamples at a time: n questions times this many numbers in memory


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs on the same ``n`` questions. ``difference`` is mean(b) - mean(a), with its 95 % interval ``low`` to ``high``.

    ``p_value`` is two-sided. ``wins`` counts the questions on which b scores higher. ``time_ratio`` is the ratio of the
    median seconds, b over a, and ``cpu_ratio`` that of the processor's seconds, which other programs on the machine disturb
    less; None where rows carry no such time.
    """

    metric: str
    n: int
    a: float
    b: float
    difference: float
    low: float
    high: float
    p_value: float
    wins: int
    losses: int
    time_ratio: float | None = None
    cpu_ratio: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values for JSON."""
        return asdict(self)


def bootstrap_interval(values: Sequence[float], *, seed: int = 13, resamples: int = RESAMPLES) -> tuple[float, float]:
    """The 95 % percentile interval of the mean of ``values``.

    Raises:
        ValueError: ``values`` is empty.
    """
    if not len(values):
        raise ValueError("no values to resample")
    data = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(seed)
    means = []
    for start in range(0, resamples, _BLOCK):
        drawn = rng.integers(0, len(data), size=(min(_BLOCK, resamples - start), len(data)))
        means.append(data[drawn].mean(axis=1))
    low, high = np.quantile(np.concatenate(means), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def permutation_p(differences: Sequence[float], *, seed: int = 13, flips: int = FLIPS) -> float:
    """Two-sided p-value that the mean of paired ``differences`` is 0, by random sign flips.

    The observed signs count as one of the flips, so that no p-value is 0 (Phipson & Smyth 2010).
    """
    data = np.asarray(differences, dtype=np.float64)
    data = data[data != 0]  # a tie has no sign to flip
    if not len(data):
        return 1.0
    rng = np.random.default_rng(seed)
    observed = abs(data.sum())
    extreme = 0
    for start in range(0, flips, _BLOCK):
        signs = rng.integers(0, 2, size=(min(_BLOCK, flips - start), len(data))) * 2 - 1
        extreme += int((np.abs(signs @ data) >= observed - 1e-9).sum())
    return (extreme + 1) / (flips + 1)


def compare(a: Mapping[str, Any], b: Mapping[str, Any], metric: str = "f1", *, seed: int = 13) -> Comparison:
    """Test run ``b`` against run ``a`` on the questions that both hold.

    Args:
        a: a result as ``lqr evaluate`` writes it, the baseline.
        b: the other one.
        metric: a key of the rows' ``scores``.

    Raises:
        ReadError: the two share no question that both scored by ``metric``, or ask different questions under one id.
    """
    rows_a, rows_b = _scored(a, metric), _scored(b, metric)
    shared = [i for i in rows_a if i in rows_b]
    if not shared:
        raise ReadError(f"the two results share no question with a score {metric!r}; evaluate both on the same questions")
    if differing := [i for i in shared if rows_a[i]["question"] != rows_b[i]["question"]]:
        raise ReadError(f"question {differing[0]} is worded differently in the two results; they come from different files")
    first, second = ([float(rows[i]["scores"][metric]) for i in shared] for rows in (rows_a, rows_b))
    differences = [y - x for x, y in zip(first, second, strict=True)]
    low, high = bootstrap_interval(differences, seed=seed)
    return Comparison(
        metric,
        len(shared),
        float(np.mean(first)),
        float(np.mean(second)),
        float(np.mean(differences)),
        low,
        high,
        permutation_p(differences, seed=seed),
        sum(d > 0 for d in differences),
        sum(d < 0 for d in differences),
        *(_ratio([rows_a[i].get(name) for i in shared], [rows_b[i].get(name) for i in shared]) for name in TIMES),
    )


def _scored(result: Mapping[str, Any], metric: str) -> dict[str, Mapping[str, Any]]:
    return {str(row["id"]): row for row in result["rows"] if row.get("scores", {}).get(metric) is not None}


def _ratio(a: Sequence[Any], b: Sequence[Any]) -> float | None:
    if any(not isinstance(value, int | float) for value in (*a, *b)):
        return None
    base = float(np.median(a))
    return float(np.median(b)) / base if base > 0 else None
