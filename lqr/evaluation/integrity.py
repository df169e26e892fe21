"""Can the figures be trusted? Checks of result files, each a small function that returns what it found.

A :class:`Finding` that names figures strikes them: the report prints them struck through, with the reason. One that names none
is a note. What can't be checked for want of data is said too. The checks know rows and settings, not what made them; the
story behind the first is a citation score that was 0.85 for 103 of 110 rows and stood in a report as a result.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lqr.evaluation.integrity_findings import ALL, Finding, few, strike
from lqr.evaluation.integrity_leaks import Asked, answers_given_away, train_leaks
from lqr.evaluation.integrity_recomputed import differences, recomputed, summary_differences
from lqr.evaluation.report_results import Row, Run, number, row_scores

MOST = 0.9  # share of rows with one value from which a scorer counts as constant
FEWEST = 10  # rows below which one value for all says nothing
UNSCORED = 0.1  # share of rows without a number from which the mean of the others is struck
UNRELATED = 0.1  # correlation with support below which a citation score measures something else
FEWEST_PAIRS = 30  # rows for a correlation

_NO_SCORES = frozenset("seconds cpu_seconds first_token_seconds steps turn label predicted hops position".split())
_ABOUT_SUPPORT = re.compile(r"cit(?:e|at)|ground|attribut|faithful", re.IGNORECASE)
_MARK = re.compile(r"\[\d+(?:\s*[,-]\s*\d+)*\]|【\d+】")
_SUPPORT = {"quoted": 1.0, "supported": 1.0, "partial": 0.5, "unsupported": 0.0}


def numeric_fields(row: Row) -> dict[str, float | None]:
    """What scorers said of a row: its ``scores``, and plain numbers beside them. None where a score is no finite number."""
    beside = {
        name: number(value)
        for name, value in row.items()
        if isinstance(value, float | int) and not isinstance(value, bool) and name not in _NO_SCORES
    }
    # a mapping holds the scores of several texts, such as those of a rewriting and its baselines: nothing to average here
    scores = {name: value for name, value in row_scores(row).items() if not isinstance(value, bool | dict)}
    return {**beside, **{name: number(value) for name, value in scores.items()}}


def constant_scores(run: Run) -> list[Finding]:
    """Scorers that give one value to most rows.

    A score that follows from the row (exact match, recall) may well be the same throughout, and is computed again anyway: of
    those, one that is 0 or 1 in every row is noted.
    """
    found = []
    for name, values in _by_score(run).items():
        given = [round(value, 6) for value in values if value is not None]
        if len(given) < FEWEST:
            continue
        value, count = Counter(given).most_common(1)[0]
        if count < MOST * len(given):
            continue
        if _follows(name, run):
            if value in (0.0, 1.0) and count == len(given) and _could_vary(name, run):
                reason = f"{name} is {value:g} in all {count} rows: right or wrong, it can't tell two runs apart"
                found.append(Finding("constant", run.name, reason))
            continue
        reason = f"{name} is {value:g} in {count} of {len(given)} rows: a value that hardly changes measures nothing"
        found.append(Finding("constant", run.name, reason, _figures_of(name)))
    if run.kind == "classifier" and len(run.rows) >= FEWEST and len({row["label"] for row in run.rows}) > 1:
        said = {row["predicted"] for row in run.rows}
        if len(said) == 1:
            reason = f"all {len(run.rows)} rows are predicted {said.pop()}: the accuracy is the share of that label"
            found.append(Finding("constant", run.name, reason, (ALL,)))
    return found


def shape_only(run: Run) -> list[Finding]:
    """Scores about citations that hang on the form of an answer alone, or not on how well it is supported."""
    found = []
    support = [_support(row) for row in run.rows]
    shapes = [_shape(row) for row in run.rows]
    for name, values in _by_score(run, booleans=True).items():
        if not _ABOUT_SUPPORT.search(name):
            continue
        figures = () if name == "cited_retrieved" else (name,)  # its name says that it looks at no support
        pairs = [(value, held) for value, held in zip(values, support, strict=True) if value is not None and held is not None]
        reason = _unrelated(name, pairs) or _shape_decides(name, list(zip(values, shapes, strict=True)))
        if reason:
            found.append(Finding("shape only", run.name, reason, figures))
    return found


def unscored(run: Run) -> list[Finding]:
    """Scores that are no number (NaN, null) in some rows, so that the mean covers the others only."""
    found = []
    for name, values in _by_score(run).items():
        missing = sum(value is None for value in values)
        if missing:
            reason = f"{name} is no number in {missing} of {len(values)} rows: the mean covers the other {len(values) - missing}"
            found.append(Finding("not scored", run.name, reason, (name,) if missing > UNSCORED * len(values) else ()))
    return found


def counts(run: Run) -> list[Finding]:
    """Rows that stand twice, are missing or are empty, and an ``n`` that is not theirs."""
    found = []
    ids = Counter(str(row["id"]) for row in run.rows if row.get("id") is not None)
    if twice := [name for name, times in ids.items() if times > 1]:
        found.append(strike(run, "duplicate ids", f"{len(twice)} ids stand more than once ({few(twice)})"))
    if nameless := sum(row.get("id") is None for row in run.rows):
        found.append(strike(run, "missing rows", f"{nameless} rows have no id, so nobody can pair or check them"))
    written = number(run.summary.get("n"))
    if written is not None and written != len(run.rows):
        found.append(strike(run, "n", f"the summary says n = {written:g}, the file holds {len(run.rows)} rows"))
    wanted = number(run.settings.get("questions"))
    if wanted is not None and run.kind in ("answers", "retrieval") and wanted > len(run.rows):
        found.append(strike(run, "missing rows", f"{wanted:g} questions were asked, {len(run.rows)} rows are there"))
    if run.kind == "answers":
        empty = [str(row.get("id")) for row in run.rows if not isinstance(row.get("prediction"), str) or not row_scores(row)]
        if empty:
            reason = f"{len(empty)} rows have no prediction or no scores ({few(empty)})"
            found.append(Finding("missing rows", run.name, reason, ("em", "f1", "accuracy")))
    if not run.rows:
        found.append(strike(run, "missing rows", "the file holds no rows: no figure can be checked"))
    return found


def recomputation(run: Run) -> list[Finding]:
    """Figures that come out otherwise when they are computed again from the rows, by code that shares nothing with the first."""
    found = []
    for name, wrong in differences(run).items():
        first, written, again = wrong[0]
        reason = f"{name} of {len(wrong)} rows is not what the row gives ({first}: written {written:.4g}, recomputed {again:.4g})"
        found.append(Finding("recomputed", run.name, reason, (name,)))
    for name, (written, again) in summary_differences(run).items():
        if name != "n":  # see counts
            reason = f"{name}: the summary says {written:.4g}, the rows give {again:.4g}"
            found.append(Finding("recomputed", run.name, reason, (name,)))
    return found


Check = Callable[[Run], list[Finding]]
CHECKS: Mapping[str, tuple[Check, str]] = {
    "constant": (constant_scores, "a scorer that gives one value to most rows"),
    "shape only": (shape_only, "a score of citations that does not look at support"),
    "not scored": (unscored, "scores that are no number"),
    "counts": (counts, "ids twice, missing rows, an n that is not theirs"),
    "recomputed": (recomputation, "figures that come out otherwise when computed again from the rows"),
    "answer given away": (answers_given_away, "the answer in the question, in a sub-question or in the prompt"),
}


def examine(run: Run, train: Sequence[Asked] = ()) -> list[Finding]:
    """All that the checks find in one run; each thing once."""
    found = [finding for check, _ in CHECKS.values() for finding in check(run)]
    return list(dict.fromkeys([*found, *train_leaks(run, train)]))


def struck(findings: Iterable[Finding], run: str, figure: str) -> list[Finding]:
    """The findings that strike ``figure`` of ``run``."""
    return [finding for finding in findings if finding.run == run and finding.strikes(figure)]


def _by_score(run: Run, *, booleans: bool = False) -> dict[str, list[float | None]]:
    """Scores by name, over the rows that have the key."""
    found: dict[str, list[float | None]] = {}
    present = [{**numeric_fields(row), **({} if not booleans else _booleans(row))} for row in run.rows]
    if booleans:  # the values stand beside other facts of their rows
        names = dict.fromkeys(name for row in present for name in row)
        return {name: [row.get(name) for row in present] for name in names}
    for row in present:
        for name, value in row.items():
            found.setdefault(name, []).append(value)
    return found


def _booleans(row: Row) -> dict[str, float | None]:
    both = {**row, **row_scores(row)}
    return {name: float(value) for name, value in both.items() if isinstance(value, bool) and name != "refused"}


def _follows(name: str, run: Run) -> bool:
    """Whether the score can be computed again from every row that has it."""
    held = [row for row in run.rows if name in row_scores(row)]
    return bool(held) and all(name in recomputed(row) for row in held)


def _could_vary(name: str, run: Run) -> bool:
    """False of ``all_gold@k`` where no question has as few as k gold passages."""
    kind, _, cutoff = name.partition("@")
    return kind != "all_gold" or any(len(row.get("supporting") or ()) <= int(cutoff) for row in run.rows)


def _figures_of(name: str) -> tuple[str, ...]:
    return ("probability", "ece", "auc", "aurc") if name == "probability" else (name,)


def _support(row: Row) -> float | None:
    """How well the claims of an answer are supported, 0 to 1, by those who checked them; None where nobody did."""
    claims = row.get("claims")
    if isinstance(claims, list) and claims:
        each = [_one_support(claim.get("support")) for claim in claims if isinstance(claim, Mapping)]
        known = [value for value in each if value is not None]
        return sum(known) / len(known) if known else None
    return _one_support(row.get("support", row.get("supported")))


def _one_support(value: Any) -> float | None:
    if isinstance(value, bool):
        return float(value)
    return _SUPPORT.get(value) if isinstance(value, str) else number(value)


def _shape(row: Row) -> tuple[int, bool]:
    text = row.get("prediction")
    return len(_MARK.findall(text)) if isinstance(text, str) else 0, bool(row.get("refused"))


def _unrelated(name: str, pairs: Sequence[tuple[float, float]]) -> str:
    if len(pairs) < FEWEST:
        return ""
    scores, support = (np.array(column) for column in zip(*pairs, strict=True))
    if support.std() < 0.1:  # nothing to go with
        return ""
    if scores.std() < 1e-9:
        varies = f"{support.min():g} to {support.max():g}"
        return f"{name} is {scores[0]:g} in all {len(pairs)} rows while their support varies ({varies})"
    together = float(np.corrcoef(scores, support)[0, 1])
    if len(pairs) >= FEWEST_PAIRS and abs(together) < UNRELATED:
        return f"{name} does not go with support (correlation {together:.2f} over {len(pairs)} rows)"
    return ""


def _shape_decides(name: str, pairs: Sequence[tuple[float | None, tuple[int, bool]]]) -> str:
    by_shape: dict[tuple[int, bool], list[float]] = {}
    for value, shape in pairs:
        if value is not None:
            by_shape.setdefault(shape, []).append(value)
    rows = sum(map(len, by_shape.values()))
    repeated = max(map(len, by_shape.values()), default=0) >= FEWEST and len(by_shape) <= rows / 3
    if rows < 2 * FEWEST or not repeated or any(max(values) - min(values) > 1e-9 for values in by_shape.values()):
        return ""
    if len({values[0] for values in by_shape.values()}) < 2:
        return ""  # one value for all: see constant_scores
    return f"{name} follows from the number of citation marks in all {rows} rows, whatever the text says"
