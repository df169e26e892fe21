"""``lqr report``: from result files to a folder with report.md, report.html, and CSV, measurement integrity first.

It reads what ``lqr evaluate`` wrote, and measures nothing itself but what the integrity checks compute again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lqr.errors import LqrError
from lqr.evaluation.integrity import CHECKS, examine
from lqr.evaluation.integrity_leaks import Asked, read_training, training_files
from lqr.evaluation.report_compared import comparison_findings
from lqr.evaluation.report_pages import Report, csv_files, markdown, page
from lqr.evaluation.report_plots import plots
from lqr.evaluation.report_results import Run, load
from lqr.evaluation.report_tables import tables

TITLE = "Measured results"
_MORE_CHECKS = (
    ("train and test", "test questions that stand in training data"),
    ("settings differ", "compared runs that differ in more than what is compared"),
)


def build(runs: Sequence[Run], training: Sequence[Asked] = (), *, with_plots: bool = True) -> Report:
    """The report on ``runs``.

    Args:
        training: questions that something was trained on, to look for the tested ones among them.
        with_plots: False leaves the plots out, which need matplotlib.

    Raises:
        LqrError: a plot is wanted and matplotlib is not installed.
    """
    findings = [finding for run in runs for finding in examine(run, training)]
    findings += [finding for finding in comparison_findings(runs) if finding not in findings]
    unchecked = []
    asking = [run for run in runs if any(isinstance(row.get("question"), str) for row in run.rows)]
    if asking and not training:
        names = ", ".join(dict.fromkeys(run.dataset for run in asking if run.dataset)) or "no set"
        unchecked.append(f"whether test questions ({names}) stand in training data: give --data with these sets, or --train FILE")
    if blind := [run.name for run in runs if run.kind in ("classifier", "other") and run not in asking]:
        unchecked.append(f"whether test questions of {', '.join(blind)} stand in training data: the rows hold no questions")
    checks = (*((name, what) for name, (_, what) in CHECKS.items()), *_MORE_CHECKS)
    drawn = tuple(plots(runs, findings)) if with_plots else ()
    return Report(TITLE, tuple(tables(runs, findings)), drawn, tuple(findings), checks, tuple(unchecked))


def write(report: Report, runs: Sequence[Run], out: Path) -> list[Path]:
    """Write the report's files into ``out``, which is made where it is not there; returns them.

    Raises:
        LqrError: ``out`` can't be written.
    """
    made = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in (("report.md", markdown(report)), ("report.html", page(report)), *csv_files(report, runs)):
            made.append(out / name)
            made[-1].write_text(content, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise LqrError(f"{out}: {error.strerror or error}; give --out a folder that can be written") from error
    return made


def run(
    paths: Sequence[Path], out: Path, *, data: Path | None = None, train: Sequence[Path] = (), with_plots: bool = True
) -> Report:
    """Read ``paths``, write the report into ``out``, and return it.

    Args:
        data: folder of the public sets; the training files of the sets that are reported on are read.
        train: more files of training questions.

    Raises:
        ReadError: a file can't be read or is not what it should be.
        LqrError: matplotlib is missing, or ``out`` can't be written.
    """
    runs = load(paths)
    training = read_training([*(training_files(data, runs) if data else ()), *train])
    report = build(runs, training, with_plots=with_plots)
    write(report, runs, out)
    return report
