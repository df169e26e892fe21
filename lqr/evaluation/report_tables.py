"""The tables of a report as plain values: which figures stand in which cell, and which of them are struck.

It knows runs and findings, and nothing of Markdown, HTML or CSV.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lqr.evaluation.integrity_findings import Finding
from lqr.evaluation.report_cells import Cell, RunCells, Table, percent, plain, text
from lqr.evaluation.report_compared import comparison_table, paper_table
from lqr.evaluation.report_curves import risk_coverage
from lqr.evaluation.report_results import Run, flat, number

RETRIEVAL = ("recall@1", "recall@2", "recall@3", "recall@5", "recall@10", "all_gold@5", "mrr")
RAGAS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall")
CLASSIFIER = ("accuracy", "precision", "recall", "f1", "macro_f1", "ece")
_COUNTS = ("simple as simple", "simple as complex", "complex as simple", "complex as complex")


def tables(runs: Sequence[Run], findings: Sequence[Finding]) -> list[Table]:
    """Every table that the runs fill, in the order of a report. ``findings`` include those of the comparisons."""
    made = [
        paper_table(runs, findings),
        _answers(runs, findings),
        _retrieval(runs, findings),
        comparison_table(runs, findings),
        _router(runs, findings),
        _collections(runs, findings),
        _classifiers(runs, findings),
        _ragas(runs, findings),
        _confidence(runs, findings),
        _other(runs, findings),
        _origin(runs),
    ]
    return [table for table in made if table.rows]


def _answers(runs: Sequence[Run], findings: Sequence[Finding]) -> Table:
    rows = []
    for run in (run for run in runs if run.kind == "answers"):
        row = RunCells(run, findings)
        rows.append(
            (
                *row.names(),
                row.figure("n", plain),
                row.figure("f1", percent),
                row.interval("f1"),
                *(row.figure(name, percent) for name in ("em", "accuracy")),
                *(row.figure(name, plain) for name in ("steps", "seconds_p50", "tokens_read", "tokens_written")),
            )
        )
    columns = ("run", "set", "strategy", "generator", "n", "F1", "95 % interval", "EM", "accuracy", "steps", "seconds p50")
    return Table("answers", "Answers", (*columns, "tokens read", "written"), tuple(rows), right=4)


def _retrieval(runs: Sequence[Run], findings: Sequence[Finding]) -> Table:
    rows = []
    for run in runs:
        if any(name in run.summary for name in RETRIEVAL):
            row = RunCells(run, findings)
            n = row.figure("n_gold", plain)
            rows.append(
                (
                    *row.names()[:3],
                    n if n.text else row.figure("n", plain),
                    *(row.figure(name, percent) for name in RETRIEVAL),
                    row.interval("recall@5"),
                    row.figure("seconds_p50", plain),
                )
            )
    columns = ("run", "set", "strategy", "n", *RETRIEVAL, "95 % interval of recall@5", "seconds p50")
    note = "n counts the questions with gold passages; all_gold@5 is the share of those with each of them among the first five."
    return Table("retrieval", "Retrieval", columns, tuple(rows), note, right=3)


def _router(runs: Sequence[Run], findings: Sequence[Finding]) -> Table:
    rows = []
    for run in runs:
        if isinstance(run.summary.get("router"), Mapping) and run.summary["router"]:
            row = RunCells(run, findings)
            shares = (row.figure(f"router.{name}", percent) for name in ("accuracy", "precision", "recall", "f1"))
            numbers = (row.figure(f"router.{name}", plain) for name in _COUNTS)
            rows.append((text(run.name), row.figure("router.n", plain), *shares, *numbers))
    columns = ("run", "n", "accuracy", "precision", "recall", "F1", *_COUNTS)
    return Table("router", "Router", columns, tuple(rows), "Complex is positive; the annotated route comes first.")


def _collections(runs: Sequence[Run], findings: Sequence[Finding]) -> Table:
    names = ("key_facts", "facts", "facts_answered", "must_refuse_answered", "answerable_refused", "with_forbidden")
    rows = []
    for run in (run for run in runs if run.kind == "collection"):
        row = RunCells(run, findings)
        shares = (row.figure(name, percent) for name in (*names, "citations_retrieved"))
        rows.append((*row.names()[:2], row.figure("n", plain), *shares, row.figure("seconds_p50", plain)))
    columns = ("run", "collection", "n", *(name.replace("_", " ") for name in names), "citations retrieved", "seconds p50")
    note = "facts counts a refusal as nothing said, facts answered leaves it out; citations retrieved says nothing of support."
    return Table("collections", "A collection's own questions", columns, tuple(rows), note, right=2)


def _classifiers(runs: Sequence[Run], findings: Sequence[Finding]) -> Table:
    rows = []
    for run in (run for run in runs if run.kind == "classifier"):
        row = RunCells(run, findings)
        rows.append((text(run.name), row.figure("n", plain), *(row.figure(name, percent) for name in CLASSIFIER)))
    columns = ("classifier", "n", "accuracy", "precision", "recall", "F1", "macro F1", "ECE")
    return Table("classifiers", "Classifiers", columns, tuple(rows), "ECE is the expected calibration error over ten bins.")


def _ragas(runs: Sequence[Run], findings: Sequence[Finding]) -> Table:
    rows = []
    for run in runs:
        judged = run.summary.get("ragas")
        if not isinstance(judged, Mapping):
            continue
        row = RunCells(run, findings)
        for group in ("answered", "refused"):
            part = judged.get(group)
            if isinstance(part, Mapping) and part.get("n"):
                cells = [text(run.name), text(str(judged.get("judge") or "")), text(group), Cell(str(part["n"]), part["n"])]
                for name in RAGAS:
                    scored, mean = part.get(f"{name}_scored", 0), number(part.get(name))
                    shown = "none scored" if mean is None else f"{percent(mean)} ({scored} of {part['n']})"
                    cells.append(Cell(shown, mean, row.struck(name)))
                rows.append(tuple(cells))
    columns = ("run", "judge", "rows", "n", *(name.replace("_", " ") for name in RAGAS))
    note = "In brackets: how many of how many rows the judge could score. Refusals, neither good nor bad answers, stand apart."
    return Table("ragas", "RAGAS", columns, tuple(rows), note, right=3)


def _confidence(runs: Sequence[Run], findings: Sequence[Finding]) -> Table:
    rows = []
    for run in runs:
        if curve := risk_coverage(run):
            spoilt = tuple(f for f in findings if f.run == run.name and (f.strikes("aurc") or f.strikes("accuracy")))
            half = next(risk for coverage, risk in curve if coverage >= 0.5)
            area = sum(risk for _, risk in curve) / len(curve)
            rows.append(
                (
                    text(run.name),
                    Cell(str(len(curve)), len(curve)),
                    *(Cell(percent(value), value, spoilt) for value in (curve[-1][1], half, area)),
                )
            )
    columns = ("run", "n", "risk of all", "risk of the surer half", "area under risk and coverage")
    note = "Risk is the share that is wrong; a good confidence lowers it."
    return Table("confidence", "Confidence", columns, tuple(rows), note)


def _other(runs: Sequence[Run], findings: Sequence[Finding]) -> Table:
    rows = []
    for run in (run for run in runs if run.kind == "other"):
        row = RunCells(run, findings)
        for name, value in flat(run.summary):
            if number(value) is not None:
                rows.append((text(run.name), text(name), row.figure(name, lambda shown: f"{shown:.4g}")))
            elif isinstance(value, str):
                rows.append((text(run.name), text(name), text(value)))
    return Table("other", "Other results", ("run", "figure", "value"), tuple(rows), right=2)


def _origin(runs: Sequence[Run]) -> Table:
    rows = []
    for run in runs:
        values: tuple[Any, ...] = (run.file, run.date, run.seed, len(run.rows), run.split, run.versions.get("commit"))
        code = str(run.versions.get("code") or "")[:12]
        rows.append((text(run.name), *(text("" if value is None else str(value)) for value in (*values, code))))
    columns = ("run", "file", "date", "seed", "rows", "split", "commit", "SHA-256 of the code")
    return Table("origin", "Where the figures come from", columns, tuple(rows), right=99)
