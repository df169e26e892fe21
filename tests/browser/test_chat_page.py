"""What a reader does, done in a real browser."""

from __future__ import annotations

import os
from typing import Any

import pytest
from ui_fakes import HOSTILE, ScriptedPipeline

pytestmark = pytest.mark.browser
FIRST = "Can I give my sheep the mineral mix made for cattle?"


def box(page: Any) -> Any:
    return page.get_by_label("Your question")


def ask(page: Any, text: str, *, wait: bool = True) -> None:
    before = page.locator(".exchange").count()
    box(page).fill(text)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_function("n => document.querySelectorAll('.exchange').length > n", arg=before)
    if wait:
        finished(page)


def finished(page: Any) -> None:
    page.wait_for_selector("body[data-answering='no'] .exchange:not(.writing)")


def test_a_question_and_a_follow_up_stream_and_cite(visit: Any, pipeline: ScriptedPipeline) -> None:
    page = visit()
    page.evaluate("""() => { window.sizes = []; new MutationObserver(() => {
        const n = document.querySelector('.writing .answer')?.textContent.length;
        if (n && n !== window.sizes.at(-1)) window.sizes.push(n);
    }).observe(document.querySelector('#log'), {childList: true, subtree: true, characterData: true}); }""")
    ask(page, FIRST)
    sizes = page.evaluate("window.sizes")
    assert len(sizes) >= 4
    assert sizes == sorted(sizes)
    assert page.locator(".exchange .answer").last.inner_text().startswith("No. Sheep should not")
    assert page.locator(".confidence").inner_text().startswith("Well covered")
    assert page.locator(".answer .doubt").inner_text() == "partly supported"
    assert box(page).input_value() == ""

    ask(page, "And for lambs?")
    assert page.locator(".exchange").count() == 2
    assert "answer number 2" in page.locator(".exchange .answer").last.inner_text()
    question, history = pipeline.asked[-1]
    assert question == "And for lambs?"
    assert [turn.role for turn in history] == ["user", "assistant"]
    page.get_by_role("button", name="How is copper poisoning treated?").click()
    page.wait_for_function("document.querySelectorAll('.exchange').length === 3")
    finished(page)
    assert pipeline.asked[-1][0] == "How is copper poisoning treated?"


def test_a_citation_leads_to_its_source_and_on_to_the_document(visit: Any) -> None:
    page = visit()
    ask(page, FIRST)
    page.get_by_role("link", name="Source 2").first.click()
    card = page.locator(".source.focused")
    assert card.get_attribute("id") == "s0-2"
    assert page.evaluate("document.activeElement.id") == "s0-2"
    assert "Sheep store copper" in card.locator("mark").first.inner_text()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.cite") == "2"

    for _ in range(2):  # the same place can be opened again
        page.locator("#s0-3 [data-open]").click()
        page.wait_for_selector("#viewer .cited")
        mark = page.locator("#viewer .cited mark")
        assert mark.inner_text().startswith("If several animals are weak")
        assert 56 < mark.bounding_box()["y"] < 800
        assert page.evaluate("document.querySelector('#viewer').scrollTop") > 100
        page.get_by_role("button", name="Back to the sources").click()
        assert not page.locator("#viewer").is_visible()
        assert page.evaluate("document.activeElement.dataset.open") == "3"


def test_the_way_to_the_answer_unfolds_and_can_be_corrected(visit: Any, pipeline: ScriptedPipeline) -> None:
    page = visit()
    ask(page, FIRST)
    ask(page, "And for lambs?")
    page.locator(".trace summary", has_text="How this was answered").last.click()
    way = page.locator(".exchange").last.locator(".way")
    for part in ("Two steps", "Is #1 safe for sheep?", "Passages left out (1)"):
        assert part in way.inner_text()
    assert "0.83" not in way.inner_text()
    way.get_by_text("The numbers behind it").click()
    for part in ("0.83", "0.12", "retrieve 0.11", "composer"):
        assert part in way.inner_text()
    way.get_by_label("Understood as").fill("How much copper may lambs get?")
    way.get_by_role("button", name="Ask this instead").click()
    page.wait_for_function("document.querySelector('.slot:last-child .said').innerText.includes('may lambs')")
    finished(page)
    assert page.locator(".exchange").count() == 2
    assert pipeline.asked[-1] == ("How much copper may lambs get?", ())


def stop_in_mid_answer(page: Any, typed: str = "") -> None:
    ask(page, "slow one", wait=False)
    page.wait_for_function("document.querySelector('.writing .answer')?.textContent.includes('word1')")
    box(page).fill(typed)
    page.get_by_role("button", name="Stop").click()


def test_stop_ends_the_pipeline_and_the_next_question_works(visit: Any, pipeline: ScriptedPipeline) -> None:
    page = visit()
    closed = pipeline.closed
    stop_in_mid_answer(page, "typed while it writes")
    page.get_by_text("Stopped before the end.", exact=True).first.wait_for()
    finished(page)
    assert page.locator("#status").inner_text() in ("Stopped before the end.", "")
    half = page.locator(".exchange .answer").inner_text()
    assert "word1" in half
    assert box(page).input_value() == "typed while it writes"
    page.wait_for_timeout(600)
    assert page.locator(".exchange .answer").inner_text() == half
    assert pipeline.closed == closed + 1
    ask(page, FIRST)
    assert page.locator(".exchange").count() == 2
    assert "answer number 2" in page.locator(".exchange .answer").last.inner_text()


