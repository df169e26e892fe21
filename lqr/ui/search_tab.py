"""The Search tab: what BM25, the vectors, their fusion and the graph find for a query, side by side, with scores.

Nothing is decided or written here; the passages are shown as the retriever gives them, own documents of the visitor included.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import gradio as gr

from lqr.retrieval.ranking import Mode
from lqr.service.sessions import DroppedError
from lqr.service.uploads import NotNowError
from lqr.types import Hit
from lqr.ui import endpoints
from lqr.ui.library import texts_of
from lqr.ui.markup import escape, paragraphs
from lqr.ui.parts import mapping
from lqr.ui.reasons import reached
from lqr.ui.texts import Texts, component_texts

if TYPE_CHECKING:
    from lqr.app import Application

log = logging.getLogger(__name__)
SHOWN = 10
SEEDS = 6  # best fused hits from which the graph is walked, as for an answer
MODES: tuple[Mode, ...] = ("bm25", "dense", "hybrid")
ApplicationOf = Callable[[gr.Request, Mapping[str, Any]], "Application"]
SHOWN_BESIDE = "(query) => [query, window.lqr?.shown?.() ?? {}]"  # see assets/library.js


@dataclass(frozen=True)
class SearchTab:
    """Builds the tab and answers its events. ``application_of`` is that of the chat."""

    application_of: ApplicationOf

    def build(self) -> None:
        """The tab's content, inside the ``gr.Tab`` being built."""
        words = component_texts()
        lead = gr.HTML("", elem_id="search-lead", apply_default_css=False)
        with gr.Row(elem_id="search-line"):
            query = gr.Textbox(label=words("search_for"), lines=1, max_lines=3, scale=1, elem_id="search-query")
            button = gr.Button(words("search_go"), variant="primary", scale=0, elem_id="search-go")
        shown = gr.JSON(visible=False)
        found = gr.HTML("", elem_id="found", apply_default_css=False)
        gr.on(None, self.lead, [], [lead], queue=False, show_progress="hidden", api_visibility="private")
        gr.on(
            [query.submit, button.click],
            self.search,
            [query, shown],
            [found],
            js=SHOWN_BESIDE,
            api_visibility="private",
            concurrency_id=endpoints.QUEUE,
            show_progress="minimal",
        )

    def lead(self, request: gr.Request) -> str:
        """What the tab is for."""
        return f'<p class="lead">{escape(texts_of(request).search_lead)}</p>'

    def search(self, query: str, shown: Any, request: gr.Request) -> str:
        """Four lists for ``query``, from what the page shows as chosen under Documents."""
        texts = texts_of(request)
        if not isinstance(query, str) or not query.strip():
            return ""
        try:
            application = self.application_of(request, mapping(shown))
            retriever = application.retriever
            query = query[: application.settings.max_question_chars]
            found: list[tuple[str, Sequence[Hit]]] = [(mode, retriever.search(query, SHOWN, mode=mode)) for mode in MODES]
            seeds = found[-1][1][:SEEDS]
            found.append(("graph", retriever.expand(seeds, hops=2, limit=SHOWN, query=query)))
        except DroppedError as error:
            return _notice(texts.own_gone.format(minutes=error.minutes))
        except NotNowError:
            return _notice(texts.own_not_now)
        except Exception:
            number = secrets.token_hex(4)
            log.exception("search %s failed", number)
            return _notice(texts.failed.format(id=number))
        return columns(found, texts)


def _notice(text: str) -> str:
    return f'<p class="notice">{escape(text)}</p>'


def columns(found: Sequence[tuple[str, Sequence[Hit]]], texts: Texts) -> str:
    """The lists side by side; each is ``(mode, hits)``."""
    return f'<div class="columns">{"".join(_column(mode, hits, texts) for mode, hits in found)}</div>'


def _column(mode: str, hits: Sequence[Hit], texts: Texts) -> str:
    title = cast(str, getattr(texts, f"search_{mode}"))
    items = "".join(_hit(hit, texts) for hit in hits)
    body = f"<ol>{items}</ol>" if items else f'<p class="note">{escape(texts.search_none)}</p>'
    return f'<section aria-label="{escape(title)}"><h3>{escape(title)}</h3>{body}</section>'


def _hit(hit: Hit, texts: Texts) -> str:
    passage = hit.passage
    trail = " › ".join(passage.section)
    page = f" · {texts.page.format(page=passage.page)}" if passage.page else ""
    others = " · ".join(f"{getattr(texts, f'score_{name}', name)} {_number(number)}" for name, number in hit.scores.items())
    why = f'<p class="note">{escape(reached(hit.why, texts))}</p>' if hit.why else ""
    return (
        f'<li><details><summary dir="auto"><strong>{escape(passage.title)}</strong> {escape(trail)}{escape(page)} '
        f'<span class="score">{escape(texts.score.format(score=_number(hit.score)))}</span></summary>'
        f'<div class="passage">{paragraphs(passage.text)}<p class="note">{escape(others)}</p></div></details>{why}</li>'
    )


def _number(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 0.1 else f"{value:.2f}"
