"""The figures of a run, all of them from its rows: anyone's script can recompute them, and ``lqr report`` does.

Means leave out rows that have no such score (a question without gold passages has no recall) and say over how many they go.
It knows rows only, neither models nor files.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lqr.evaluation.significance import bootstrap_interval

Row = Mapping[str, Any]
# With an interval beside them; intervals of all cutoffs would only fill the file.
WITH_INTERVAL = ("em", "f1", "accuracy", "recall@2", "recall@5", "all_gold@5")
BY_GROUP = ("f1", "em", "accuracy", "recall@5", "all_gold@5")


def summarise(rows: Sequence[Row], *, seed: int = 13) -> dict[str, Any]:
    """The summary of rows of public questions.

    Scores are means from 0 to 1, ``intervals`` their 95 % bootstrap intervals; ``n_answers`` and ``n_gold`` count the rows
    behind them. Times are seconds a question, ``tokens_*`` means. ``router`` compares the chosen route with the annotated
    one, *complex* being positive.
    """
    scores = score_means(rows)
    summary: dict[str, Any] = {
        "n": len(rows),
        "n_answers": sum("f1" in row["scores"] for row in rows),
        "n_gold": sum("mrr" in row["scores"] for row in rows),
        **scores,
        "intervals": {
            name: [round(end, 4) for end in bootstrap_interval(values(rows, name), seed=seed)]
            for name in WITH_INTERVAL
            if name in scores
        },
        **effort(rows),
    }
    if router := router_scores(rows):
        summary["router"] = router
    for key, name in (("by_type", "type"), ("by_dataset", "dataset")):
        groups = {str(row.get(name)) for row in rows if row.get(name)}
        if len(groups) > 1:
            summary[key] = {group: _group([row for row in rows if row.get(name) == group]) for group in sorted(groups)}
    return summary


def score_means(rows: Sequence[Row]) -> dict[str, float]:
    """The mean of every score that any row has, over the rows that have it, in the order of the rows' keys."""
    names = dict.fromkeys(name for row in rows for name in row["scores"])
    return {name: round(statistics.fmean(values(rows, name)), 6) for name in names if values(rows, name)}


def values(rows: Sequence[Row], score: str) -> list[float]:
    """A score of all rows that have it."""
    return [float(row["scores"][score]) for row in rows if row["scores"].get(score) is not None]


def effort(rows: Sequence[Row]) -> dict[str, Any]:
    """Steps, seconds and tokens a question."""
    if not rows:
        return {}
    seconds = [float(row["seconds"]) for row in rows]
    found: dict[str, Any] = {
        "steps": round(statistics.fmean(row["steps"] for row in rows), 4),
        "seconds_p50": round(float(np.quantile(seconds, 0.5)), 4),
        "seconds_p95": round(float(np.quantile(seconds, 0.95)), 4),
        "seconds_mean": round(statistics.fmean(seconds), 4),
    }
    for name, get in _EFFORT.items():
        given = [value for row in rows if (value := get(row)) is not None]
        if given:
            found[name] = round(statistics.median(given) if name.endswith("_p50") else statistics.fmean(given), 4)
    return found


_EFFORT: dict[str, Callable[[Row], float | None]] = {
    "cpu_seconds_p50": lambda row: row.get("cpu_seconds"),
    "tokens_read": lambda row: row.get("tokens", {}).get("read"),
    "tokens_written": lambda row: row.get("tokens", {}).get("written"),
    "passages_read": lambda row: len(row["read"]) if row.get("read") is not None else None,
}


def router_scores(rows: Sequence[Row]) -> dict[str, float]:
    """Accuracy, precision, recall, F1 and the confusion counts of the route; empty where no row has both routes."""
    pairs = [(row["gold_route"], row["route"]) for row in rows if row.get("gold_route") and row.get("route")]
    if not pairs:
        return {}
    count = {(gold, said): pairs.count((gold, said)) for gold in ("simple", "complex") for said in ("simple", "complex")}
    right, over, missed = count["complex", "complex"], count["simple", "complex"], count["complex", "simple"]
    return {
        "n": len(pairs),
        "accuracy": round((right + count["simple", "simple"]) / len(pairs), 6),
        "precision": round(right / (right + over), 6) if right + over else 0.0,
        "recall": round(right / (right + missed), 6) if right + missed else 0.0,
        "f1": round(2 * right / (2 * right + over + missed), 6) if right else 0.0,
        **{f"{gold} as {said}": number for (gold, said), number in count.items()},
    }


def _group(rows: Sequence[Row]) -> dict[str, Any]:
    means = score_means(rows)
    return {"n": len(rows), **{name: means[name] for name in BY_GROUP if name in means}}
