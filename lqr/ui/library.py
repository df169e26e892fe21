"""The Documents tab: a visitor's own files, added, listed and removed, and which documents answer.

Every file is read at once and Gradio's copy of it deleted, as whoever knows its address could fetch that; a copy that was never
to be added is left to Gradio (the page's ``delete_cache``). What is kept, for how long and for whom is decided in
``lqr.service.sessions``; a session is known by the hash that Gradio gave its page.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import gradio as gr

from lqr.corpus.readers import clean_source, supported_suffixes
from lqr.errors import LqrError, ReadError
from lqr.service.limits import client_address, is_private
from lqr.service.sessions import Sessions
from lqr.service.uploads import Collection, QuotaError, Scope, Upload
from lqr.ui.markup import escape
from lqr.ui.parts import sent
from lqr.ui.texts import ASSETS, Texts, choose, component_texts

if TYPE_CHECKING:
    from lqr.app import Application

log = logging.getLogger(__name__)
QUEUE = "uploads"
AT_ONCE = 2  # uploads read at the same time, so that a long one stops neither the others nor the answers
LOOK = 0.3  # seconds between two looks at how far a file has come
Rows = list[tuple[str, str, str]]  # name, state ("waiting", "reading", "ready", "failed"), words


@dataclass(frozen=True)
class Library:
    """Builds the tab and answers its events."""

    application: Application
    sessions: Sessions

    def build(self) -> None:
        """The tab's content, inside the ``gr.Tab`` being built."""
        words = component_texts()
        takes_files = bool(self.application.settings.upload_files)
        lead = gr.HTML("", elem_id="library-lead", apply_default_css=False)
        files = gr.File(
            label=words("upload"),
            file_count="multiple",
            file_types=list(supported_suffixes()),
            elem_id="upload",
            height=150,
            visible=takes_files,
        )
        script = (ASSETS / "library.js").read_text(encoding="utf-8")
        panel = gr.HTML("", js_on_load=script, elem_id="library", apply_default_css=False)
        quick: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
        gr.on(None, self.show, [], [lead, panel], queue=False, **quick)
        quick["trigger_mode"] = "multiple"
        panel.chosen(self.choose, None, [panel], **quick)
        if not takes_files:
            return
        files.upload(
            self.add,
            [files],
            [files, panel],
            concurrency_id=QUEUE,
            concurrency_limit=AT_ONCE,
            **quick,
        )
        panel.removed(self.remove, None, [panel], **quick)
        panel.scoped(self.scope, None, [panel], queue=False, **quick)

    def show(self, request: gr.Request) -> tuple[str, str]:
        """What the tab is for, and the list as it is."""
        return self._lead(texts_of(request)), self._panel(request)

    def add(self, paths: list[str] | None, request: gr.Request) -> Iterator[tuple[Any, Any]]:
        """Take files in, one after the other, telling how far each has come."""
        texts = texts_of(request)
        files = [Path(path) for path in paths or ()]
        rows: Rows = [(clean_source(file.name), "waiting", texts.upload_waiting) for file in files]
        opened = cache(partial(self.sessions.open, request.session_hash, self._client(request)))
        try:
            for number, file in enumerate(files):
                name = rows[number][0]
                for state, said in self._taken(file, opened, texts):
                    rows[number] = (name, state, said)
                    yield gr.skip(), self._panel(request, rows)
            yield gr.File(value=None), self._panel(request, rows)
        finally:  # also when the page was closed meanwhile
            for file in files:
                file.unlink(missing_ok=True)

    def _taken(self, path: Path, opened: Callable[[], Collection], texts: Texts) -> Iterator[tuple[str, str]]:
        """How far one file has come, until it is ready or refused.

        ``opened`` gives the same collection for all files of one upload: the page may end between two of them, and the next
        one must meet the collection that was closed then, not make another that nobody would see or remove.
        """
        yield "reading", texts.upload_reading
        try:
            try:
                if path.stat().st_size > self.application.settings.upload_megabytes * 2**20:
                    raise QuotaError(f"larger than {self.application.settings.upload_megabytes} MB; split it")
                data = path.read_bytes()
            finally:
                path.unlink(missing_ok=True)
            work = _Work(opened(), path.name, data)
            for what, done, total in work.progress():
                words = texts.upload_pages if what == "pages" else texts.upload_indexing
                yield "reading", words.format(done=done, total=total)
            upload = work.result()
            yield "ready", texts.upload_cut.format(what=upload.cut) if upload.cut else texts.upload_ready
        except LqrError as error:
            yield "failed", f"{texts.upload_failed}: {error}"
        except Exception:
            number = secrets.token_hex(4)
            log.exception("upload %s failed", number)
            yield "failed", texts.failed.format(id=number)

    def _client(self, request: gr.Request) -> str:
        """The address that an upload counts for, as the gateway has it.

        Empty, which counts for nobody, where the other end is a proxy that is not named in the settings: all visitors share
        its address, as on a Space.
        """
        client = getattr(request, "client", None)
        if not self.application.settings.trusted_proxies and is_private(client.host if client else None):
            return ""
        forwarded = [value for name, value in request.headers.items() if name.lower() == "x-forwarded-for"]
        return client_address(client.host if client else None, forwarded, self.application.settings.trusted_proxies)

    def remove(self, event: gr.EventData, request: gr.Request) -> str:
        """Remove the file that the event names by its ``id``."""
        texts, mine = texts_of(request), self.sessions.get(request.session_hash)
        gone: Upload | None = None
        if mine is not None:
            try:
                gone = mine.delete(str(sent(event).get("id") or ""))
            except LqrError:
                log.exception("a document was not removed")
        return self._panel(request, status=texts.removed.format(name=gone.name) if gone else "")

    def scope(self, event: gr.EventData, request: gr.Request) -> str:
        """Answer from other documents."""
        mine = self.sessions.get(request.session_hash)
        if mine is not None:
            mine.choose(str(sent(event).get("scope") or ""))
        return self._panel(request)

    def choose(self, event: gr.EventData, request: gr.Request) -> str:
        """Ask another library."""
        try:
            self.sessions.choose_library(request.session_hash, str(sent(event).get("library") or ""))
        except (LqrError, KeyError):
            log.exception("a library was not opened")
            return self._panel(request, status=texts_of(request).library_unopened)
        return self._panel(request)

    def end(self, request: gr.Request) -> None:
        """The page was closed."""
        self.sessions.drop(request.session_hash)

    # What is shown -------------------------------------------------------------------------------------------------------

    def _lead(self, texts: Texts) -> str:
        settings = self.application.settings
        if not settings.upload_files:
            return f'<p class="lead">{escape(texts.library_off)}</p>'
        private = texts.library_private.format(minutes=settings.upload_minutes)
        room = texts.library_room.format(
            files=settings.upload_files, megabytes=settings.upload_megabytes, passages=settings.upload_passages
        )
        return f'<p class="lead">{escape(texts.library_lead)} {escape(private)}</p><p class="note">{escape(room)}</p>'

    def _panel(self, request: gr.Request, rows: Sequence[tuple[str, str, str]] = (), status: str = "") -> str:
        texts = texts_of(request)
        mine = self.sessions.get(request.session_hash)
        uploads = mine.uploads if mine else ()
        own = f"<h3>{escape(texts.library_yours)}</h3>{_table(uploads, texts)}" if self.application.settings.upload_files else ""
        return (
            f"{_progress(rows)}"
            f'<p class="note" role="status" aria-live="polite">{escape(status)}</p>'
            f"{own}{_scopes(mine.scope, texts) if mine and uploads else ''}"
            f"{_libraries(self.sessions.libraries.titles, self.sessions.library(request.session_hash), texts)}"
        )


