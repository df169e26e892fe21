"""Feedback is off unless it is asked for, and says nothing about who gave it."""

from __future__ import annotations

import json
from pathlib import Path

from ui_fakes import ScriptedPipeline

from lqr.settings import Settings
from lqr.ui import feedback


def test_it_is_off_by_default(tmp_path: Path) -> None:
    assert feedback.open_recorder(Settings.load(profile="cpu", home=tmp_path)) is None
    assert list(tmp_path.iterdir()) == []


def test_local_feedback_is_a_line_of_json_in_the_home_folder(tmp_path: Path) -> None:
    recorder = feedback.open_recorder(Settings.load(profile="cpu", home=tmp_path, feedback="local"))
    assert recorder is not None
    *_, answer = ScriptedPipeline(pause=0).stream("Is copper bad?", ())
    given = feedback.entry("q" * 9000, answer.to_dict(), "down", ["wrong"], "c" * 5000)  # type: ignore[union-attr]
    recorder.record(given)
    [file] = [path for path in tmp_path.rglob("*") if path.is_file()]
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert kept["rating"] == "down"
    assert len(kept["comment"]) == feedback.MAX_COMMENT
    assert len(kept["question"]) == feedback.MAX_TEXT
    assert set(kept) == {*given, "time"}
    assert not {"ip", "address", "session", "user"} & set(kept)
