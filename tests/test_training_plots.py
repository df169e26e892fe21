"""Plots are PNG files with something on them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lqr.errors import LqrError
from lqr.training.plots import confusion, confusion_table, curves

PNG = b"\x89PNG\r\n\x1a\n"


def test_curves_and_matrix(tmp_path: Path) -> None:
    history = [
        {"epoch": 0.5, "loss": 0.6},
        {"epoch": 1.0, "eval_loss": 0.4, "eval_accuracy": 0.8},
        {"epoch": 2.0, "eval_loss": 0.3},
    ]
    curves(history, tmp_path / "a" / "curves.png")
    curves([], tmp_path / "empty.png")
    confusion([0, 1, 1], [0, 1, 0], ("simple", "complex"), tmp_path / "matrix.png")
    files = [tmp_path / "a" / "curves.png", tmp_path / "empty.png", tmp_path / "matrix.png"]
    assert all(path.read_bytes().startswith(PNG) for path in files)
    assert files[0].stat().st_size > files[1].stat().st_size


def test_table_by_true_and_predicted() -> None:
    assert confusion_table([0, 0, 1, 1, 1], [0, 1, 1, 1, 0]) == [[1, 1], [1, 2]]
    with pytest.raises(ValueError, match=r"shorter|longer"):
        confusion_table([0], [])


def test_missing_matplotlib_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(LqrError, match=r"\[train\]"):
        curves([], tmp_path / "x.png")
