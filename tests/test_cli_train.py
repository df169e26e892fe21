"""`lqr train`: arguments, refusals, and what it says on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from lqr.classifiers.support import WordSupport
from lqr.cli import main
from lqr.cli.train import KINDS, reporter
from lqr.training import support
from lqr.training.support_claims import LabelledClaim
from lqr.training.text_classifier import Progress


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "complexity"])
def test_options_of_complexity_are_refused_elsewhere(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", kind, "--data", str(tmp_path), "--out", str(tmp_path / "out"), "--adapter", "8"]) == 1
    assert "--adapter is for complexity only" in capsys.readouterr().err


def test_missing_data_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "complexity", "--data", str(tmp_path / "gone"), "--out", str(tmp_path / "out")]) == 1
    assert "gone is not a folder" in capsys.readouterr().err


def test_unknown_kind(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["train", "mood", "--data", "x", "--out", "y"])
    assert stopped.value.code == 2


def test_support_cannot_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for given in (["--resume"], ["--reader", "--resume"]):
        assert main(["train", "support", "--data", str(tmp_path), "--out", str(tmp_path / "out"), *given]) == 1
        assert "--resume" in capsys.readouterr().err
    assert main(["train", "reader", "--data", str(tmp_path), "--out", str(tmp_path / "out"), "--reader"]) == 1
    assert "--reader is for support only" in capsys.readouterr().err


def test_options_of_one_kind_are_refused_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for kind, option, told in (
        ("relevance", "--squad", "--squad is for reader and evidence only"),
        ("complexity", "--dropout", "--dropout is for reader and evidence and relevance only"),
    ):
        assert main(["train", kind, "--data", str(tmp_path), "--out", str(tmp_path / "out"), option, "0"]) == 1
        assert told in capsys.readouterr().err


def test_support_is_a_fit_to_signals_of_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        LabelledClaim(
            str(n), f"Ewes need {n} g.", f"Ewes need {n + 1 - n % 2} g.", bool(n % 2), ("REFUTES", "SUPPORTS")[n % 2], str(n)
        )
        for n in range(40)
    ]
    monkeypatch.setattr(support, "load_claims", lambda data, name: rows)
    assert main(["train", "support", "--data", str(tmp_path), "--out", str(tmp_path / "support")]) == 0
    assert "balanced_accuracy" in capsys.readouterr().out
    checker = WordSupport(tmp_path / "support")
    assert 0 < checker.partial <= checker.supported < 1


def test_progress_has_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    tell = reporter()
    tell(Progress(1, 100, 0.1, None, 600.0))
    tell(Progress(2, 100, 0.2, 0.5, 590.0))  # too soon after the first
    tell(Progress(100, 100, 1.0, 0.25, 0.0))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["step 1 of 100, epoch 0.10, 10.0 min left", "step 100 of 100, epoch 1.00, loss 0.250, 0.0 min left"]
