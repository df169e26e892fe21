"""The points behind a report's plots, from rows alone: recall at k, confidence bins, risk against coverage. It draws nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lqr.evaluation.report_results import Row, Run, number, row_scores

BINS = 10
Point = tuple[float, float]


def recall_curve(run: Run) -> list[Point]:
    """``(k, mean recall@k)`` for every cutoff that rows have, by k."""
    cutoffs = sorted(int(name[7:]) for name in run.score_names() if re.fullmatch(r"recall@\d+", name))
    found = [(k, run.scores(f"recall@{k}")) for k in cutoffs]
    return [(float(k), sum(values) / len(values)) for k, values in found if values]


def confusion(run: Run) -> list[list[int]] | None:
    """Counts by ``[annotated][chosen]``, simple before complex, of router or classifier; None without such rows."""
    if run.kind == "classifier":
        found = [(int(row["label"]), int(row["predicted"])) for row in run.rows]
    else:
        known = ("simple", "complex")
        found = [
            (known.index(row["gold_route"]), known.index(row["route"]))
            for row in run.rows
            if row.get("gold_route") in known and row.get("route") in known
        ]
    if not found:
        return None
    return [[found.count((label, said)) for said in (0, 1)] for label in (0, 1)]


def calibration(run: Run) -> list[tuple[float, float, int]]:
    """Mean probability, share that came true, and rows of each of ten equal bins; bins without rows are left out.

    Of a classifier: of label 1. Of a collection: of its confidence, a complete answer being what should come true. Else of
    the route *complex*.
    """
    pairs = _chances(run)
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for probability, true in pairs:
        bins[min(int(probability * BINS), BINS - 1)].append((probability, true))
    return [(sum(p for p, _ in part) / len(part), sum(t for _, t in part) / len(part), len(part)) for part in bins if part]


def risk_coverage(run: Run) -> list[Point]:
    """``(coverage, risk)`` after each row from the surest on; empty where rows carry no confidence.

    Risk is one minus the mean accuracy (of a collection: share of key facts) of the rows covered (El-Yaniv & Wiener 2010).
    Rows of equal confidence are averaged, so that their order in the file changes nothing.
    """
    pairs = [pair for row in run.rows if (pair := _sure_and_right(run, row)) is not None]
    if len({confidence for confidence, _ in pairs}) < 2:
        return []
    by_confidence: dict[float, list[float]] = {}
    for confidence, right in pairs:
        by_confidence.setdefault(confidence, []).append(right)
    points, wrong, seen = [], 0.0, 0
    for confidence in sorted(by_confidence, reverse=True):
        tied = by_confidence[confidence]
        share = 1 - sum(tied) / len(tied)
        for _ in tied:
            wrong, seen = wrong + share, seen + 1
            points.append((seen / len(pairs), wrong / seen))
    return points


def _sure_and_right(run: Run, row: Row) -> tuple[float, float] | None:
    if run.kind == "classifier":
        probability = number(row.get("probability"))
        return None if probability is None else (abs(probability - 0.5), float(row["label"] == row["predicted"]))
    if run.kind == "collection":
        sure, right = number(_inner(row, "confidence", "probability")), number(row_scores(row).get("facts_answered"))
    elif run.kind == "answers":
        sure, right = number(_inner(row, "answer_from", "score")), number(row_scores(row).get("accuracy"))
    else:
        return None
    return None if sure is None or right is None else (sure, right)


def _chances(run: Run) -> Sequence[tuple[float, bool]]:
    if run.kind == "classifier":
        found = [(number(row.get("probability")), bool(row["label"])) for row in run.rows]
    elif run.kind == "collection":
        found = [
            (number(_inner(row, "confidence", "probability")), row_scores(row)["complete_answered"] == 1.0)
            for row in run.rows
            if number(row_scores(row).get("complete_answered")) is not None
        ]
    else:
        found = [
            (number(row.get("probability")), row["gold_route"] == "complex")
            for row in run.rows
            if row.get("gold_route") and row.get("route")
        ]
    return [(chance, true) for chance, true in found if chance is not None and 0 <= chance <= 1]


def _inner(row: Row, outer: str, inner: str) -> object:
    value = row.get(outer)
    return value.get(inner) if isinstance(value, dict) else None
