"""Conversations kept in the browser: found, renamed, deleted, saved to a file and opened from one; thumbs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_chat_page import FIRST, ask, finished
from ui_fakes import HOSTILE

pytestmark = pytest.mark.browser


def drawer(page: Any) -> Any:
    if not page.locator(".drawer").is_visible():
        page.get_by_role("button", name="Conversations").click()
        page.locator(".drawer").wait_for()
    return page.locator(".drawer")


def new(page: Any) -> None:
    page.get_by_role("button", name="New conversation").click()
    page.wait_for_selector(".welcome")


def titles(page: Any) -> list[str]:
    return [title.strip() for title in drawer(page).locator(".title").all_inner_texts()]


def test_conversations_are_found_renamed_shown_and_deleted(visit: Any) -> None:
    page = visit()
    assert "None yet." in drawer(page).inner_text()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "open-drawer"
    ask(page, FIRST)
    new(page)
    ask(page, f"hostile {HOSTILE[:60]}")
    new(page)
    assert titles(page)[0].startswith("hostile <script>window.pwned=1</script>")
    assert titles(page)[1] == FIRST

    search = drawer(page).get_by_label("Search conversations")
    search.fill("COPPER in the liver")  # in the answer
    assert titles(page) == [FIRST]
    search.fill("unheard of")
    assert "No conversation holds these words." in drawer(page).inner_text()
    search.fill("")

    drawer(page).get_by_role("button", name=f"Rename: {FIRST}").click()
    page.keyboard.type("Mineral <b>mix</b>")
    page.keyboard.press("Enter")
    assert titles(page)[1] == "Mineral <b>mix</b>"
    drawer(page).get_by_text("Mineral <b>mix</b>").click()
    page.wait_for_selector(".exchange")
    assert page.locator(".said").inner_text() == FIRST
    ask(page, "And for lambs?")
    assert titles(page)[0] == "Mineral <b>mix</b>"  # the newest first, under its name

    gone = drawer(page).locator("[data-delete]").first
    gone.click()
    assert gone.inner_text() == "Delete for good"
    assert len(titles(page)) == 2
    gone.click()
    page.wait_for_selector(".welcome")
    assert len(titles(page)) == 1
    page.reload()
    page.wait_for_selector(".welcome")
    assert len(titles(page)) == 1
    assert page.evaluate("window.pwned") is None


def test_a_conversation_is_shared_as_a_file(visit: Any, tmp_path: Path) -> None:
    one = visit()
    ask(one, FIRST)
    with one.expect_download() as saved:
        drawer(one).get_by_role("button", name="File to share").click()
    file = tmp_path / "shared.json"
    saved.value.save_as(file)
    assert json.loads(file.read_text(encoding="utf-8"))["exchanges"][0]["question"] == FIRST
    with one.expect_download() as saved:
        drawer(one).get_by_role("button", name="Markdown").click()
    assert saved.value.suggested_filename.endswith(".md")
    assert "**[2] Copper poisoning in sheep › Signs**" in Path(saved.value.path()).read_text(encoding="utf-8")

    other = visit()
    drawer(other).locator("input[type=file]").set_input_files(file)
    other.wait_for_selector(".exchange")
    assert other.locator(".said").inner_text() == FIRST
    ask(other, "And for lambs?")
    assert "answer number 2" in other.locator(".exchange .answer").last.inner_text()
    assert titles(other) == [FIRST]
    bad = tmp_path / "bad.json"
    bad.write_text("{}", encoding="utf-8")
    drawer(other).locator("input[type=file]").set_input_files(bad)
    other.get_by_text("This file holds no conversation of this page.").wait_for()
    assert other.locator(".exchange").count() == 2


def test_paper_gets_the_answers_with_their_sources(visit: Any) -> None:
    page = visit()
    ask(page, FIRST)
    ask(page, "And for lambs?")
    page.emulate_media(media="print")
    assert page.locator(".sources:visible").count() == 2
    for hidden in ("#composer", "#open-drawer", ".tab-wrapper", ".thumbs"):
        assert not page.locator(hidden).first.is_visible(), hidden


def test_a_thumb_down_asks_why(visit: Any, recorded: list[dict[str, Any]]) -> None:
    page = visit()
    ask(page, FIRST)
    page.get_by_role("button", name="Bad answer").click()
    assert "kept by whoever runs this page" in page.locator(".why-bad").inner_text()
    page.get_by_label("The source does not say so").check()
    page.get_by_label("In your words").fill("it says <b>weeks</b>")
    page.get_by_role("button", name="Send", exact=True).click()
    page.wait_for_selector("[data-rating=down][aria-pressed=true]")
    assert recorded[-1]["reasons"] == ["source"]
    assert recorded[-1]["comment"] == "it says <b>weeks</b>"
    assert recorded[-1]["question"] == FIRST
    page.get_by_role("button", name="Good answer").click()
    page.wait_for_selector("[data-rating=up][aria-pressed=true]")
    assert recorded[-1]["rating"] == "up"


def test_a_right_to_left_question_is_shown_from_the_right(visit: Any) -> None:
    page = visit()
    ask(page, "هل النحاس خطر على الأغنام؟")
    finished(page)
    assert page.evaluate("getComputedStyle(document.querySelector('.said p')).direction") == "rtl"
    assert page.evaluate("getComputedStyle(document.querySelector('.answer p')).direction") == "ltr"
