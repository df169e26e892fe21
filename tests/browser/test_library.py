"""Own documents, search and models in a real browser, over the real pipeline with a cheap embedder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from test_chat_page import ask

from lqr.app import build
from lqr.retrieval.fake import HashingEmbedder
from lqr.settings import Settings

pytestmark = pytest.mark.browser
QUESTION = "What is the code of the walnut barn?"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the whole page is served, as ``app.py`` builds it."""
    from lqr.ui import chat, theme

    root = tmp_path_factory.mktemp("library")
    (root / "knowledge" / "farm").mkdir(parents=True)
    (root / "knowledge" / "farm" / "salt.md").write_text(
        "# Salt\n\nA sheep needs about 9 g of salt each day.\n", encoding="utf-8"
    )
    (root / "models" / "thing").mkdir(parents=True)
    (root / "models" / "thing" / "README.md").write_text("# A thing\n\nMeasured **well**.\n", encoding="utf-8")
    settings = Settings(
        profile="cpu", home=root / "home", knowledge=root / "knowledge", collection="farm", models=root / "models"
    )
    application = build(settings, embedder=HashingEmbedder(256))
    with ExitStack() as opened:
        opened.callback(application.close)
        blocks = chat.build(application, opened)
        _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **theme.launch_options())
        yield url
        blocks.close()


def tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def add(page: Any, name: str, text: str) -> None:
    tab(page, "Documents")
    page.locator("#upload input[type=file]").set_input_files({"name": name, "mimeType": "text/markdown", "buffer": text.encode()})
    page.wait_for_selector(".progress [data-state=ready]")


def note(word: str) -> str:
    return f"# Barn\n\nThe code of the walnut barn is {word}.\n"


def last_answer(page: Any) -> str:
    return str(page.locator(".exchange .answer").last.inner_text())


def test_an_uploaded_fact_is_answered_and_a_removed_one_is_not(visit: Any) -> None:
    page = visit()
    add(page, "barn 🐑 <b>.md", note("4711-anna"))
    assert "barn 🐑" in page.locator(".uploads").inner_text()
    tab(page, "Chat")
    ask(page, QUESTION)
    assert "4711-anna" in last_answer(page)
    page.locator(".exchange.current .source .open button").first.click()
    page.wait_for_selector("#viewer .cited")
    tab(page, "Documents")
    page.get_by_role("button", name="Remove barn").click()
    page.wait_for_selector(".uploads", state="detached")
    tab(page, "Chat")
    page.get_by_role("button", name="New conversation").click()
    page.wait_for_selector(".welcome")
    ask(page, QUESTION)
    assert "4711-anna" not in last_answer(page)


def test_two_sessions_never_see_one_another_s_files(visit: Any) -> None:
    anna, bert = visit(), visit(width=390, height=800)
    add(anna, "same name.md", note("4711-anna"))
    add(bert, "same name.md", note("0815-bert"))
    for page, own, other in ((anna, "4711-anna", "0815-bert"), (bert, "0815-bert", "4711-anna")):
        tab(page, "Chat")
        ask(page, QUESTION)
        assert own in last_answer(page)
        assert other not in page.content()
    stranger = visit()
    ask(stranger, QUESTION)
    assert "4711-anna" not in stranger.content()
    assert "0815-bert" not in stranger.content()
    bert.reload()
    tab(bert, "Documents")
    bert.wait_for_selector("#library-lead .lead")
    assert bert.locator(".uploads").count() == 0  # a reload is a new session


def test_the_scope_decides_what_answers(visit: Any) -> None:
    page = visit()
    add(page, "barn.md", note("4711-anna"))
    page.get_by_label("The library only").check()
    page.wait_for_selector(".scopes[data-scope=library]")
    tab(page, "Chat")
    ask(page, QUESTION)
    assert "4711-anna" not in last_answer(page)


def test_search_shows_four_lists_and_models_their_cards(visit: Any) -> None:
    page = visit()
    tab(page, "Search")
    page.get_by_label("Search for").fill("salt for sheep")
    page.get_by_role("button", name="Search", exact=True).click()
    page.wait_for_selector(".columns section")
    assert page.locator(".columns section").count() == 4
    page.locator(".columns summary").first.click()
    assert "about 9 g of salt" in page.locator(".columns .passage").first.inner_text()
    tab(page, "Models")
    page.locator("#models summary").first.click()
    assert "Measured well" in page.locator("#models .card").inner_text()
