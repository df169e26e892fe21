"""The chat page: components, and what happens on each click. Rendering is in ``views``, ``panels`` and ``document``,
the pipeline is watched in ``asking``.

The server keeps no conversation. The browser sends its own with each question (``gr.BrowserState``); the only thing a
session owns here is the answer under way (``session``). What a reader does reaches the server as an event of the page's
own script (``assets/page.js``), so that the script alone decides what may be asked while an answer is being written.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import gradio as gr

from lqr.errors import LqrError
from lqr.service.sessions import DroppedError, Sessions
from lqr.service.uploads import NotNowError
from lqr.ui import asking, document, endpoints, export, feedback, panels, views
from lqr.ui.exchange import MAX_SHOWN, RATINGS, Conversation, Exchange
from lqr.ui.feedback import Recorder
from lqr.ui.library import Library
from lqr.ui.markup import escape
from lqr.ui.models_tab import ModelsTab
from lqr.ui.options import Options
from lqr.ui.parts import LOG, mapping, scripted, sent
from lqr.ui.search_tab import SearchTab
from lqr.ui.session import Live, Session
from lqr.ui.texts import Texts, choose, component_texts

if TYPE_CHECKING:
    from lqr.app import Application

log = logging.getLogger(__name__)
# Gradio encrypts its browser storage and makes a new key at every start unless given one; a conversation must outlive that.
# It protects nothing: the text never leaves the reader's own browser except in the reader's own questions.
STORAGE = {"storage_key": "lqr-conversation", "secret": "kept-in-the-browser"}
Update = dict[Any, Any]
ApplicationOf = Callable[[gr.Request, Mapping[str, Any]], "Application"]
SWEEP = 60  # seconds between two looks for files that were sent to Gradio and never added


class ChatPage:
    """Builds the page for one application and answers its events.

    Args:
        application: what every visitor asks.
        application_of: the application of one visitor, whose own documents it may hold besides. It is given what the page shows
            as chosen under Documents (``library``, ``scope``; empty where the question is not one of what to answer from).
        recorder: where thumbs go; None shows none.
        tabs: label and builder of the tabs beside the chat; a builder is called inside its tab.
    """

    def __init__(
        self,
        application: Application,
        *,
        application_of: ApplicationOf | None = None,
        recorder: Recorder | None = None,
        tabs: Sequence[tuple[Any, Callable[[], None]]] = (),
    ) -> None:
        self.app, self.tabs = application, tabs
        self.app_of: ApplicationOf = application_of or (lambda request, shown: application)
        self.recorder = recorder

    def build(self) -> gr.Blocks:
        """The Gradio app, ready to be launched with ``theme.launch_options()``."""
        profile, words = self.app.profile, component_texts()
        title, kept = profile.title or profile.name, (SWEEP, 60 * self.app.settings.upload_minutes)
        with gr.Blocks(title=title, analytics_enabled=False, fill_width=True, delete_cache=kept) as blocks:
            with gr.Row(elem_id="top"):
                gr.Button(words("conversations"), elem_id="open-drawer", size="sm", scale=0)
                gr.HTML(f"<h1>{escape(title)}</h1>", elem_id="title", apply_default_css=False)
                gr.Button(words("new"), elem_id="new", size="sm", scale=0)
            endpoints.add(self.app)  # first, so that no event of the page takes their names
            with gr.Tabs(elem_id="tabs"):
                with gr.Tab(words("chat"), id="chat"):
                    self.chat(blocks)
                for label, fill in self.tabs:
                    with gr.Tab(label):
                        fill()
        blocks.queue(max_size=self.app.settings.queue_size)
        return blocks

    def chat(self, blocks: gr.Blocks) -> None:
        """The chat itself, in the tab being built."""
        words = component_texts()
        self.saved = gr.BrowserState(None, **STORAGE)
        self.session = gr.State(Session())
        self.page = scripted("page", "page.js", value={}, html_template=LOG)
        with gr.Column(elem_id="composer"):
            self.waiting = gr.HTML("", elem_id="waiting", apply_default_css=False)
            self.notice = gr.HTML("", elem_id="editing", apply_default_css=False)
            with gr.Row(elem_id="ask"):
                gr.Textbox(
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
                gr.Button(words("send"), variant="primary", elem_id="send", scale=0)
                gr.Button(words("stop"), elem_id="stop", scale=0)
            self.options = scripted("options", "composer.js")
            self.small_print = gr.HTML("", elem_id="small-print", apply_default_css=False)
        self.viewer = scripted("viewer", "viewer.js")
        self.drawer = scripted("drawer", "drawer.js")
        self.parcel = scripted("parcel", "parcel.js", value={})
        self._connect(blocks)

    def _connect(self, blocks: gr.Blocks) -> None:
        quick: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
        asking = self.page.asked(
            self.ask,
            [self.saved, self.session],
            [self.page, self.saved],
            show_progress="full",
            show_progress_on=self.waiting,
            trigger_mode="multiple",  # the script sees to it that there is one at a time; "once" loses one after a Stop
            api_visibility="private",
            concurrency_id=endpoints.QUEUE,  # one line for page and API: as many at a time as the writer has slots
            concurrency_limit=self.app.settings.llm_slots,
        )
        asking.failure(None, None, None, js="() => { window.lqr.failed(); return []; }", **quick)
        self.page.halted(self.stop, [self.saved, self.session], [self.page, self.saved], **quick)
        self.page.replaced(self.open_conversation, None, [self.page, self.saved], **quick)
        self.page.opened(self.open_document, [self.saved], [self.viewer], **quick)
        self.page.saving(self.save_file, [self.saved], [self.parcel], **quick)
        self.page.rated(self.rate, [self.saved], [self.page, self.saved], **quick)
        self.saved.change(None, [self.saved], None, js="(saved) => { window.lqr?.keep?.(saved); return []; }", **quick)
        shown_at_once = [self.page, self.notice, self.options, self.drawer, self.small_print]
        blocks.load(self.restore, [self.saved], shown_at_once, **quick)

    # What the page shows -------------------------------------------------------------------------------------------------

    def _page(self, conversation: Conversation, texts: Texts, *, status: str = "", busy: str = "") -> dict[str, Any]:
        """The value that ``assets/page.js`` lays out: one piece of HTML per exchange, so that only changed ones are touched.

        ``busy`` is the name of the answer under way, if there is one.
        """
        exchanges = conversation.exchanges
        last = len(exchanges) - 1
        rated = self.recorder is not None
        items = [
            views.exchange(index, item, texts, last=index == last, busy=bool(busy) and index == last, rated=rated)
            for index, item in enumerate(exchanges)
        ]
        if not items:
            profile = self.app.profile
            items = [views.welcome(profile.title or profile.name, profile.description, profile.examples, texts)]
        empty = f"<h3>{escape(texts.sources)}</h3><p>{escape(texts.sources_empty)}</p>"
        # The number makes each value a change: the script waits for an answer to a Stop that changed nothing, too.
        number = secrets.token_hex(4)
        return {"items": items, "empty": empty, "status": status, "busy": busy, "not_sent": texts.not_sent, "number": number}

    def _settled(self, conversation: Conversation, texts: Texts, *, status: str = "") -> Update:
        return {self.page: self._page(conversation, texts, status=status), self.saved: conversation.to_json()}

    def _under_way(self, live: Live, name: str, texts: Texts, status: str) -> Update:
        return {self.page: self._page(live.before.and_then(live.exchange), texts, status=status, busy=name)}

    def restore(self, saved: Any, request: gr.Request) -> Update:
        """The page as the browser left it."""
        texts = _texts(request)
        return {
            self.page: self._page(Conversation.from_json(saved), texts),
            self.notice: panels.editing(texts),
            self.options: panels.settings(texts, self.app.settings.top_k),
            self.drawer: panels.drawer(texts),
            self.small_print: f"<p>{escape(texts.disclaimer)}</p>",
        }

    # Questions -----------------------------------------------------------------------------------------------------------

    def ask(self, saved: Any, session: Session, event: gr.EventData, request: gr.Request) -> Iterator[Update]:
        """Answer a question. The event carries its ``text`` and ``name``, and how it is asked:

        ``instead`` replaces the last exchange, ``alone`` leaves the conversation out, ``options`` see :class:`Options`,
        ``shown`` is what the page shows as chosen under Documents: that answers, or nothing does.
        """
        texts, conversation, asked = _texts(request), Conversation.from_json(saved), sent(event)
        question, name = str(asked.get("text") or ""), str(asked.get("name") or secrets.token_hex(8))[:64]
        exchanges = conversation.exchanges[:-1] if asked.get("instead") else conversation.exchanges
        before = Conversation(exchanges, conversation.id or secrets.token_hex(8))
        live = Live(before, Exchange(question[:MAX_SHOWN], options=Options.from_json(asked.get("options"))))
        if not question.strip() or not session.begin(name, live):
            return
        try:
            yield self._under_way(live, name, texts, texts.thinking)
            history = Conversation() if asked.get("alone") else before
            show = partial(self._under_way, live, name, texts)
            try:
                application = self.app_of(request, mapping(asked.get("shown")))
            except DroppedError as error:
                live.exchange = replace(live.exchange, error=texts.own_gone.format(minutes=error.minutes))
            except NotNowError:
                live.exchange = replace(live.exchange, error=texts.own_not_now)
            except (LqrError, KeyError):
                log.exception("a library was not opened")
                live.exchange = replace(live.exchange, error=texts.library_unopened)
            else:
                yield from asking.stream(live, question, history, application, texts, show)
            if live.settle():
                status = texts.stopped if live.exchange.stopped else live.exchange.error or texts.ready
                yield self._settled(before.and_then(live.exchange), texts, status=status)
        finally:
            live.cancelled.set()
            session.end(name)

    def stop(self, saved: Any, session: Session, event: gr.EventData, request: gr.Request) -> Update:
        """End the answer under way and keep what there is of it; a question still in the queue goes back unasked."""
        texts = _texts(request)
        live = session.stop(str(sent(event).get("name") or ""))
        if live is None:
            return self._settled(Conversation.from_json(saved), texts)
        if not live.settle():
            return {self.page: gr.skip(), self.saved: gr.skip()}  # it ended by itself just now, and has said so
        stopped = replace(live.exchange, stopped=live.exchange.answer is None)
        return self._settled(live.before.and_then(stopped), texts, status=texts.stopped)

    # Conversations -------------------------------------------------------------------------------------------------------

    def open_conversation(self, event: gr.EventData, request: gr.Request) -> Update:
        """Show the conversation that the event carries, out of the browser's store or out of a file; none: a new one."""
        texts, raw = _texts(request), sent(event).get("conversation")
        conversation = Conversation.from_json(raw)
        if raw and not conversation.exchanges:
            gr.Warning(texts.import_bad)
            return {self.page: gr.skip(), self.saved: gr.skip()}
        if conversation.exchanges and not conversation.id:
            conversation = replace(conversation, id=secrets.token_hex(8))
        return self._settled(conversation, texts)

    def save_file(self, saved: Any, event: gr.EventData, request: gr.Request) -> Update:
        """The conversation as a file for the browser to save (``kind`` is ``markdown`` or ``json``)."""
        texts, asked, profile = _texts(request), sent(event), self.app.profile
        kind, name = str(asked.get("kind")), str(asked.get("title") or "")
        file = export.as_file(Conversation.from_json(saved), kind, profile.title or profile.name, name, texts)
        return {self.parcel: {**file.to_json(), "number": secrets.token_hex(4)}}  # twice the same is a change all the same

    def open_document(self, saved: Any, event: gr.EventData, request: gr.Request) -> Update:
        """The whole document of a source, at the place that was cited."""
        texts, place = _texts(request), sent(event)
        source = Conversation.from_json(saved).source(place.get("exchange"), place.get("number"))
        if source is None:
            return {self.viewer: document.missing(texts)}
        try:
            whole = self.app_of(request, {}).store.document(str(source.get("document_id")))
        except (LqrError, KeyError):
            log.info("document %r is gone", source.get("document_id"))
            return {self.viewer: document.missing(texts)}
        cited = str(source.get("text", "")), source.get("section", ()), source.get("quotes", ())
        return {self.viewer: document.page(whole, *cited, texts)}

    def rate(self, saved: Any, event: gr.EventData, request: gr.Request) -> Update:
        """Record a thumb with its reasons, and show it as given."""
        texts, conversation, given = _texts(request), Conversation.from_json(saved), sent(event)
        index, rating = given.get("exchange"), given.get("rating")
        known = isinstance(index, int) and 0 <= index < len(conversation.exchanges) and rating in RATINGS
        item = conversation.exchanges[cast(int, index)] if known else None
        if self.recorder is None or item is None or item.answer is None:
            return {self.page: gr.skip(), self.saved: gr.skip()}
        chosen = given.get("reasons")
        why = [name.removeprefix("bad_") for name in views.REASONS if isinstance(chosen, list) and name in chosen]
        try:
            self.recorder.record(feedback.entry(item.question, item.answer, str(rating), why, str(given.get("comment") or "")))
        except (LqrError, ValueError):
            log.exception("feedback was not kept")
            return self._settled(conversation, texts, status=texts.feedback_lost)
        exchanges = list(conversation.exchanges)
        exchanges[cast(int, index)] = replace(item, rating=str(rating))
        return self._settled(replace(conversation, exchanges=tuple(exchanges)), texts, status=texts.feedback_thanks)


def build(application: Application, opened: ExitStack) -> gr.Blocks:
    """The page for ``application``, with all its tabs.

    Args:
        opened: takes what must be closed after the page and before ``application``: visitors' documents, the last feedback.

    Raises:
        LqrError: a library or the place of the feedback can't be had; the message names the setting.
    """
    sessions, words = Sessions(application), component_texts()
    opened.callback(sessions.close)
    own = Library(application, sessions)

    def application_of(request: gr.Request, shown: Mapping[str, Any]) -> Application:
        library, scope = (str(shown.get(name) or "") for name in ("library", "scope"))
        return sessions.application(request.session_hash, library=library, scope=scope)

    tabs = [
        (words("documents"), own.build),
        (words("search_tab"), SearchTab(application_of).build),
        (words("models"), ModelsTab(application).build),
    ]
    recorder = feedback.open_recorder(application.settings)
    if recorder is not None:
        opened.callback(recorder.close)
        log.info(recorder.reason)
    blocks = ChatPage(application, application_of=application_of, recorder=recorder, tabs=tabs).build()
    with blocks:
        blocks.unload(own.end)
    return blocks


def _texts(request: gr.Request) -> Texts:
    return choose(request.headers.get("accept-language"))
