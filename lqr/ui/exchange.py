"""A question and its answer as the browser keeps them, in its storage and in a file to share.

The browser is the only memory: the server holds a conversation no longer than one request. What comes back from there
may have been edited or come from an older version, so it is checked; what does not fit is left out, never an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lqr.types import Turn
from lqr.ui.options import Options

VERSION = 1
KEEP = 40  # exchanges of a conversation; the browser's local storage holds some five megabytes
MAX_SHOWN = 4000  # characters of a question that are kept and shown
MAX_ANSWER = 40_000  # characters of an answer's text; ours are far shorter, a file's may not be
RATINGS = ("up", "down")
FIXED = ("small_talk", "meta", "unclear", "empty", "too_long")  # kinds of turn that no document answers


@dataclass(frozen=True, slots=True)
class Exchange:
    """``answer`` is ``Answer.to_dict()``; without it there is a ``draft`` (stopped, or under way) or an ``error``.

    ``options`` is what the question was asked with, ``rating`` the reader's thumb: ``up``, ``down`` or empty.
    """

    question: str
    answer: Mapping[str, Any] | None = None
    draft: str = ""
    stopped: bool = False
    error: str = ""
    options: Options = field(default_factory=Options)
    rating: str = ""

    @property
    def text(self) -> str:
        """What was answered, as plain text."""
        return str(self.answer["text"]) if self.answer else self.draft

    @property
    def fixed(self) -> bool:
        """Whether the answer is a fixed reply (a greeting returned), about which the documents say nothing."""
        return bool(self.answer) and (self.answer or {})["trace"].get("turn_kind") in FIXED

    def to_json(self) -> dict[str, Any]:
        """The form that the browser stores."""
        return {
            "question": self.question,
            "answer": dict(self.answer) if self.answer else None,
            "draft": self.draft,
            "stopped": self.stopped,
            "error": self.error,
            "options": self.options.to_json(),
            "rating": self.rating,
        }


@dataclass(frozen=True, slots=True)
class Conversation:
    """The exchanges on the page. ``id`` is the browser's own name for it; it opens nothing on the server."""

    exchanges: tuple[Exchange, ...] = ()
    id: str = ""

    def to_json(self) -> dict[str, Any]:
        """The form that the browser stores."""
        exchanges = [exchange.to_json() for exchange in self.exchanges[-KEEP:]]
        return {"kind": "lqr-conversation", "version": VERSION, "id": self.id, "exchanges": exchanges}

    @classmethod
    def from_json(cls, raw: Any) -> Conversation:
        """Read what the browser sent; anything that is not ours is an empty conversation."""
        if not isinstance(raw, Mapping) or raw.get("version") != VERSION:
            return cls()
        name = raw.get("id")
        known = isinstance(name, str) and re.fullmatch("[0-9a-z]{8,32}", name)
        return cls(_exchanges(raw.get("exchanges")), str(name) if known else "")

    def and_then(self, exchange: Exchange) -> Conversation:
        """The conversation with one exchange more."""
        return replace(self, exchanges=(*self.exchanges, exchange))

    def source(self, exchange: Any, number: Any) -> Mapping[str, Any] | None:
        """The source ``number`` of the answer in that ``exchange``; None if there is none. Both may be anything at all."""
        if not isinstance(exchange, int) or not 0 <= exchange < len(self.exchanges):
            return None
        answer = self.exchanges[exchange].answer
        return next((source for source in answer["sources"] if source["number"] == number), None) if answer else None

    def turns(self) -> tuple[Turn, ...]:
        """The conversation as the pipeline takes it; a question that got no answer is left out with it."""
        turns: list[Turn] = []
        for exchange in self.exchanges:
            if exchange.text.strip():
                turns += [Turn("user", exchange.question), Turn("assistant", exchange.text)]
        return tuple(turns)


def _exchanges(raw: Any) -> tuple[Exchange, ...]:
    items = raw if isinstance(raw, Sequence) and not isinstance(raw, str) else ()
    return tuple(exchange for exchange in map(_exchange, items[-KEEP:]) if exchange is not None)


def _exchange(raw: Any) -> Exchange | None:
    if not isinstance(raw, Mapping) or not isinstance(raw.get("question"), str):
        return None
    answer = raw.get("answer")
    if answer is not None and not is_answer(answer):
        return None
    rating = raw.get("rating")
    return Exchange(
        question=raw["question"][:MAX_SHOWN],
        answer=answer,
        draft=str(raw.get("draft") or "")[:MAX_ANSWER],
        stopped=bool(raw.get("stopped")),
        error=str(raw.get("error") or "")[:MAX_SHOWN],
        options=Options.from_json(raw.get("options")),
        rating=rating if rating in RATINGS else "",
    )


def is_answer(raw: Any) -> bool:
    """Whether ``raw`` has the shape of ``Answer.to_dict()`` as far as the page reads it."""
    if not isinstance(raw, Mapping) or not isinstance(raw.get("text"), str) or len(raw["text"]) > MAX_ANSWER:
        return False
    trace, confidence = raw.get("trace"), raw.get("confidence")
    lists = [raw.get("claims"), raw.get("sources"), raw.get("suggestions", [])]
    return (
        isinstance(trace, Mapping)
        and isinstance(confidence, Mapping)
        and isinstance(confidence.get("level"), str | None)
        and all(isinstance(entry, list | tuple) for entry in lists)
        and all(isinstance(claim, Mapping) and _lists_of_text(claim, "passages") for claim in raw["claims"])
        and all(isinstance(source, Mapping) and isinstance(source.get("number"), int) for source in raw["sources"])
        and all(isinstance(source.get("document_id"), str | None) for source in raw["sources"])
        and all(_lists_of_text(source, "section", "quotes", "references") for source in raw["sources"])
        and isinstance(trace.get("seconds", {}), Mapping)
        and _lists_of_text(trace, "sub_questions", "queries")
        and all(_hits(trace.get(key, [])) for key in ("kept", "dropped"))
    )


def _lists_of_text(raw: Mapping[str, Any], *keys: str) -> bool:
    return all(
        isinstance(raw.get(key, []), list | tuple) and all(isinstance(entry, str) for entry in raw.get(key, [])) for key in keys
    )


def _hits(raw: Any) -> bool:
    return isinstance(raw, list | tuple) and all(
        isinstance(hit, Mapping) and isinstance(hit.get("score"), int | float) for hit in raw
    )
