"""Tests of lqr.evaluation.significance."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from lqr.errors import ReadError
from lqr.evaluation.significance import bootstrap_interval, compare, permutation_p


def result(scores: dict[str, float], seconds: float = 1.0) -> dict[str, Any]:
    return {"rows": [{"id": i, "question": f"q{i}", "scores": {"f1": f1}, "seconds": seconds} for i, f1 in scores.items()]}


def test_an_interval_is_near_the_normal_one() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.2, size=400)
    low, high = bootstrap_interval(values.tolist(), seed=7)
    error = values.std() / 400**0.5
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.3 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.3 * error)


def test_an_interval_hangs_on_the_seed_alone() -> None:
    values = [0.0, 1.0, 0.5, 1.0, 0.2]
    assert bootstrap_interval(values, seed=3) == bootstrap_interval(values, seed=3)
    assert bootstrap_interval([0.7, 0.7]) == pytest.approx((0.7, 0.7))
    with pytest.raises(ValueError, match="no values"):
        bootstrap_interval([])


def test_the_permutation_test_agrees_with_all_flips() -> None:
    differences = [0.5, 0.2, -0.1, 0.4, 0.3, 0.0, 0.6, -0.2]
    flipped = [d for d in differences if d]
    observed = abs(sum(flipped))
    sums = [abs(sum(s * d for s, d in zip(signs, flipped, strict=True))) for signs in product((1, -1), repeat=len(flipped))]
    exact = sum(s >= observed - 1e-9 for s in sums) / len(sums)
    assert permutation_p(differences, flips=20000) == pytest.approx(exact, abs=0.01)


def test_no_difference_is_no_evidence() -> None:
    assert permutation_p([0.0, 0.0]) == 1.0
    assert permutation_p([1.0] * 30) < 0.001


def test_runs_are_compared_on_the_questions_they_share() -> None:
    a = result({"1": 0.0, "2": 0.5, "3": 1.0, "only a": 1.0}, seconds=2.0)
    b = result({"3": 1.0, "2": 1.0, "1": 0.5, "only b": 0.0}, seconds=3.0)
    found = compare(a, b)
    assert (found.n, found.a, found.b) == (3, 0.5, pytest.approx(5 / 6))
    assert found.difference == pytest.approx(1 / 3)
    assert (found.wins, found.losses) == (2, 0)
    assert found.low <= found.difference <= found.high
    assert (found.time_ratio, found.cpu_ratio) == (1.5, None)
    for rows, cpu in ((a["rows"], 0.2), (b["rows"], 0.1)):
        for row in rows:
            row["cpu_seconds"] = cpu
    assert compare(a, b).cpu_ratio == 0.5
    back = compare(b, a)
    assert (back.difference, back.wins, back.losses) == (pytest.approx(-1 / 3), 0, 2)
    assert found.to_dict()["p_value"] == back.p_value


def test_what_cannot_be_compared_is_said() -> None:
    with pytest.raises(ReadError, match="share no question"):
        compare(result({"1": 0.5}), result({"2": 0.5}))
    other = result({"1": 0.5})
    other["rows"][0]["question"] = "another"
    with pytest.raises(ReadError, match="worded differently"):
        compare(result({"1": 0.5}), other)
    with pytest.raises(ReadError, match="'em'"):
        compare(result({"1": 0.5}), result({"1": 0.5}), "em")
