"""The page's events, called as Gradio calls them, and its two endpoints through a real client."""

from __future__ import annotations

import json
import logging
import threading
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from ui_fakes import ScriptedPipeline, application

from lqr.errors import LqrError
from lqr.hub.feedback import Feedback
from lqr.service.sessions import DroppedError, Sessions
from lqr.service.uploads import NotNowError
from lqr.ui import chat, theme
from lqr.ui.chat import ChatPage
from lqr.ui.exchange import Conversation, Exchange
from lqr.ui.session import Live, Session
from lqr.ui.texts import EN

REQUEST: Any = SimpleNamespace(headers={"accept-language": "en"})


class Recorded(list[dict[str, Any]]):
    """Feedback, kept in a list; full after two entries."""

    def record(self, entry: Any) -> None:
        if len(self) == 2:
            raise LqrError("full")
        self.append(dict(entry))


@pytest.fixture
def page() -> ChatPage:
    page = ChatPage(application(ScriptedPipeline(pause=0), llm_slots=2, queue_size=7), recorder=Recorded())
    page.blocks = page.build()  # type: ignore[attr-defined]
    return page


def event(**data: Any) -> Any:
    return SimpleNamespace(_data=data)


def ask(page: ChatPage, text: str, saved: Any = None, session: Session | None = None, **data: Any) -> list[dict[Any, Any]]:
    return list(page.ask(saved, session or Session(), event(text=text, **data), REQUEST))


def begin(page: ChatPage, text: str, session: Session, name: str = "a", saved: Any = None) -> Any:
    """A question under way, as far as its first update."""
    running = page.ask(saved, session, event(text=text, name=name), REQUEST)
    next(running)
    return running


def test_an_answer_streams_and_is_kept_by_the_browser_only(page: ChatPage) -> None:
    session = Session()
    updates = ask(page, "Is copper bad?", session=session, name="abc")
    assert updates[0][page.page]["busy"] == "abc"
    assert not updates[-1][page.page]["busy"]
    assert updates[-1][page.page]["status"] == EN.ready
    assert [set(update) & {page.saved} for update in updates[:-1]] == [set()] * (len(updates) - 1)
    assert session.answers == {}  # the server lets the conversation go
    saved = updates[-1][page.saved]
    ask(page, "And lambs?", saved)
    question, history = page.app.pipeline.asked[-1]
    assert question == "And lambs?"
    assert history[0].content == "Is copper bad?"
    assert ask(page, "x")[-1][page.saved]["exchanges"][0]["question"] == "x"  # another session knows nothing of it
    assert page.app.pipeline.asked[-1][1] == ()
    assert ask(page, "and", saved)[-1][page.saved]["id"] == saved["id"] != ""


def test_nothing_is_asked_without_a_question(page: ChatPage) -> None:
    for text in ("", "  \n ", None):
        assert list(page.ask(None, Session(), event(text=text), REQUEST)) == []
    assert list(page.ask(None, Session(), SimpleNamespace(_data=None), REQUEST)) == []
    assert page.app.pipeline.asked == []


def test_instead_replaces_the_last_answer_and_alone_leaves_the_conversation_out(page: ChatPage) -> None:
    saved = ask(page, "second", ask(page, "first")[-1][page.saved])[-1][page.saved]
    again = ask(page, "second", saved, instead=True)
    assert [e["question"] for e in again[-1][page.saved]["exchanges"]] == ["first", "second"]
    assert len(page.app.pipeline.asked[-1][1]) == 2
    alone = ask(page, "better", saved, instead=True, alone=True)
    assert [e["question"] for e in alone[-1][page.saved]["exchanges"]] == ["first", "better"]
    assert page.app.pipeline.asked[-1] == ("better", ())


def test_options_hold_for_one_request(page: ChatPage) -> None:
    usual = page.app.settings
    chosen = {"route": "complex", "strictness": "cautious", "passages": 3}
    saved = ask(page, "first", options=chosen)[-1][page.saved]
    ask(page, "second", saved)
    first, second = page.app.pipeline.with_options
    assert first == ("complex", 3, (1 + usual.refusal_threshold) / 2)
    assert second == ("auto", usual.top_k, usual.refusal_threshold)
    assert saved["exchanges"][0]["options"] == chosen
    assert "You chose this in the settings." in str(page.restore(saved, REQUEST)[page.page]["items"])


def test_stop_keeps_the_half_answer_and_closes_the_pipeline(page: ChatPage) -> None:
    session = Session()
    running = begin(page, "slow", session)
    while "word3" not in session.answers["a"].exchange.draft:
        next(running)
    stopped = page.stop(None, session, event(name="a"), REQUEST)
    assert stopped[page.page]["status"] == EN.stopped
    assert list(running) == []  # what goes on behind says nothing more to the page
    assert page.app.pipeline.closed == 1
    kept = stopped[page.saved]["exchanges"][0]
    assert kept["stopped"]
    assert "word3" in kept["draft"]
    assert session.answers == {}
    assert ask(page, "next", stopped[page.saved])[-1][page.saved]["exchanges"][1]["answer"]


