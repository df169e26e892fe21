"""The figures of a result, computed a second time from what the rows say was predicted and found.

Written without a line of ``metrics`` and ``summary``, so that a mistake there does not repeat itself here. Answers as in SQuAD's
script (Rajpurkar et al. 2016), accuracy as in Huang et al. 2024. It knows rows only.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lqr.evaluation.report_results import Row, Run, flat, number, row_scores, texts


def recomputed(row: Row) -> dict[str, float]:
    """Every score of ``row`` that follows from the row itself, by name; scores of judges are not among them."""
    return {name: value for name in row_scores(row) if (value := _score(name, row)) is not None}


def recomputed_summary(run: Run) -> dict[str, float]:
    """The figures of the summary that follow from the rows, by dotted name: means, effort, and the router's confusion."""
    if run.kind == "classifier":
        return _classifier(run.rows)
    found: dict[str, float] = {"n": len(run.rows)}
    for name in run.score_names():
        again = [recomputed(row).get(name, number(row_scores(row)[name])) for row in run.rows if name in row_scores(row)]
        if values := [value for value in again if value is not None]:
            found[name] = sum(values) / len(values)
    seconds = [value for row in run.rows if (value := number(row.get("seconds"))) is not None]
    if seconds:
        found |= {"seconds_p50": float(np.percentile(seconds, 50)), "seconds_p95": float(np.percentile(seconds, 95))}
        found["seconds_mean"] = sum(seconds) / len(seconds)
    steps = [value for row in run.rows if (value := number(row.get("steps"))) is not None]
    if steps:
        found["steps"] = sum(steps) / len(steps)
    return found | _router(run.rows)


def _score(name: str, row: Row) -> float | None:
    answers, said = texts(row.get("answers")), row.get("prediction")
    if name in ("em", "f1", "accuracy") and answers and isinstance(said, str):
        return max(_ANSWER[name](_squad(said), _squad(answer)) for answer in answers)
    gold, ranking = set(texts(row.get("supporting"))), texts(row.get("retrieved"))
    kind, _, cutoff = name.partition("@")
    if gold and kind in ("recall", "all_gold") and cutoff.isdigit():
        missing = gold.difference(ranking[: int(cutoff)])
        return float(not missing) if kind == "all_gold" else 1 - len(missing) / len(gold)
    if gold and name == "mrr":
        places = [ranking.index(passage) + 1 for passage in gold if passage in ranking]
        return 1 / min(places) if places else 0.0
    facts = row.get("facts")
    if isinstance(facts, list) and facts and name in ("facts", "complete", "facts_answered", "complete_answered"):
        share = 0.0 if row.get("refused") else sum(map(bool, facts)) / len(facts)
        return share if name.startswith("facts") else float(share == 1.0)
    return None


def _squad(text: str) -> list[str]:
    """Tokens after SQuAD's normalisation; what lies between the words tells where an article ends."""
    plain = "".join(sign for sign in text.lower() if sign not in string.punctuation)
    return "".join(" " if piece in ("a", "an", "the") else piece for piece in re.split(r"(\W+)", plain)).split()


def _em(said: Sequence[str], wanted: Sequence[str]) -> float:
    return float(bool(said) and list(said) == list(wanted))


def _f1(said: Sequence[str], wanted: Sequence[str]) -> float:
    left, same = list(wanted), 0
    for token in said:
        if token in left:
            left.remove(token)
            same += 1
    return 2 * same / (len(said) + len(wanted)) if same else 0.0


def _accuracy(said: Sequence[str], wanted: Sequence[str]) -> float:
    return float(bool(wanted) and " ".join(wanted) in " ".join(said))


_ANSWER = {"em": _em, "f1": _f1, "accuracy": _accuracy}


def _router(rows: Sequence[Row]) -> dict[str, float]:
    """``router.*`` over the rows with both routes, *complex* being positive."""
    pairs = [(row["gold_route"], row["route"]) for row in rows if row.get("gold_route") and row.get("route")]
    if not pairs:
        return {}
    figures = _two_by_two([(gold == "complex", said == "complex") for gold, said in pairs])
    counts = {f"{gold} as {said}": float(pairs.count((gold, said))) for gold in _ROUTES for said in _ROUTES}
    return {f"router.{name}": value for name, value in {"n": float(len(pairs)), **figures, **counts}.items()}


_ROUTES = ("simple", "complex")


def _classifier(rows: Sequence[Row]) -> dict[str, float]:
    """Accuracy, precision, recall, F1, macro F1 and the expected calibration error (ten equal bins, Guo et al. 2017)."""
    pairs = [(bool(row["label"]), bool(row["predicted"])) for row in rows]
    swapped = _two_by_two([(not label, not said) for label, said in pairs])
    found = {"n": float(len(rows)), **_two_by_two(pairs)}
    found["macro_f1"] = (found["f1"] + swapped["f1"]) / 2
    probabilities = np.array([value for row in rows if (value := number(row.get("probability"))) is not None])
    if len(probabilities) == len(rows):
        labels = np.array([float(label) for label, _ in pairs])
        bins = np.minimum((probabilities * 10).astype(int), 9)
        gaps = [abs((labels - probabilities)[bins == number_].sum()) for number_ in range(10)]
        found["ece"] = float(sum(gaps) / len(rows))
    return found


def _two_by_two(pairs: Sequence[tuple[bool, bool]]) -> dict[str, float]:
    said_and_true = sum(true and said for true, said in pairs)
    said, true = sum(said for _, said in pairs), sum(true for true, _ in pairs)
    precision = said_and_true / said if said else 0.0
    recall = said_and_true / true if true else 0.0
    return {
        "accuracy": sum(true_ == said_ for true_, said_ in pairs) / len(pairs),
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
    }


def differences(run: Run, tolerance: float = 1e-3) -> dict[str, list[tuple[str, float, float]]]:
    """Scores of rows that are not what the row itself gives: by score, ``(id, written, recomputed)``.

    A score that is written as no number where one follows from the row counts, its value being NaN.
    """
    found: dict[str, list[tuple[str, float, float]]] = {}
    for row in run.rows:
        for name, again in recomputed(row).items():
            written = number(row_scores(row)[name])
            if written is None or abs(written - again) > tolerance:
                entry = (str(row.get("id")), float("nan") if written is None else written, again)
                found.setdefault(name, []).append(entry)
    return found


def summary_differences(run: Run, tolerance: float = 2e-3) -> dict[str, tuple[float, float]]:
    """Figures of the summary that are not what the rows give: by dotted name, ``(written, recomputed)``."""
    written = dict(_flat_numbers(run.summary))
    again = recomputed_summary(run)
    return {
        name: (written[name], value)
        for name, value in again.items()
        if name in written and abs(written[name] - value) > max(tolerance, tolerance * abs(value))
    }


def _flat_numbers(summary: Mapping[str, Any]) -> list[tuple[str, float]]:
    return [(name, value) for name, inner in flat(summary) if (value := number(inner)) is not None]
