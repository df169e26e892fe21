"""The page's events, called as Gradio calls them, and its two endpoints through a real client."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from ui_fakes import ScriptedPipeline, application

from lqr.ui import theme
from lqr.ui.chat import ChatPage
from lqr.ui.exchange import Conversation

REQUEST: Any = SimpleNamespace(headers={"accept-language": "en"})
TYPED: Any = SimpleNamespace(_data=None)


@pytest.fixture
def page() -> ChatPage:
    page = ChatPage(application(ScriptedPipeline(pause=0), llm_slots=2, queue_size=7))
    page.blocks = page.build()  # type: ignore[attr-defined]
    return page


def ask(page: ChatPage, text: str, saved: Any = None, *, editing: bool = False, data: Any = None) -> list[dict[Any, Any]]:
    return list(page.ask(text, saved, editing, SimpleNamespace(_data=data), REQUEST))


def test_an_answer_streams_and_is_kept_by_the_browser_only(page: ChatPage) -> None:
    updates = ask(page, "Is copper bad?")
    assert updates[0][page.page]["busy"]
    assert updates[0][page.box] == ""
    assert not updates[-1][page.page]["busy"]
    assert [set(update) & {page.saved} for update in updates[:-1]] == [set()] * (len(updates) - 1)
    assert updates[-1][page.live] is None  # the server lets the conversation go
    saved = updates[-1][page.saved]
    ask(page, "And lambs?", saved)
    question, history = page.app.pipeline.asked[-1]
    assert question == "And lambs?"
    assert history[0].content == "Is copper bad?"
    assert ask(page, "x")[-1][page.saved]["exchanges"][0]["question"] == "x"  # another session knows nothing of it
    assert page.app.pipeline.asked[-1][1] == ()


def test_retry_and_edit_replace_the_last_answer(page: ChatPage) -> None:
    saved = ask(page, "second", ask(page, "first")[-1][page.saved])[-1][page.saved]
    again = ask(page, "typed meanwhile", saved, data={"again": True})
    assert page.box not in again[0]
    assert [e["question"] for e in again[-1][page.saved]["exchanges"]] == ["first", "second"]
    assert len(page.app.pipeline.asked[-1][1]) == 2
    assert page.edit(saved)[page.box] == "second"
    edited = ask(page, "better", saved, editing=True)
    assert [e["question"] for e in edited[-1][page.saved]["exchanges"]] == ["first", "better"]
    assert not edited[0][page.editing]
    suggested = ask(page, "typed meanwhile", saved, data={"text": "a suggestion"})
    assert suggested[-1][page.saved]["exchanges"][-1]["question"] == "a suggestion"


def test_stop_keeps_the_half_answer_and_closes_the_pipeline(page: ChatPage) -> None:
    running = page.ask("slow", None, False, TYPED, REQUEST)
    live = next(running)[page.live]
    while "word3" not in live.exchange.draft:
        next(running)
    stopped = page.stop(None, live, REQUEST)
    assert live.cancelled.is_set()
    running.close()  # what Gradio does to a cancelled event
    assert page.app.pipeline.closed == 1
    kept = stopped[page.saved]["exchanges"][0]
    assert kept["stopped"]
    assert "word3" in kept["draft"]
    assert ask(page, "next", stopped[page.saved])[-1][page.saved]["exchanges"][1]["answer"]


def test_a_stop_that_gradio_does_not_carry_out_ends_the_answer_by_itself(page: ChatPage) -> None:
    running = page.ask("slow", None, False, TYPED, REQUEST)
    live = next(running)[page.live]
    next(running)
    live.cancelled.set()
    assert list(running)[-1][page.saved]["exchanges"][0]["stopped"]
    assert page.app.pipeline.closed == 1


def test_a_stop_while_waiting_in_the_queue_changes_nothing(page: ChatPage) -> None:
    saved = ask(page, "first")[-1][page.saved]
    update = page.stop(saved, None, REQUEST)
    assert update[page.saved] == saved
    assert page.box not in update  # the question stays where it was typed


def test_a_failure_is_a_polite_line_with_a_number_from_the_log(page: ChatPage, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        last = ask(page, "fail")[-1]
    line = last[page.saved]["exchanges"][0]["error"]
    number = next(record.args[0] for record in caplog.records if record.args)  # type: ignore[index]
    assert str(number) in line
    assert "/srv" not in str(last)
    assert "Traceback" not in str(last)
    assert ask(page, "and now", last[page.saved])[-1][page.saved]["exchanges"][1]["answer"]


def test_new_conversation_can_be_taken_back(page: ChatPage) -> None:
    saved = ask(page, "first")[-1][page.saved]
    fresh = page.new(saved, None, REQUEST)
    assert "data-restore" in fresh[page.page]["items"][0]
    assert Conversation.from_json(fresh[page.saved]).exchanges == ()
    assert page.bring_back(fresh[page.saved], REQUEST)[page.saved]["exchanges"] == saved["exchanges"]


def test_open_document_only_by_a_source_of_the_conversation(page: ChatPage) -> None:
    saved = ask(page, "first")[-1][page.saved]

    def opened(place: Any) -> str:
        return str(page.open_document(saved, SimpleNamespace(_data=place), REQUEST)[page.viewer])

    assert "<mark>" in opened({"exchange": 0, "number": 2})
    for place in (
        None,
        {},
        {"exchange": 5, "number": 1},
        {"exchange": 0, "number": 9},
        {"exchange": -1, "number": 1},
        {"exchange": "0"},
    ):
        assert "no longer in the collection" in opened(place)
    saved["exchanges"][0]["answer"]["sources"][0]["document_id"] = "../../etc/passwd"
    assert "no longer in the collection" in opened({"exchange": 0, "number": 1})


def test_queue_and_slots_come_from_the_settings(page: ChatPage) -> None:
    blocks: gr.Blocks = page.blocks  # type: ignore[attr-defined]
    assert blocks._queue.max_size == 7
    answering = [fn for fn in blocks.fns.values() if fn.concurrency_id == "answers"]
    assert len(answering) == 3
    assert {fn.concurrency_limit for fn in answering} == {2}


def test_endpoints_through_a_client(page: ChatPage) -> None:
    from gradio_client import Client
    from gradio_client.exceptions import AppError

    blocks: gr.Blocks = page.blocks  # type: ignore[attr-defined]
    _, url, _ = blocks.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", **theme.launch_options())
    try:
        client = Client(url, verbose=False)
        public = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
        assert set(public) == {"/ask", "/search"}
        answer = client.predict("Is copper bad?", [{"role": "user", "content": "hello"}], api_name="/ask")
        assert answer["sources"][0]["number"] == 1
        assert [turn.content for turn in page.app.pipeline.asked[-1][1]] == ["hello"]
        assert client.predict("copper", 5, api_name="/search")[0]["title"] == "Copper poisoning in sheep"
        for arguments in (("fail", None), ("x", ["no message"])):
            with pytest.raises(AppError) as caught:
                client.predict(*arguments, api_name="/ask")
            assert "/srv" not in str(caught.value)
        client.close()
    finally:
        blocks.close()