def test_a_closed_tab_ends_the_pipeline(page: ChatPage) -> None:
    session = Session()
    running = begin(page, "slow", session)
    next(running)
    running.close()  # what Gradio does then
    assert page.app.pipeline.closed == 1
    assert session.answers == {}


def test_a_stop_that_comes_too_late_leaves_the_answer(page: ChatPage) -> None:
    session = Session()
    running = begin(page, "quick", session)
    live = session.answers["a"]
    *_, last = running
    session.answers["a"] = live  # the stop arrived before the last update had left
    late = page.stop(None, session, event(name="a"), REQUEST)
    assert last[page.saved]["exchanges"][0]["answer"]
    assert not isinstance(late[page.saved], dict) or "exchanges" not in late[page.saved]


def test_a_question_taken_back_in_the_queue_is_never_asked(page: ChatPage) -> None:
    session = Session()
    saved = ask(page, "first")[-1][page.saved]
    update = page.stop(saved, session, event(name="b"), REQUEST)
    assert update[page.saved] == saved
    assert ask(page, "waited", saved, session, name="b") == []
    assert [question for question, _ in page.app.pipeline.asked] == ["first"]
    assert ask(page, "next", saved, session, name="c")


def test_a_stop_that_meets_the_beginning_of_its_answer_stops_it() -> None:
    session = Session()
    stopped: list[Live | None] = []
    stopping = threading.Thread(target=lambda: stopped.append(session.stop("a")))

    class Slow(list[str]):
        def __contains__(self, name: object) -> bool:
            stopping.start()
            stopping.join(0.3)  # the stop has all the time it needs, between the look and what follows from it
            return super().__contains__(name)

    session.withdrawn = Slow()
    live = Live(Conversation(), Exchange("q"))
    began = session.begin("a", live)
    stopping.join(5)
    assert began
    assert stopped == [live]
    assert live.cancelled.is_set()


def test_stop_reaches_no_other_session(page: ChatPage) -> None:
    one, two = Session(), Session()
    running = begin(page, "slow", one)
    page.stop(None, two, event(name="a"), REQUEST)
    assert not one.answers["a"].cancelled.is_set()
    next(running)
    running.close()


