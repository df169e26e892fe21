"""What a program gets from the page: ``ask`` and ``search``, for Gradio clients and MCP.

The docstrings are shown to those callers. Nothing but the project's own one-line errors ever reaches them.
"""

from __future__ import annotations

import dataclasses
import logging
import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import gradio as gr

from lqr.types import Answer, as_turns
from lqr.ui.exchange import KEEP, MAX_ANSWER
from lqr.ui.options import Options
from lqr.ui.texts import EN

if TYPE_CHECKING:
    from lqr.app import Application

log = logging.getLogger(__name__)
QUEUE = "answers"
MAX_RESULTS = 50
MOST_TURNS = 2 * KEEP  # of a history; a page keeps no more
T = TypeVar("T")


def add(application: Application) -> None:
    """Register both endpoints in the Blocks being built."""

    def ask(
        question: str,
        history: list[dict[str, str]] | None = None,
        route: str = "auto",
        strictness: str = "balanced",
        passages: int = 0,
    ) -> dict[str, Any]:
        """Answer a question from the documents, with the passages that every sentence stands on.

        Args:
            question: one question in plain words; a follow-up if there is a history
            history: the conversation so far, oldest first: [{"role": "user" or "assistant", "content": "..."}]
            route: auto, simple (one look-up) or complex (two steps)
            strictness: cautious (refuses more), balanced, or open (answers more, and misses the point more often)
            passages: how many passages are read for the answer, 1 to 12; 0 as many as usual

        Returns:
            text (with [n] citations), claims, sources, refused, confidence, suggestions and trace
        """
        if not isinstance(question, str) or not _is_history(history):
            wanted = f'question must be text, and history a list of at most {MOST_TURNS} {{"role": ..., "content": ...}}'
            raise gr.Error(f"{wanted}, each of at most {MAX_ANSWER} characters", print_exception=False)
        options = Options.from_json({"route": route, "strictness": strictness, "passages": passages})
        return _guarded(lambda: _answer(application, question, history or [], options))

    def search(query: str, limit: int = 10) -> list[dict[str, Any]]:
        """Find the passages of the documents nearest to a query, best first, without writing an answer.

        Args:
            query: words or a question
            limit: how many passages, 1 to 50

        Returns:
            a list of passages: id, title, section, text, page and scores
        """
        if not isinstance(query, str) or not isinstance(limit, int):
            raise gr.Error("query must be text, and limit a whole number", print_exception=False)
        return _guarded(lambda: _search(application, query, min(max(limit, 1), MAX_RESULTS)))

    gr.api(ask, api_name="ask", concurrency_id=QUEUE, concurrency_limit=application.settings.llm_slots)
    gr.api(search, api_name="search", concurrency_id=QUEUE, concurrency_limit=application.settings.llm_slots)


def _answer(application: Application, question: str, history: list[dict[str, str]], options: Options) -> dict[str, Any]:
    pipeline = options.tuned(application.pipeline)
    for event in pipeline.stream(question, as_turns(history), route=options.route):
        if isinstance(event, Answer):
            return event.to_dict()
    raise RuntimeError("the pipeline ended without an answer")


def _search(application: Application, query: str, limit: int) -> list[dict[str, Any]]:
    results = []
    for hit in application.retriever.search(query, limit):
        passage = dataclasses.asdict(hit.passage)
        shown = {key: passage[key] for key in ("id", "document_id", "title", "section", "text", "page")}
        results.append({**shown, "score": hit.score, "scores": dict(hit.scores)})
    return results


def _guarded(work: Callable[[], T]) -> T:
    """Run ``work``; whatever fails becomes one line with a number that is in the log, never a trace or a path."""
    try:
        return work()
    except Exception:
        number = secrets.token_hex(4)
        log.exception("request %s failed", number)
        raise gr.Error(EN.failed.format(id=number), print_exception=False) from None


def _is_history(history: Any) -> bool:
    """A list of at most ``MOST_TURNS`` objects, none with a text longer than a conversation on the page may hold."""
    return history is None or (
        isinstance(history, list)
        and len(history) <= MOST_TURNS
        and all(isinstance(turn, Mapping) and len(str(turn.get("content", ""))) <= MAX_ANSWER for turn in history)
    )