def test_enter_right_after_stop_is_never_lost(visit: Any, pipeline: ScriptedPipeline) -> None:
    page = visit()
    for turn in range(int(os.environ.get("STOP_TURNS", "4"))):
        stop_in_mid_answer(page, f"question {turn}")
        page.keyboard.press("Enter")  # the answer to Stop is still on its way
        page.wait_for_function("n => document.querySelectorAll('.exchange').length === n", arg=2)
        page.wait_for_function("t => [...document.querySelectorAll('.said')].at(-1).innerText === t", arg=f"question {turn}")
        finished(page)
        assert pipeline.asked[-1][0] == f"question {turn}"
        assert page.locator(".exchange").first.locator(".notice").inner_text() == "Stopped before the end."
        assert box(page).input_value() == ""
        page.get_by_role("button", name="New conversation").click()
        page.wait_for_selector(".welcome")


def test_enter_on_an_empty_box_asks_nothing(visit: Any, pipeline: ScriptedPipeline) -> None:
    page = visit()
    asked = len(pipeline.asked)
    for text in ("", "   "):
        box(page).fill(text)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_timeout(500)
    assert page.locator(".exchange").count() == 0
    assert len(pipeline.asked) == asked


def test_typing_goes_on_while_an_answer_streams(visit: Any) -> None:
    page = visit()
    ask(page, "slow one", wait=False)
    page.wait_for_function("document.querySelector('.writing .answer')?.textContent.includes('word1')")
    text = "a question typed while the answer streams"
    box(page).press_sequentially(text, delay=5)
    assert box(page).input_value() == text
    page.keyboard.press("Enter")  # not yet: one at a time
    assert box(page).input_value() == text
    page.get_by_role("button", name="Stop").click()
    finished(page)
    assert box(page).input_value() == text


def test_retry_and_edit_replace_the_last_answer(visit: Any, pipeline: ScriptedPipeline) -> None:
    page = visit()
    ask(page, FIRST)
    asked = len(pipeline.asked)
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector(".exchange.writing")
    finished(page)
    assert pipeline.asked[asked][0] == FIRST
    page.get_by_role("button", name="Edit").click()
    assert page.get_by_text("You are editing your last question").is_visible()
    page.wait_for_function("q => document.querySelector('#question textarea').value === q", arg=FIRST)
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_function("document.querySelector('#question textarea').value === ''")
    page.get_by_role("button", name="Edit").click()
    page.wait_for_function("q => document.querySelector('#question textarea').value === q", arg=FIRST)
    box(page).fill("Another question")
    page.keyboard.press("Enter")
    page.wait_for_selector(".exchange.writing")
    finished(page)
    assert page.locator(".exchange").count() == 1
    assert page.locator(".said").inner_text() == "Another question"


def test_a_reload_keeps_the_conversation_with_its_sources(visit: Any) -> None:
    page = visit()
    ask(page, FIRST)
    before = page.locator("#log").inner_html()
    page.wait_for_function("Object.keys(localStorage).length > 0")
    page.reload()
    page.wait_for_selector(".exchange")
    assert page.locator("#log").inner_html() == before
    page.get_by_role("link", name="Source 1").first.click()
    assert page.locator(".source.focused").get_attribute("id") == "s0-1"
    ask(page, "And for lambs?")
    assert "answer number 2" in page.locator(".exchange .answer").last.inner_text()


def test_two_readers_do_not_see_each_other(visit: Any) -> None:
    one, two = visit(), visit()
    ask(one, "slow for one", wait=False)
    ask(two, "nothing for two")
    assert "slow for one" not in two.content()
    assert "do not answer" in two.locator(".answer").inner_text()
    assert "This answer cites no document." in two.locator(".sources").inner_text()
    one.get_by_role("button", name="Stop").click()
    one.locator(".notice").wait_for()
    assert "for two" not in one.content()


def test_hostile_text_is_only_text(visit: Any) -> None:
    page = visit()
    ask(page, f"hostile {HOSTILE}")
    page.locator("summary", has_text="How this").click()
    assert "<script>window.pwned=1</script>" in page.locator(".standalone textarea").input_value()
    page.locator(".source [data-open]").click()
    page.wait_for_selector("#viewer .document")
    for place in (".said", ".answer", ".source blockquote", ".suggestions"):
        text = page.locator(place).first.inner_text()
        assert "<script>window.pwned=1</script>" in text
        assert "pH <5.5 costs $3-$5/ha ${window.pwned=1} {{value}}" in text
        assert "\u202e" not in text
    ours = "#log :is(script, img, iframe, math, .katex), #viewer :is(script, img, iframe, .katex), a[href^='javascript']"
    assert page.locator(ours).count() == 0
    page.reload()
    page.wait_for_selector(".exchange")
    page.locator(".suggestions button").click()  # the hostile suggestion, asked
    page.wait_for_function("document.querySelectorAll('.exchange').length === 2")
    finished(page)
    assert page.evaluate("window.pwned") is None


