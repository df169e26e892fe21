"""What a check of measurement integrity says. A finding that names figures strikes them; one that names none is a note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lqr.evaluation.report_results import Run

ALL = "*"  # every figure of the run


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found in ``run``. ``figures`` are the names of figures that it strikes (``ALL``: every one); none: a note."""

    check: str
    run: str
    reason: str
    figures: tuple[str, ...] = ()

    def strikes(self, figure: str) -> bool:
        """Whether it makes ``figure`` (a dotted name of the summary) untrustworthy; a group's figure goes with the whole's."""
        leaf = figure.rpartition(".")[2] if figure.startswith("by_") else figure
        return ALL in self.figures or leaf in self.figures


def strike(run: Run, check: str, reason: str) -> Finding:
    """A finding that strikes every figure of ``run``."""
    return Finding(check, run.name, reason, (ALL,))


def few(names: Sequence[str], most: int = 3) -> str:
    """The first few of many names."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