class _Work:
    """One file taken in by a thread of its own, so that the page can tell how far it has come."""

    def __init__(self, collection: Collection, name: str, data: bytes) -> None:
        self._step: tuple[str, int, int] | None = None
        self._outcome: Upload | BaseException = ReadError(f"{clean_source(name)}: was not read")

        def step(*step: Any) -> None:
            self._step = step

        def work() -> None:
            try:
                self._outcome = collection.add(name, data, step)
            except BaseException as error:  # raised again where the result is asked for
                self._outcome = error

        self._thread = threading.Thread(target=work, name="lqr-upload", daemon=True)
        self._thread.start()

    def progress(self) -> Iterator[tuple[str, int, int]]:
        """The newest step, a few times a second, until the work is done."""
        while self._thread.is_alive():
            self._thread.join(LOOK)
            if self._step is not None:
                yield self._step

    def result(self) -> Upload:
        """What became of it; raises what the work raised."""
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        return self._outcome


def _libraries(titles: Mapping[str, str], chosen: str, texts: Texts) -> str:
    """A list to choose from, where there is a choice."""
    if len(titles) < 2:
        return ""
    options = "".join(
        f'<option value="{escape(name)}"{" selected" if name == chosen else ""}>{escape(title)}</option>'
        for name, title in titles.items()
    )
    return f'<p class="libraries"><label>{escape(texts.library_which)} <select name="library">{options}</select></label></p>'


def _scopes(scope: Scope, texts: Texts) -> str:
    items = "".join(
        f'<label><input type="radio" name="scope" value="{name}"{" checked" if name == scope else ""}>'
        f"<span>{escape(getattr(texts, f'scope_{name}'))}</span></label>"
        for name in get_args(Scope)
    )
    return f'<fieldset class="scopes" data-scope="{scope}"><legend>{escape(texts.scope)}</legend><div>{items}</div></fieldset>'


def _table(uploads: Sequence[Upload], texts: Texts) -> str:
    if not uploads:
        return f'<p class="note">{escape(texts.library_none)}</p>'
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in (texts.name, texts.size, texts.passages))
    rows = "".join(
        f'<tr><td dir="auto">{escape(upload.name)}'
        f"{f'<small>{escape(texts.upload_cut.format(what=upload.cut))}</small>' if upload.cut else ''}</td>"
        f"<td>{size(upload.size)}</td><td>{upload.passages}</td>"
        f'<td><button type="button" class="quiet" data-remove="{escape(upload.id)}" '
        f'aria-label="{escape(texts.remove_it.format(name=upload.name))}">{escape(texts.remove)}</button></td></tr>'
        for upload in uploads
    )
    return f'<table class="uploads"><thead><tr>{head}<td></td></tr></thead><tbody>{rows}</tbody></table>'


def _progress(rows: Sequence[tuple[str, str, str]]) -> str:
    items = "".join(
        f'<li data-state="{state}"><span dir="auto">{escape(name)}</span> <em>{escape(said)}</em></li>'
        for name, state, said in rows
    )
    return f'<div role="status"><ul class="progress">{items}</ul></div>' if items else ""


def size(count: int) -> str:
    """Bytes for a person."""
    return f"{count / 2**20:.1f} MB" if count >= 2**20 else f"{max(1, round(count / 1024))} kB"


def texts_of(request: gr.Request) -> Texts:
    """The words of the page in the browser's language."""
    return choose(request.headers.get("accept-language"))
