"""The tables in which runs stand beside one another: paired tests between strategies, and ours beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence

from lqr.errors import ReadError
from lqr.evaluation.integrity_comparable import baseline, comparable, groups, pair_name
from lqr.evaluation.integrity_findings import Finding
from lqr.evaluation.report_cells import Cell, RunCells, Table, percent, plain, text
from lqr.evaluation.report_results import Run, number
from lqr.evaluation.significance import compare

# Huang et al. 2024 (doi 10.3390/app142311014), its LQR: F1 and accuracy in percent.
PAPER = {"hotpotqa": (69.96, 53.80), "musique": (41.97, 26.55), "2wikimultihopqa": (54.65, 37.60)}
PAPER_EFFORT = ("3.4 to 3.9", "3.9 to 4.5")  # steps, and time over a single step's
CAVEAT = (
    "The paper's figures stand beside ours for orientation only: corpora, splits and model differ (these runs search other and "
    "smaller corpora, with another generator), so the two are not comparable."
)
METRICS = {"answers": ("f1", "em", "accuracy"), "retrieval": ("recall@5", "all_gold@5"), "collection": ("facts", "recall@5")}


def comparison_findings(runs: Sequence[Run]) -> list[Finding]:
    """What is wrong with the comparisons that the report makes."""
    return [finding for a, b in pairs(runs) for finding in comparable(a, b)]


def pairs(runs: Sequence[Run]) -> list[tuple[Run, Run]]:
    """Baseline and run of every comparison."""
    return [(a, run) for group in groups(runs) for run in group if (a := baseline(run, group)) is not None]


def paper_table(runs: Sequence[Run], findings: Sequence[Finding]) -> Table:
    """Our runs of the paper's sets beside its figures."""
    rows = []
    for run in runs:
        if run.kind != "answers" or run.dataset not in PAPER or run.strategy not in ("lqr", "single"):
            continue
        row, (f1, accuracy) = RunCells(run, findings), PAPER[run.dataset]
        single = [other for other in runs if other.strategy == "single" and pair_name(other, run) in _paired(runs)]
        own, base = number(run.summary.get("seconds_p50")), number(single[0].summary.get("seconds_p50")) if single else None
        ratio = Cell("")
        if own is not None and base:
            spoilt = [f for f in findings if f.run == pair_name(single[0], run) and f.strikes("time_ratio")]
            ratio = Cell(f"{own / base:.2f}", own / base, (*row.struck("seconds_p50"), *spoilt))
        layered = run.strategy == "lqr"
        rows.append(
            (
                text(run.dataset),
                *row.names()[2:],
                row.figure("n", plain),
                row.figure("f1", percent),
                Cell(f"{f1:.2f}", f1) if layered else Cell(""),
                row.figure("accuracy", percent),
                Cell(f"{accuracy:.2f}", accuracy) if layered else Cell(""),
                row.figure("steps", plain),
                text(PAPER_EFFORT[0] if layered else ""),
                ratio,
                text(PAPER_EFFORT[1] if layered else ""),
            )
        )
    columns = ("set", "strategy", "generator", "n", "F1", "paper F1", "accuracy", "paper accuracy", "steps", "paper steps")
    return Table("paper", "Beside the paper", (*columns, "time / single", "paper time / single"), tuple(rows), CAVEAT, right=3)


def _paired(runs: Sequence[Run]) -> set[str]:
    return {pair_name(a, b) for a, b in pairs(runs)}


def comparison_table(runs: Sequence[Run], findings: Sequence[Finding]) -> Table:
    """Every comparison of :func:`pairs`, by the metrics of its kind."""
    rows = []
    for a, b in pairs(runs):
        for metric in METRICS[b.kind]:
            try:
                made = compare({"rows": a.rows}, {"rows": b.rows}, metric)
            except (ReadError, KeyError, ValueError, TypeError):  # no shared question with this score: nothing to compare
                continue
            own = [f for f in findings if f.run == pair_name(a, b)]
            spoilt = [f for f in findings if f.run in (a.name, b.name) and f.strikes(metric)]
            struck = (*spoilt, *(f for f in own if f.strikes(metric)))
            timed = (*(f for f in own if f.strikes("time_ratio")),)
            rows.append(
                (
                    text(b.name),
                    text(a.name),
                    text(metric),
                    Cell(str(made.n), made.n),
                    Cell(f"{100 * made.difference:+.1f}", made.difference, struck),
                    Cell(f"{100 * made.low:+.1f} to {100 * made.high:+.1f}", None, struck),
                    Cell(f"{made.p_value:.4f}", made.p_value, struck),
                    Cell(f"{made.wins} / {made.losses}", None, struck),
                    Cell("" if made.time_ratio is None else f"{made.time_ratio:.2f}", made.time_ratio, timed),
                )
            )
    columns = ("run", "against", "metric", "n", "difference", "95 % interval", "p", "better / worse", "time ratio")
    note = (
        "On the questions that both runs hold, in points of 100. The interval is a paired bootstrap over questions, p a "
        "two-sided randomisation test; neither is corrected for the number of comparisons."
    )
    return Table("comparisons", "Comparisons", columns, tuple(rows), note, right=3)
