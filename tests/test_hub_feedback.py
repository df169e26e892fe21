"""Feedback: kept in a file, sent in batches, never with a key in it, and never in the way of a chat."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from hub_fixtures import hub_server
from hub_server import TOKEN, HubServer

from lqr.errors import HubError
from lqr.hub import feedback
from lqr.hub.feedback import Feedback, open_feedback
from lqr.settings import Settings

__all__ = ["hub_server"]


def lines(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def test_local_records_and_what_the_start_up_line_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=tmp_path, feedback="local")
    kept = open_feedback(settings)
    kept.record({"liked": True, "note": "羊"})
    kept.record({"liked": False})
    kept.close()
    kept.close()
    found = lines(tmp_path / "feedback")
    assert [entry["liked"] for entry in found] == [True, False]
    assert found[0]["note"] == "羊"
    assert found[0]["time"].endswith("+00:00")
    assert "kept there" in kept.reason
    monkeypatch.setenv("SPACE_ID", "me/lqr")
    assert "gone at the next restart" in open_feedback(settings).reason


def test_keys_are_taken_out_and_records_are_bounded(tmp_path: Path) -> None:
    kept = Feedback(tmp_path, reason="")
    kept.record({"note": f"my token {TOKEN} does not work"})
    assert TOKEN not in next(tmp_path.glob("*.jsonl")).read_text()
    with pytest.raises(ValueError, match="at most"):
        kept.record({"note": "x" * feedback.LARGEST})
    with pytest.raises((TypeError, ValueError)):
        kept.record({"note": object()})
    assert len(lines(tmp_path)) == 1


def test_what_a_full_disk_did_not_take_is_not_said_to_be_kept(tmp_path: Path) -> None:
    kept = Feedback(tmp_path / "folder", reason="")
    (tmp_path / "folder").rmdir()
    with pytest.raises(HubError, match="feedback not kept"):
        kept.record({"liked": True})


def test_batches_to_a_data_set(hub_server: HubServer, tmp_path: Path) -> None:
    kept = open_feedback(Settings(home=tmp_path, feedback="me/feedback"), every_minutes=60)
    for number in range(5):
        kept.record({"number": number})
    kept.close()
    repository = hub_server.repos["datasets/me/feedback"]
    assert repository.private
    files = hub_server.files("me/feedback", "dataset")
    (name,) = files
    assert name.startswith("data/")
    assert [json.loads(line)["number"] for line in files[name].decode().splitlines()] == list(range(5))
    assert len(repository.commits) <= 2  # in batches, not one for each


def test_a_hub_that_breaks_off_loses_nothing(hub_server: HubServer, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    kept = open_feedback(Settings(home=tmp_path, feedback="me/feedback"), every_minutes=60)
    kept.record({"number": 1})
    del hub_server.repos["datasets/me/feedback"]
    kept.close()
    assert "not sent" in caplog.text
    assert lines(tmp_path / "feedback")[0]["number"] == 1


def test_a_data_set_needs_a_name_and_a_token(hub_server: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(HubError, match="OWNER/NAME"):
        open_feedback(Settings(home=tmp_path, feedback="feedback"))
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(HubError, match="HF_TOKEN"):
        open_feedback(Settings(home=tmp_path, feedback="me/feedback"))
