"""The review page: each verdict goes to the file at once, undo takes it back, and what stands in a file is never markup."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lqr.training.review import LabelFile
from lqr.ui.review import BUTTONS, ReviewPage


def write(path: Path) -> LabelFile:
    said = [{"label": 0, "by": "model:m", "at": "2026-01-01T00:00:00+00:00", "reason": "<i>short</i>"}]
    rows: list[dict[str, Any]] = [
        {"question": "First <script>alert(1)</script>?", "labels": said, "label": 0},
        {"question": "Second?", "title": "A & B", "text": "Two <b>facts</b>."},
        {"question": "Third?", "labels": said, "label": 0},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return LabelFile.open(path)


@pytest.fixture
def file(tmp_path: Path) -> LabelFile:
    return write(tmp_path / "rows.jsonl")


def labels(file: LabelFile) -> list[int | None]:
    rows = [json.loads(line) for line in file.path.read_text(encoding="utf-8").split("\n") if line]
    return [row.get("label") if any(j["by"].startswith("person:") for j in row.get("labels", ())) else None for row in rows]


def test_accept_correct_and_undo(file: LabelFile) -> None:
    page = ReviewPage(file, "ann")
    standing = page.act(page.start(), "accept")
    assert labels(file) == [0, None, None]
    standing = page.act(standing, "yes")
    assert labels(file) == [0, 1, None]
    standing = page.act(standing, "undo")
    assert labels(file) == [0, None, None]
    assert standing.place == 1
    standing = page.act(page.act(standing, "no"), "yes")
    assert labels(file) == [0, 0, 1]
    assert standing.place is None
    assert "Nothing is left" in page.card(standing)
    assert "3 of 3 reviewed (100 %), 1 corrected" in page.card(standing)
    assert page.act(standing, "yes").place is None
    assert file.judgements(0)[-1].by == "person:ann"


def test_there_is_nothing_to_accept_without_a_model(file: LabelFile) -> None:
    page = ReviewPage(file)
    standing = page.act(page.act(page.start(), "yes"), "accept")
    assert (standing.place, labels(file)) == (1, [1, None, None])
    assert "press 1 or 0" in page.card(standing)


def test_what_is_skipped_comes_again_for_the_next_session(file: LabelFile) -> None:
    page = ReviewPage(file)
    standing = page.act(page.start(), "skip")
    assert standing.place == 1
    assert page.act(standing, "undo").note == "Nothing to undo."
    assert page.start().place == 0


def test_a_verdict_that_cannot_be_saved_is_said_and_asked_again(file: LabelFile, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ReviewPage(file)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    standing = page.act(page.start(), "yes")
    assert standing.place == 0
    assert "Not saved" in page.card(standing)


def test_words_of_the_file_are_escaped(file: LabelFile) -> None:
    page = ReviewPage(file)
    first = page.card(page.start())
    second = page.card(page.act(page.start(), "yes"))
    assert "<script" not in first
    assert "<i>short" not in first
    assert "&lt;script&gt;" in first
    assert "A &amp; B" in second
    assert "<b>facts" not in second


@pytest.fixture
def served(file: LabelFile) -> Iterator[str]:
    blocks = ReviewPage(file, "ann").build()
    _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", ssr_mode=False)
    yield url
    blocks.close()


def test_the_served_page_keeps_each_session_apart(file: LabelFile, served: str) -> None:
    from gradio_client import Client

    ann, ben = (Client(served, verbose=False, download_files=False) for _ in range(2))
    assert "First" in ann.predict(api_name="/open")
    assert "First" in ben.predict(api_name="/open")
    assert "Second" in ann.predict(api_name="/yes")
    assert "Second" in ben.predict(api_name="/skip")
    assert "Third" in ben.predict(api_name="/no")
    assert labels(file) == [1, 0, None]
    assert "Second" in ben.predict(api_name="/undo")
    assert labels(file) == [1, None, None]
    for client in (ann, ben):
        client.close()


def test_every_key_of_the_script_has_its_button() -> None:
    from lqr.ui.review import KEYS

    assert all(f'"{action}"' in KEYS for action, _ in BUTTONS)
