"""The running chart in a real browser: empty at first, drawn again whenever its tab is opened, readable without seeing it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from lqr.app import build
from lqr.retrieval.fake import HashingEmbedder
from lqr.service.recent import EVERY, Recent
from lqr.service.watch import watched
from lqr.settings import Settings
from lqr.types import Answer, Confidence, Evaluation, Trace

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Recent]]:
    """Where the watched page is served, and what its watch counts."""
    from lqr.ui import chat, theme

    root = tmp_path_factory.mktemp("running")
    (root / "knowledge" / "farm").mkdir(parents=True)
    (root / "knowledge" / "farm" / "salt.md").write_text("# Salt\n\nA sheep needs about 9 g of salt a day.\n", encoding="utf-8")
    settings = Settings(
        profile="cpu", home=root / "home", knowledge=root / "knowledge", collection="farm", models=root / "models"
    )
    with ExitStack() as opened:
        application = build(settings, embedder=HashingEmbedder(256))
        opened.callback(application.close)
        application, watch = watched(application)
        blocks = chat.build(application, opened)
        _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **theme.launch_options())
        yield url, watch.recent
        blocks.close()


@pytest.fixture
def address(served: tuple[str, Recent]) -> str:
    return served[0]


def count(recent: Recent, number: int, relevance: float) -> None:
    figures = Evaluation(1.0, relevance, quoted=3)
    for _ in range(number):
        recent.add(Answer("t", (), (), False, Confidence("rich", "why"), Trace("q"), evaluation=figures))


@pytest.mark.parametrize("width", [1280, 360])
def test_the_chart_appears_when_there_are_answers_and_fits_the_screen(
    visit: Any, served: tuple[str, Recent], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, recent = served
    monkeypatch.setattr(recent, "_total", 0)  # each width begins with nothing counted
    recent._points.clear()
    recent._window.clear()
    page = visit(width=width)

    def open_tab(name: str) -> None:
        page.locator(f"button[role=tab]:has-text('{name}'):visible").first.click()

    open_tab("Models")
    page.get_by_text(f"A chart appears here after {EVERY} questions; 0 have been asked").wait_for()
    open_tab("Chat")
    count(recent, 2 * EVERY, 0.8)
    open_tab("Models")
    chart = page.get_by_role("img", name="Answers of this server")
    chart.wait_for()
    assert page.locator("#running tbody tr").count() == 2
    assert "relevance 80\N{NO-BREAK SPACE}%" in page.locator("#running .latest").inner_text()
    box = chart.bounding_box()
    assert 0 <= box["x"] <= box["x"] + box["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
