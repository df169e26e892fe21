"""One question put to the pipeline while the page looks on: how far it has come goes into :class:`~lqr.ui.session.Live`.

It knows no component: what to show at each step is the caller's to say.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from lqr.errors import Cancelled, LqrError
from lqr.types import Answer, Event, Progress, TextDelta
from lqr.ui.exchange import Conversation
from lqr.ui.session import Live
from lqr.ui.texts import Texts

if TYPE_CHECKING:
    from lqr.app import Application

log = logging.getLogger(__name__)
STEP = 0.04  # seconds between two updates of a streaming answer: as fast as an eye follows, no faster
T = TypeVar("T")


def stream(
    live: Live, question: str, history: Conversation, application: Application, texts: Texts, show: Callable[[str], T]
) -> Iterator[T]:
    """Answer ``question``; yields ``show(status)`` as often as ``live.exchange`` has changed enough to be seen.

    It ends without an error: what went wrong, or that the reader stopped it, stands in ``live.exchange`` then.

    Args:
        live: asked with its options, and ended as soon as it is cancelled.
        history: what a follow-up may refer to.
    """
    status, shown, options = texts.thinking, 0.0, live.exchange.options
    try:
        pipeline = options.tuned(application.pipeline)
        answering = pipeline.stream(question, history.turns(), cancelled=live.cancelled.is_set, route=options.route)
        # Closing passes a Stop (or a closed tab) on to the pipeline at once, not when the garbage collector comes round.
        with closing(cast("Generator[Event, None, None]", answering)) as events:
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
                elif isinstance(event, Progress) and texts.language == "en":
                    status = event.detail or event.stage
                shown = time.monotonic()
                yield show(status)
        raise LqrError("the pipeline ended without an answer")
    except Cancelled:
        live.exchange = replace(live.exchange, stopped=True)
    except Exception:
        number = secrets.token_hex(4)
        log.exception("answer %s failed", number)
        live.exchange = replace(live.exchange, error=texts.failed.format(id=number))
