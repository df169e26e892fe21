"""Traces are off unless asked for, redacted, kept for some days, and never cost an answer."""

from __future__ import annotations

import json
import logging
import stat
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from lqr.service.traces import Traces
from lqr.types import Turn

NOW = datetime(2026, 11, 30, 12, tzinfo=timezone.utc)


def written(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]


def record(traces: Traces) -> None:
    history = [Turn("user", "I am ann@farm.example")]
    traces.record("r1", "My key is hf_abcdefghijkl, 羊?", history, "answered", {"text": "Call 020 7946 0958 now", "n": 1})


def test_off_writes_nothing(tmp_path: Path) -> None:
    record(Traces(tmp_path / "t", "off", 14))
    assert not (tmp_path / "t").exists()


def test_redacted_and_full(tmp_path: Path) -> None:
    record(Traces(tmp_path / "r", "redacted", 14))
    record(Traces(tmp_path / "f", "full", 14))
    (entry,) = written(tmp_path / "r")
    assert entry["question"] == "My key is [removed], 羊?"
    assert entry["history"] == [{"role": "user", "content": "I am [removed]"}]
    assert entry["answer"] == {"text": "Call [removed] now", "n": 1}
    (full,) = written(tmp_path / "f")
    assert full["answer"]["text"] == "Call 020 7946 0958 now"
    assert "hf_" not in full["question"]
    (path,) = (tmp_path / "r").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_old_days_are_deleted_and_other_files_stay(tmp_path: Path) -> None:
    now = [NOW]
    for name in ("2026-11-16.jsonl", "2026-11-17.jsonl", "notes.txt"):
        (tmp_path / name).write_text("{}\n")
    traces = Traces(tmp_path, "redacted", 14, clock=lambda: now[0])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["2026-11-17.jsonl", "notes.txt"]
    record(traces)
    now[0] += timedelta(days=1)
    record(traces)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["2026-11-30.jsonl", "2026-12-01.jsonl", "notes.txt"]


def test_a_disk_that_fails_costs_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    with caplog.at_level(logging.WARNING):
        record(Traces(tmp_path / "file" / "below", "full", 14))
    assert "could not be written" in caplog.text
