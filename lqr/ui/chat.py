"""The chat page: components, and what happens on each click. Rendering is in ``views`` and ``document``.

The server keeps no conversation. The browser sends its own with each question (``gr.BrowserState``); the only thing a
session owns here is the answer under way, so that Stop can reach it; it is let go when the answer is settled.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import gradio as gr

from lqr.errors import Cancelled, LqrError
from lqr.types import Answer, Event, Progress, TextDelta
from lqr.ui import document, endpoints, views
from lqr.ui.exchange import MAX_SHOWN, Conversation, Exchange
from lqr.ui.markup import escape
from lqr.ui.texts import Texts, choose, component_texts

if TYPE_CHECKING:
    from lqr.app import Application

log = logging.getLogger(__name__)
ASSETS = Path(__file__).parent / "assets"
STEP = 0.04  # seconds between two updates of a streaming answer: as fast as an eye follows, no faster
# Gradio encrypts its browser storage and makes a new key at every start unless given one; a conversation must outlive that.
# It protects nothing: the text never leaves the reader's own browser except in the reader's own questions.
STORAGE = {"storage_key": "lqr-conversation", "secret": "kept-in-the-browser"}
Update = dict[Any, Any]


@dataclass(eq=False)
class Live:
    """The answer under way in one session: what Stop needs of it."""

    before: Conversation
    exchange: Exchange
    cancelled: threading.Event = field(default_factory=threading.Event)
    done: bool = False


class ChatPage:
    """Builds the page for one application and answers its events."""

    def __init__(self, application: Application) -> None:
        self.app = application

    def build(self) -> gr.Blocks:
        """The Gradio app, ready to be launched with ``theme.launch_options()``."""
        profile, words = self.app.profile, component_texts()
        with gr.Blocks(title=profile.title or profile.name, analytics_enabled=False, fill_width=True) as blocks:
            self.saved = gr.BrowserState(None, **STORAGE)
            self.live = gr.State(None)
            self.editing = gr.State(False)
            with gr.Row(elem_id="top"):
                gr.HTML(f"<h1>{escape(profile.title or profile.name)}</h1>", elem_id="title", apply_default_css=False)
                new = gr.Button(words("new"), elem_id="new", size="sm", scale=0)
            self.page = gr.HTML(
                {}, html_template=_LOG, js_on_load=_asset("page.js"), elem_id="page", apply_default_css=False, container=False
            )
            with gr.Column(elem_id="composer"):
                with gr.Row(elem_id="editing", visible=False) as self.notice:
                    gr.Textbox(words("editing"), show_label=False, interactive=False, container=False, lines=1)
                    cancel = gr.Button(words("cancel"), size="sm", scale=0)
                self.waiting = gr.HTML("", elem_id="waiting", apply_default_css=False)
                with gr.Row(elem_id="ask"):
                    self.box = gr.Textbox(
                        label=words("ask"),
                        placeholder=words("placeholder"),
                        lines=1,
                        max_lines=8,
                        container=False,
                        scale=1,
                        autofocus=True,
                        elem_id="question",
                        html_attributes=gr.InputHTMLAttributes(autocomplete="off"),
                    )
                    send = gr.Button(words("send"), variant="primary", elem_id="send", scale=0)
                    stop = gr.Button(words("stop"), elem_id="stop", scale=0)
                self.small_print = gr.HTML("", elem_id="small-print", apply_default_css=False)
            self.viewer = gr.HTML(
                "", html_template="<div></div>", js_on_load=_asset("viewer.js"), elem_id="viewer", apply_default_css=False
            )
            endpoints.add(self.app)  # first, so that no event of the page takes their names
            self._connect(blocks, new, cancel, send, stop)
        blocks.queue(max_size=self.app.settings.queue_size)
        return blocks

    def _connect(self, blocks: gr.Blocks, new: gr.Button, cancel: gr.Button, send: gr.Button, stop: gr.Button) -> None:
        everything = [self.page, self.saved, self.live, self.box, self.editing, self.notice]
        quick: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
        # "answers" is one line for page and API: as many at a time as the writer has slots.
        slots = {"concurrency_id": endpoints.QUEUE, "concurrency_limit": self.app.settings.llm_slots}
        asking = gr.on(
            [self.box.submit, send.click, self.page.submit, self.page.retry],
            self.ask,
            [self.box, self.saved, self.editing],
            everything,
            show_progress="full",
            show_progress_on=self.waiting,
            trigger_mode="once",
            api_visibility="private",
            **slots,
        )
        # Shown in the same place as the asking it ends: a question cancelled in the queue does not end its own display.
        ending = {**quick, "show_progress": "full", "show_progress_on": self.waiting}
        stop.click(self.stop, [self.saved, self.live], everything, cancels=[asking], **ending)
        self.page.edit(self.edit, [self.saved], [self.box, self.editing, self.notice], **quick)
        cancel.click(self.cancel_edit, None, [self.box, self.editing, self.notice], **quick)
        self.page.select(self.open_document, [self.saved], [self.viewer], **quick)
        self.page.undo(self.bring_back, [self.saved], everything, **quick)
        new.click(self.new, [self.saved, self.live], everything, cancels=[asking], **ending)
        blocks.load(self.restore, [self.saved], [self.page, self.small_print], **quick)

    # What the page shows -------------------------------------------------------------------------------------------------

    def _page(self, conversation: Conversation, texts: Texts, *, status: str = "", busy: bool = False) -> dict[str, Any]:
        """The value that ``assets/page.js`` lays out: one piece of HTML per exchange, so that only changed ones are touched."""
        exchanges = conversation.exchanges
        last = len(exchanges) - 1
        items = [
            views.exchange(index, item, texts, last=index == last, busy=busy and index == last)
            for index, item in enumerate(exchanges)
        ]
        if not items:
            profile = self.app.profile
            items = [
                views.welcome(
                    profile.title or profile.name,
                    profile.description,
                    profile.examples,
                    texts,
                    previous=bool(conversation.previous),
                )
            ]
        empty = f"<h3>{escape(texts.sources)}</h3><p>{escape(texts.sources_empty)}</p>"
        return {"items": items, "empty": empty, "status": status, "busy": busy, "ready": texts.ready, "language": texts.language}

    def _settled(self, conversation: Conversation, texts: Texts) -> Update:
        return {self.page: self._page(conversation, texts), self.saved: conversation.to_json(), self.live: None}

    def restore(self, saved: Any, request: gr.Request) -> Update:
        """The page as the browser left it."""
        texts = _texts(request)
        return {
            self.page: self._page(Conversation.from_json(saved), texts),
            self.small_print: f"<p>{escape(texts.disclaimer)}</p>",
        }

    # Questions -----------------------------------------------------------------------------------------------------------

    def ask(self, typed: str, saved: Any, editing: bool, event: gr.EventData, request: gr.Request) -> Iterator[Update]:
        """Answer the typed question, a suggestion (``event`` carries its text), or the last question again (``retry``)."""
        texts, conversation = _texts(request), Conversation.from_json(saved)
        clicked = event._data if isinstance(event._data, dict) else {}
        question = str(clicked.get("text") or typed or "")
        again = bool(clicked.get("again")) and bool(conversation.exchanges)
        if again:
            question = conversation.exchanges[-1].question
        before = replace(conversation, exchanges=conversation.exchanges[:-1]) if again or editing else conversation
        live = Live(before, Exchange(question[:MAX_SHOWN]))
        try:
            yield {
                self.page: self._page(_with(before, live.exchange), texts, status=texts.thinking, busy=True),
                self.live: live,
                self.editing: False,
                self.notice: gr.update(visible=False),
                **({} if clicked else {self.box: ""}),
            }
            yield from self._stream(live, question, texts)
        finally:
            live.done = True
        yield self._settled(_with(before, live.exchange), texts)

    def _stream(self, live: Live, question: str, texts: Texts) -> Iterator[Update]:
        status, shown = texts.thinking, 0.0
        try:
            stream = self.app.pipeline.stream(question, live.before.turns(), cancelled=live.cancelled.is_set)
            # Closing passes a Stop (or a closed tab) on to the pipeline at once, not when the garbage collector comes round.
            with closing(cast("Generator[Event, None, None]", stream)) as events:
                for event in events:
                    if live.cancelled.is_set():
                        raise Cancelled("stopped by the reader")
                    if isinstance(event, Answer):
                        live.exchange = replace(live.exchange, answer=event.to_dict(), draft="")
                        return
                    if isinstance(event, TextDelta):
                        live.exchange = replace(live.exchange, draft=live.exchange.draft + event.text)
                        if time.monotonic() - shown < STEP:
                            continue
                    elif isinstance(event, Progress):
                        status = event.detail or event.stage
                    shown = time.monotonic()
                    yield {self.page: self._page(_with(live.before, live.exchange), texts, status=status, busy=True)}
            raise LqrError("the pipeline ended without an answer")
        except Cancelled:
            live.exchange = replace(live.exchange, stopped=True)
        except Exception:
            number = secrets.token_hex(4)
            log.exception("answer %s failed", number)
            live.exchange = replace(live.exchange, error=texts.failed.format(id=number))
        finally:
            live.cancelled.set()

    def stop(self, saved: Any, live: Live | None, request: gr.Request) -> Update:
        """End the answer under way and keep what there is of it; a question still in the queue goes back unasked."""
        texts = _texts(request)
        if live is None or live.done:
            return self._settled(Conversation.from_json(saved), texts)
        live.cancelled.set()
        live.exchange = replace(live.exchange, stopped=live.exchange.answer is None)
        return self._settled(_with(live.before, live.exchange), texts)

    def edit(self, saved: Any) -> Update:
        """Put the last question back into the box; the next one sent replaces it."""
        exchanges = Conversation.from_json(saved).exchanges
        if not exchanges:
            return {self.editing: False}
        return {self.box: exchanges[-1].question, self.editing: True, self.notice: gr.update(visible=True)}

    def cancel_edit(self) -> Update:
        """Leave the last question as it was."""
        return {self.box: "", self.editing: False, self.notice: gr.update(visible=False)}

    def new(self, saved: Any, live: Live | None, request: gr.Request) -> Update:
        """An empty page; the conversation so far is put aside, not thrown away."""
        if live is not None:
            live.cancelled.set()
        conversation = Conversation.from_json(saved)
        put_aside = conversation.exchanges or conversation.previous
        settled = self._settled(Conversation(previous=put_aside), _texts(request))
        return {**settled, **self.cancel_edit()}

    def bring_back(self, saved: Any, request: gr.Request) -> Update:
        """The conversation that :meth:`new` put aside."""
        return self._settled(Conversation(Conversation.from_json(saved).previous), _texts(request))

    def open_document(self, saved: Any, event: gr.EventData, request: gr.Request) -> Update:
        """The whole document of a source, at the place that was cited."""
        texts = _texts(request)
        source = _source(Conversation.from_json(saved), event._data)
        if source is None:
            return {self.viewer: document.missing(texts)}
        try:
            whole = self.app.store.document(str(source.get("document_id")))
        except (LqrError, KeyError):
            log.info("document %r is gone", source.get("document_id"))
            return {self.viewer: document.missing(texts)}
        place = str(source.get("text", "")), source.get("section", ()), source.get("quotes", ())
        return {self.viewer: document.page(whole, *place, texts)}


def build(application: Application) -> gr.Blocks:
    """The page for ``application``."""
    return ChatPage(application).build()


def _with(before: Conversation, exchange: Exchange) -> Conversation:
    return replace(before, exchanges=(*before.exchanges, exchange))


def _texts(request: gr.Request) -> Texts:
    return choose(request.headers.get("accept-language"))


def _source(conversation: Conversation, place: Any) -> dict[str, Any] | None:
    """The source that a click names by its exchange and number."""
    if not isinstance(place, dict):
        return None
    index, number = place.get("exchange"), place.get("number")
    if not isinstance(index, int) or not 0 <= index < len(conversation.exchanges):
        return None
    answer = conversation.exchanges[index].answer
    return next((source for source in answer["sources"] if source["number"] == number), None) if answer else None


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


_LOG = """
<main><div id="log" role="log" aria-live="off"></div></main>
<aside id="empty"></aside>
<p id="status" class="away" role="status" aria-live="polite"></p>
"""