def test_a_failure_is_a_polite_line_with_a_number_from_the_log(page: ChatPage, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        last = ask(page, "fail")[-1]
    line = last[page.saved]["exchanges"][0]["error"]
    number = next(record.args[0] for record in caplog.records if record.args)  # type: ignore[index]
    assert str(number) in line
    assert "/srv" not in str(last)
    assert "Traceback" not in str(last)
    assert ask(page, "and now", last[page.saved])[-1][page.saved]["exchanges"][1]["answer"]


def test_conversations_are_opened_from_the_browser_or_a_file(page: ChatPage, monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[str] = []
    monkeypatch.setattr(gr, "Warning", warned.append)
    saved = ask(page, "first")[-1][page.saved]
    shown = page.open_conversation(event(conversation=saved), REQUEST)
    assert shown[page.saved] == saved
    unnamed = page.open_conversation(event(conversation={**saved, "id": "../x"}), REQUEST)[page.saved]["id"]
    assert unnamed not in ("", "../x")
    new = page.open_conversation(event(conversation=None), REQUEST)
    assert new[page.saved]["exchanges"] == []
    assert 'class="welcome"' in new[page.page]["items"][0]
    assert warned == []
    for bad in ({"x": 1}, "text", [1], {"version": 1, "exchanges": [{"question": 3}]}):
        refused = page.open_conversation(event(conversation=bad), REQUEST)
        assert "items" not in refused[page.page]
    assert warned == [EN.import_bad] * 4


def test_a_conversation_is_saved_as_a_file_and_opened_again(page: ChatPage) -> None:
    saved = ask(page, "first")[-1][page.saved]
    parcel = page.save_file(saved, event(kind="json", title="../My <flock>"), REQUEST)[page.parcel]
    assert parcel["name"] == "My-flock.json"
    again = page.open_conversation(event(conversation=json.loads(parcel["text"])), REQUEST)
    assert again[page.saved] == json.loads(json.dumps(saved))


def test_thumbs_are_recorded_and_shown(page: ChatPage) -> None:
    saved = ask(page, "first")[-1][page.saved]
    reasons = ["bad_source", "made_up"]
    down = page.rate(saved, event(exchange=0, rating="down", reasons=reasons, comment="no"), REQUEST)
    assert down[page.saved]["exchanges"][0]["rating"] == "down"
    assert down[page.page]["status"] == EN.feedback_thanks
    [entry] = page.recorder  # type: ignore[misc]
    assert (entry["rating"], entry["reasons"], entry["comment"], entry["question"]) == ("down", ["source"], "no", "first")
    assert entry["passages"] == ["0123456789ab-1", "0123456789ab-2", "0123456789ab-3"]
    for wrong in ({}, {"exchange": 1, "rating": "up"}, {"exchange": -1, "rating": "up"}, {"exchange": 0, "rating": "sideways"}):
        page.rate(saved, event(**wrong), REQUEST)
    assert len(page.recorder) == 1  # type: ignore[arg-type]
    page.rate(saved, event(exchange=0, rating="up"), REQUEST)
    full = page.rate(saved, event(exchange=0, rating="up"), REQUEST)
    assert full[page.page]["status"] == EN.feedback_lost
    assert full[page.saved]["exchanges"][0]["rating"] == ""


def test_without_a_recorder_there_are_no_thumbs() -> None:
    page = ChatPage(application(ScriptedPipeline(pause=0)))
    page.build()
    last = ask(page, "first")[-1]
    assert "data-rating" not in last[page.page]["items"][0]
    assert "items" not in page.rate(last[page.saved], event(exchange=0, rating="up"), REQUEST)[page.page]


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


def test_what_the_page_opened_is_closed_with_it_and_where_feedback_goes_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    closed: list[str] = []
    monkeypatch.setattr(Sessions, "close", lambda self: closed.append("sessions"))
    monkeypatch.setattr(Feedback, "close", lambda self: closed.append("feedback"))
    with ExitStack() as opened, caplog.at_level(logging.INFO, logger="lqr"):
        chat.build(application(home=tmp_path, models=tmp_path, feedback="local"), opened)
        assert closed == []
    assert sorted(closed) == ["feedback", "sessions"]
    assert f"feedback to {tmp_path / 'feedback'}" in caplog.text


def test_a_visitor_is_answered_by_their_own_application() -> None:
    common, own = application(ScriptedPipeline(pause=0)), application(ScriptedPipeline(pause=0))
    page = ChatPage(common, application_of=lambda request, shown: own)
    page.build()
    ask(page, "first")
    assert len(own.pipeline.asked) == 1
    assert common.pipeline.asked == []


def test_what_the_page_shows_as_chosen_answers_or_nothing_does() -> None:
    common = application(ScriptedPipeline(pause=0))
    seen: list[Any] = []

    def application_of(request: Any, shown: Any) -> Any:
        seen.append(shown)
        if shown.get("scope") == "own":
            raise DroppedError(60)
        if shown.get("scope") == "both":
            raise NotNowError("being read")
        if shown.get("library") == "gone":
            raise KeyError("gone")
        return common

    page = ChatPage(common, application_of=application_of)
    page.build()
    own = ask(page, "first", shown={"scope": "own", "library": ""})[-1][page.saved]["exchanges"][0]
    assert own["error"] == EN.own_gone.format(minutes=60)
    assert own["answer"] is None
    assert ask(page, "first", shown={"scope": "both"})[-1][page.saved]["exchanges"][0]["error"] == EN.own_not_now
    assert ask(page, "first", shown={"library": "gone"})[-1][page.saved]["exchanges"][0]["error"] == EN.library_unopened
    assert common.pipeline.asked == []
    for nothing in (None, [], "own"):
        assert ask(page, "first", shown=nothing)[-1][page.saved]["exchanges"][0]["answer"]
    assert seen[3:] == [{}] * 3


def test_the_page_asks_for_the_scope_and_library_that_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[ChatPage] = []
    asked: list[tuple[str, str]] = []
    build, answers = ChatPage.build, Sessions.application

    def spied(self: Sessions, key: str | None, *, library: str = "", scope: str = "") -> Any:
        asked.append((library, scope))
        return answers(self, key, library=library, scope=scope)

    monkeypatch.setattr(ChatPage, "build", lambda self: (pages.append(self), build(self))[1])
    monkeypatch.setattr(Sessions, "application", spied)
    monkeypatch.setattr(Sessions, "close", lambda self: None)  # the scripted application has no stage to close
    common = application(home=tmp_path, models=tmp_path)
    with ExitStack() as opened:
        chat.build(common, opened)
        asking = SimpleNamespace(session_hash="session-of-anna")
        name = common.settings.collection
        for scope in ("own", "both"):
            with pytest.raises(DroppedError):
                pages[0].app_of(asking, {"library": name, "scope": scope})
        for shown in ({"library": name, "scope": "library"}, {}):
            assert pages[0].app_of(asking, shown) is common
    assert asked == [(name, "own"), (name, "both"), (name, "library"), ("", "")]


def test_files_that_were_sent_and_never_added_are_deleted_in_time(page: ChatPage) -> None:
    blocks: gr.Blocks = page.blocks  # type: ignore[attr-defined]
    assert blocks.delete_cache == (chat.SWEEP, 60 * page.app.settings.upload_minutes)


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
        client.predict("Is copper bad?", route="simple", strictness="open", passages=3, api_name="/ask")
        assert page.app.pipeline.with_options[-1][:2] == ("simple", 3)
        assert client.predict("copper", 5, api_name="/search")[0]["title"] == "Copper poisoning in sheep"
        long = [{"role": "user", "content": "x" * 50_000}]
        many = [{"role": "user", "content": "x"}] * 100
        for arguments in (("fail", None), ("x", ["no message"]), ("x", long), ("x", many)):
            with pytest.raises(AppError) as caught:
                client.predict(*arguments, api_name="/ask")
            assert "/srv" not in str(caught.value)
        client.close()
    finally:
        blocks.close()
