"""Cells and tables of a report as plain values, and how the figures of one run become cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lqr.evaluation.integrity_findings import Finding
from lqr.evaluation.report_results import Run, flat, number


@dataclass(frozen=True, slots=True)
class Cell:
    """A text as it is shown, the value behind it, and the findings that strike it."""

    text: str
    value: float | str | None = None
    struck: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """``name`` is fit for a file name; ``note`` stands under the table."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    right: int = 1  # from which column on cells are numbers


class RunCells:
    """Makes the cells of one run: each figure from its summary, struck where a finding says so."""

    def __init__(self, run: Run, findings: Sequence[Finding]) -> None:
        self.run, self._summary = run, dict(flat(run.summary))
        self._findings = [finding for finding in findings if finding.run == run.name]

    def figure(self, name: str, show: Callable[[float], str]) -> Cell:
        """The figure ``name`` (dotted) of the summary; an empty cell where it is no number."""
        value = number(self._summary.get(name))
        if value is None:
            return Cell("")
        return Cell(show(value), value, self.struck(name))

    def struck(self, name: str) -> tuple[Finding, ...]:
        """The findings that strike it."""
        return tuple(finding for finding in self._findings if finding.strikes(name))

    def interval(self, name: str) -> Cell:
        """Its interval in percent."""
        ends = self._summary.get(f"intervals.{name}")
        if not isinstance(ends, list) or len(ends) != 2 or None in map(number, ends):
            return Cell("")
        text = f"{percent(ends[0])} to {percent(ends[1])}"
        return Cell(text, text, self.struck(name))

    def names(self) -> tuple[Cell, ...]:
        """Run, set, strategy, generator."""
        return (text(self.run.name), text(self.run.dataset), text(self.run.strategy), text(self.run.generator))


def percent(value: float) -> str:
    """A share as a percentage with one decimal, without the sign."""
    return f"{100 * value:.1f}"


def text(value: str) -> Cell:
    """A cell of words."""
    return Cell(value, value)


def plain(value: float) -> str:
    """Three digits that count, and whole numbers from a thousand on."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
