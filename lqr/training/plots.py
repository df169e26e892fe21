"""Draws what a training did: curves and a confusion matrix, as PNG files.

matplotlib comes with the extra ``train``; where it is missing the error says so. Knows nothing of models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lqr.errors import LqrError


def curves(history: Sequence[Mapping[str, float]], path: Path) -> None:
    """Loss in training and on the held-out rows, and held-out accuracy, over the epochs.

    Args:
        history: the Trainer's log: entries with ``epoch`` and any of ``loss``, ``eval_loss``, ``eval_accuracy``.

    Raises:
        LqrError: matplotlib is not installed.
    """
    figure, axes = _figure(6.4, 4.0)
    for key, label in (("loss", "training loss"), ("eval_loss", "held-out loss"), ("eval_accuracy", "held-out accuracy")):
        points = [(entry["epoch"], entry[key]) for entry in history if key in entry and "epoch" in entry]
        if points:
            axes.plot(*zip(*points, strict=True), label=label, marker="o" if key != "loss" else None, markersize=3)
    axes.set_xlabel("epoch")
    axes.set_ylim(bottom=0)
    axes.legend()
    axes.grid(alpha=0.3)
    _save(figure, path)


def confusion(labels: Sequence[int], predicted: Sequence[int], names: tuple[str, str], path: Path) -> None:
    """The two-by-two table of true (rows) and predicted (columns) classes; ``names`` are those of 0 and 1.

    Raises:
        LqrError: matplotlib is not installed.
        ValueError: the two sequences differ in length.
    """
    table = confusion_table(labels, predicted)
    figure, axes = _figure(4.2, 3.8)
    axes.imshow(table, cmap="Blues")
    for row in range(2):
        for column in range(2):
            dark = table[row][column] * 2 > max(map(max, table))
            axes.text(column, row, table[row][column], ha="center", va="center", color="white" if dark else "black")
    axes.set_xticks((0, 1), names)
    axes.set_yticks((0, 1), names)
    axes.set_xlabel("predicted")
    axes.set_ylabel("true")
    _save(figure, path)


def confusion_table(labels: Sequence[int], predicted: Sequence[int]) -> list[list[int]]:
    """Counts by ``[true][predicted]``."""
    table = [[0, 0], [0, 0]]
    for label, said in zip(labels, predicted, strict=True):
        table[int(label)][int(said)] += 1
    return table


def _figure(width: float, height: float) -> tuple[Any, Any]:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise LqrError(f"{error.name} is not installed; run pip install -e '.[train]' for the plots") from error
    # without pyplot: it keeps figures in a global list and may open a window
    figure = Figure(figsize=(width, height), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})  # the same picture is the same file
