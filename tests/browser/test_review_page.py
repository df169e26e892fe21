"""The review page by keyboard alone, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lqr.training.review import LabelFile
from lqr.ui import theme
from lqr.ui.review import STYLE, ReviewPage

pytestmark = pytest.mark.browser


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    said = [{"label": 0, "by": "model:m", "at": "2026-01-01T00:00:00+00:00"}]
    path.write_text("".join(json.dumps({"question": f"Number {n}?", "labels": said}) + "\n" for n in range(4)), encoding="utf-8")
    return path


@pytest.fixture
def reviewing(path: Path) -> Iterator[str]:
    options = theme.launch_options()
    options["css"] += STYLE
    blocks = ReviewPage(LabelFile.open(path), "ann").build()
    _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **options)
    yield url
    blocks.close()


def labels(path: Path) -> list[list[int]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [[j["label"] for j in row["labels"] if j["by"] == "person:ann"] for row in rows]


def test_keys_label_accept_skip_and_undo(chromium: Any, reviewing: str, path: Path) -> None:
    page = chromium.new_page()
    page.set_default_timeout(120_000)
    page.goto(reviewing)

    def shown(number: int) -> None:
        page.get_by_text(f"Number {number}?", exact=True).wait_for()

    shown(0)
    page.keyboard.press("1")
    shown(1)
    page.keyboard.press(" ")
    shown(2)
    page.keyboard.press("u")
    shown(1)
    assert labels(path) == [[1], [], [], []]
    page.keyboard.press("ArrowRight")
    shown(2)
    page.keyboard.press("0")
    page.keyboard.press("0")  # pressed before the next row is there: it must not be judged unseen
    shown(3)
    assert labels(path) == [[1], [], [0], []]
    page.close()
