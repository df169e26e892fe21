"""Thumbs with their reasons: off, and not even shown, unless ``LQR_FEEDBACK`` says where they go.

What is recorded was sent on purpose by the reader who gave the thumb; who that was is not. Where it is kept is the
business of ``lqr.hub.feedback``, or of anything else that has ``record(dict)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from lqr.settings import Settings

if TYPE_CHECKING:
    from lqr.hub.feedback import Feedback

MAX_COMMENT = 1000  # characters
MAX_TEXT = 6000


class Recorder(Protocol):
    """Where feedback goes."""

    def record(self, entry: Mapping[str, Any]) -> None:
        """Keep one entry.

        Raises:
            LqrError, ValueError: it could not be kept.
        """


def open_recorder(settings: Settings) -> Feedback | None:
    """Where ``LQR_FEEDBACK`` sends feedback; None when it is off, and then no thumbs are shown. The caller closes it.

    Raises:
        HubError: it names a data set that can't be written.
    """
    if settings.feedback == "off":
        return None
    from lqr.hub.feedback import open_feedback

    return open_feedback(settings)


def entry(question: str, answer: Mapping[str, Any], rating: str, reasons: Sequence[str], comment: str) -> dict[str, Any]:
    """What is recorded of one thumb: enough to see what went wrong, nothing about who gave it."""
    trace = answer["trace"]
    return {
        "rating": rating,
        "reasons": list(reasons),
        "comment": comment[:MAX_COMMENT],
        "question": question[:MAX_TEXT],
        "standalone": str(trace.get("standalone") or "")[:MAX_TEXT],
        "route": trace.get("route"),
        "text": str(answer["text"])[:MAX_TEXT],
        "refused": bool(answer.get("refused")),
        "confidence": answer["confidence"].get("level"),
        "passages": [str(source.get("id"))[:80] for source in answer["sources"][:20]],
        "writer": trace.get("writer"),
    }
