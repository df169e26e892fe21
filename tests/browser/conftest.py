"""A page with the scripted pipeline, and a real Chromium that may only talk to this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from ui_fakes import ScriptedPipeline, application

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def pipeline() -> ScriptedPipeline:
    return ScriptedPipeline()


class Recorded(list[dict[str, Any]]):
    """Feedback, kept in a list."""

    def record(self, entry: Any) -> None:
        self.append(dict(entry))


@pytest.fixture(scope="session")
def recorded() -> Recorded:
    return Recorded()


@pytest.fixture(scope="session")
def address(pipeline: ScriptedPipeline, recorded: Recorded) -> Iterator[str]:
    """Where the page is served."""
    from lqr.ui import theme
    from lqr.ui.chat import ChatPage

    blocks = ChatPage(application(pipeline), recorder=recorded).build()
    _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **theme.launch_options())
    yield url
    blocks.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine (apt-get install chromium, or set CHROMIUM to one)")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install -e '.[dev]'")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any, address: str) -> Iterator[Any]:
    """``visit(width=..., ...)`` opens the page in a fresh profile; at the end, nothing may have complained or left."""
    contexts, complaints = [], []

    def open_page(width: int = 1280, height: int = 800, **options: Any) -> Any:
        context = chromium.new_context(viewport={"width": width, "height": height}, locale="en-GB", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)  # a busy machine is slow, not wrong
        page.on("console", lambda m: complaints.append(f"console: {m.text}") if m.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("request", lambda r: complaints.append(f"request: {r.url}") if not _local(r.url, address) else None)
        page.goto(address)
        page.wait_for_selector(".welcome, .exchange")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def _local(url: str, address: str) -> bool:
    return url.startswith((address, "data:", "blob:"))
