"""Draws a report's plots as SVG texts. matplotlib comes with the extra ``train``; where it is missing the error says so.

It reads runs through ``report_curves`` and knows nothing of pages. Colours are those of Okabe & Ito, told apart by the
colour-blind too; marks differ as well.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lqr.errors import LqrError
from lqr.evaluation.integrity_findings import Finding
from lqr.evaluation.report_curves import calibration, confusion, recall_curve, risk_coverage
from lqr.evaluation.report_results import Run, number

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKS = "osD^vPX"
_MOST_LINES = 14  # more are not told apart by anyone


@dataclass(frozen=True, slots=True)
class Plot:
    """``svg`` is a whole SVG document; ``title`` says what it shows, for those who don't see it too."""

    name: str
    title: str
    svg: str


def plots(runs: Sequence[Run], findings: Sequence[Finding] = ()) -> list[Plot]:
    """Every plot that the runs fill; a run whose figure is struck by ``findings`` is marked so in its name.

    Raises:
        LqrError: matplotlib is not installed.
    """
    found: list[Plot] = []

    def name(run: Run, *figures: str) -> str:
        fails = any(finding.run == run.name and finding.strikes(figure) for finding in findings for figure in figures)
        return f"{run.name} (fails a check)" if fails else run.name

    for dataset in dict.fromkeys(run.dataset for run in runs if run.kind == "answers"):
        group = [run for run in runs if run.kind == "answers" and run.dataset == dataset and _place(run)]
        if group:
            found.append(_scatter(group, [name(run, "accuracy", "seconds_p50") for run in group], dataset))
    for dataset in dict.fromkeys(run.dataset for run in runs):
        group = [run for run in runs if run.dataset == dataset and run.kind != "classifier" and len(recall_curve(run)) > 1]
        if group:
            title = f"Recall at k, {dataset or 'no set named'}"
            curves = [(name(run, *_recalls(run)), recall_curve(run)) for run in group]
            found.append(_lines(f"recall-{len(found)}", title, curves, "passages (k)", "recall@k", markers=True))
    found += [_confusion(run, table) for run in runs if (table := confusion(run))][:_MOST_LINES]
    reliable = [
        (name(run, "probability"), [(p, share) for p, share, _ in bins]) for run in runs if len(bins := calibration(run)) > 1
    ]
    if reliable:
        found.append(
            _lines("calibration", "Calibration", reliable, "predicted probability", "share that is true", markers=True, even=True)
        )
    risks = [(name(run, "accuracy", "aurc"), curve) for run in runs if (curve := risk_coverage(run))]
    if risks:
        found.append(_lines("risk-coverage", "Risk and coverage", risks, "coverage, surest first", "risk (share wrong)"))
    return found


def _recalls(run: Run) -> list[str]:
    return [name for name in run.score_names() if name.startswith("recall@")]


def _place(run: Run) -> tuple[float, float] | None:
    seconds, right = number(run.summary.get("seconds_p50")), number(run.summary.get("accuracy"))
    return None if seconds is None or right is None else (seconds, right)


def _scatter(runs: Sequence[Run], names: Sequence[str], dataset: str) -> Plot:
    def draw(axes: Any) -> None:
        for place, (run, name) in enumerate(zip(runs[:_MOST_LINES], names, strict=False)):
            point = _place(run)
            assert point is not None  # see plots()
            label = f"{name}: {run.strategy} {run.generator}"
            axes.scatter(*point, color=_COLOURS[place % 7], marker=_MARKS[place % 7], label=_shown(label), s=45)
        axes.set_xlabel("seconds a question, median")
        axes.set_ylabel("accuracy")
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1)

    return _plot(f"accuracy-time-{dataset or 'set'}", f"Accuracy against time, {dataset or 'no set named'}", draw)


def _lines(
    name: str,
    title: str,
    curves: Sequence[tuple[str, Sequence[tuple[float, float]]]],
    x: str,
    y: str,
    *,
    markers: bool = False,
    even: bool = False,
) -> Plot:
    def draw(axes: Any) -> None:
        if even:
            axes.plot((0, 1), (0, 1), color="#888888", linestyle=":", label="as it should be")
        for place, (label, points) in enumerate(curves[:_MOST_LINES]):
            style = {"marker": _MARKS[place % 7], "markersize": 4} if markers else {}
            dash = "-" if place < 7 else "--"
            axes.plot(*zip(*points, strict=True), color=_COLOURS[place % 7], label=_shown(label), linestyle=dash, **style)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.set_ylim(0, 1)

    return _plot(name, title, draw)


def _confusion(run: Run, table: Sequence[Sequence[int]]) -> Plot:
    def draw(axes: Any) -> None:
        axes.imshow(table, cmap="Blues", vmin=0)
        most = max(map(max, table))
        for row in range(2):
            for column in range(2):
                colour = "white" if table[row][column] * 2 > most else "black"
                axes.text(column, row, str(table[row][column]), ha="center", va="center", color=colour)
        names = ("0", "1") if run.kind == "classifier" else ("simple", "complex")
        axes.set_xticks((0, 1), names)
        axes.set_yticks((0, 1), names)
        axes.set_xlabel("chosen")
        axes.set_ylabel("annotated")

    what = "Classifier" if run.kind == "classifier" else "Router"
    return _plot(f"confusion-{run.name}", f"{what}: annotated against chosen, {run.name}", draw, size=(4.2, 3.8), grid=False)


def _plot(
    name: str, title: str, draw: Callable[[Any], None], *, size: tuple[float, float] = (6.4, 4.2), grid: bool = True
) -> Plot:
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise LqrError(f"{error.name} is not installed; run pip install -e '.[train]' for the plots") from error
    with mpl.rc_context({"svg.hashsalt": name, "font.size": 9}):  # the same plot is the same file
        figure = Figure(figsize=size, layout="constrained")  # without pyplot: it keeps figures in a global list
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        draw(axes)
        axes.set_title(_shown(title), fontsize=10)
        if grid:
            axes.grid(alpha=0.3)
            axes.legend(fontsize=7)
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return Plot(name, title, out.getvalue().decode("utf-8"))


def _shown(label: str, most: int = 60) -> str:
    """A label that matplotlib takes as plain text: no mathematics, and not hidden by a leading underscore."""
    short = label if len(label) <= most else f"{label[: most - 1]}…"
    return short.replace("$", r"\$").lstrip("_")
