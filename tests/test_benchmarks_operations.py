"""The benchmarks of operation that take too long for a test: that they find their questions, and the figures they print."""

from __future__ import annotations

from pathlib import Path

from benchmarks.load import _summary
from benchmarks.soak import first_questions

FOLDER = Path(__file__).resolve().parent.parent / "knowledge" / "agriculture"


def test_every_conversation_gives_its_first_question() -> None:
    questions = first_questions(FOLDER)
    assert len(questions) >= 200
    assert all(isinstance(question, str) and question.strip() for question in questions)


def test_waits_are_those_of_the_answered_and_the_slowest_person_is_told() -> None:
    rows = [{"person": n % 10, "ok": True, "mixed_up": n == 3, "seconds": float(n)} for n in range(20)]
    rows.append({"person": 3, "ok": False, "error": "busy", "seconds": 99.0})
    summary = _summary(rows, 21)
    assert (summary["asked"], summary["answered"], summary["mixed_up"], summary["failed"]) == (21, 20, 1, ["busy"])
    assert (summary["p50_wait_seconds"], summary["p95_wait_seconds"], summary["longest_wait_seconds"]) == (10.0, 19.0, 19.0)