def test_a_failure_is_polite_and_the_conversation_goes_on(visit: Any) -> None:
    page = visit()
    ask(page, "fail please")
    notice = page.get_by_role("alert").inner_text()
    assert "try again" in notice
    assert "/srv" not in page.content()
    ask(page, FIRST)
    assert page.locator(".exchange").last.locator(".answer .cite").count() == 5


def test_a_phone_has_the_sources_under_the_answer(visit: Any) -> None:
    page = visit(390, 844, has_touch=True, is_mobile=True, color_scheme="dark")
    ask(page, FIRST)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    answer, card = page.locator(".answer").bounding_box(), page.locator("#s0-1").bounding_box()
    assert card["y"] > answer["y"] + answer["height"]
    page.get_by_role("link", name="Source 3").tap()
    page.wait_for_function(
        "(() => { const r = document.querySelector('#s0-3').getBoundingClientRect(); return r.top > 80 && r.bottom < 780 })()"
    )
    page.locator("#s0-3 [data-open]").tap()
    page.wait_for_selector("#viewer .cited")
    assert page.locator("#viewer").bounding_box()["width"] == 390
    page.get_by_role("button", name="Back to the sources").tap()
    assert page.locator("#s0-3").is_visible()
    assert page.evaluate("document.body.classList.contains('dark')")


def test_the_keyboard_is_enough(visit: Any) -> None:
    page = visit()
    assert page.evaluate("document.activeElement.tagName") == "TEXTAREA"
    page.keyboard.type(FIRST)
    page.keyboard.press("Enter")
    page.wait_for_selector(".exchange.writing")
    finished(page)

    def tab_to(selector: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                ring = "(e => getComputedStyle(e).outlineStyle + getComputedStyle(e.closest('#ask') ?? e).boxShadow)"
                assert page.evaluate(f"{ring}(document.activeElement)") != "nonenone", f"{selector} shows no focus"
                return
        raise AssertionError(f"Tab never reaches {selector}")

    page.evaluate("document.activeElement.blur()")
    tab_to("a.cite")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "s0-1"
    tab_to("[data-open]")
    page.keyboard.press("Enter")
    page.wait_for_selector("#viewer .cited")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.matches('[data-open]')")
    tab_to(".trace summary")
    page.keyboard.press("Enter")
    assert page.locator(".trace dl").first.is_visible()
    tab_to(".suggestions button")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelectorAll('.exchange').length === 2")
    finished(page)
    tab_to("#question textarea")


def test_waiting_readers_see_their_place_and_can_leave(visit: Any, pipeline: ScriptedPipeline) -> None:
    pages = [visit() for _ in range(3)]  # two answers are written at a time
    for page in pages[:2]:
        ask(page, "slow, to fill the slots", wait=False)
    waiting = pages[2]
    box(waiting).fill("I wait")
    waiting.keyboard.press("Enter")
    waiting.wait_for_function("document.querySelector('#waiting').innerText.includes('queue')")
    waiting.get_by_role("button", name="Stop").click()
    waiting.get_by_role("button", name="Ask", exact=True).wait_for()
    assert box(waiting).input_value() == "I wait"
    for page in pages[:2]:
        page.get_by_role("button", name="Stop").click()
        page.locator(".notice").wait_for()
    ask(waiting, "I ask")
    assert all(question != "I wait" for question, _ in pipeline.asked)


def test_copy_takes_the_answer_with_its_sources(visit: Any) -> None:
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    ask(page, FIRST)
    page.get_by_role("button", name="Copy", exact=True).click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("No. Sheep should not")
    assert "[2] Copper poisoning in sheep › Signs" in copied


def test_chinese_browsers_get_chinese_words(chromium: Any, address: str) -> None:
    context = chromium.new_context(locale="zh-CN")
    page = context.new_page()
    page.goto(address)
    page.get_by_role("button", name="新对话").wait_for()
    page.get_by_text("例如").wait_for()
    assert page.get_by_role("tab", name="问答").is_visible()
    assert page.locator(".settings summary").inner_text().strip() == "回答方式"
    context.close()


def test_settings_go_with_the_question_and_stay_in_the_browser(visit: Any, pipeline: ScriptedPipeline) -> None:
    page = visit()
    page.locator(".settings summary").click()
    page.get_by_label("In two steps Slower").check()
    page.get_by_label("Rather refuse").check()
    page.get_by_label("8", exact=True).check()
    page.keyboard.press("Escape")
    assert not page.locator(".choices").is_visible()
    ask(page, FIRST)
    route, passages, line = pipeline.with_options[-1]
    assert (route, passages) == ("complex", 8)
    assert line > 0.5
    page.reload()
    page.wait_for_selector(".exchange")
    page.locator(".settings summary").click()
    assert page.get_by_label("In two steps Slower").is_checked()
    page.get_by_role("button", name="Usual settings").click()
    page.keyboard.press("Escape")
    ask(page, "And lambs?")
    assert pipeline.with_options[-1][:2] == ("auto", 5)
