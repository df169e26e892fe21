"""A fake language model: a queue of ready replies, for tests and demonstrations.

It reads nothing and knows nothing; its name says so wherever an answer's writer is shown.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from lqr.errors import WriterError
from lqr.writing.base import ChatMessage, until_stop

CANNED_REPLY = "This is a canned reply of the fake language model; it has read nothing."


class FakeLanguageModel:
    """Replies from ``replies`` in turn, word by word, then with ``fallback`` for ever (WriterError if that is None).

    A reply that is an exception is raised. ``delay`` is in seconds per word. ``calls`` holds the last 32 lists of messages.
    """

    name = "fake (canned replies)"

    def __init__(
        self,
        replies: Iterable[str | Exception] = (),
        *,
        fallback: str | None = None,
        delay: float = 0.0,
        context: int = 4096,
    ) -> None:
        self.context = context
        self.calls: deque[list[ChatMessage]] = deque(maxlen=32)
        self.words_written = 0
        self._replies = deque(replies)
        self._fallback = fallback
        self._delay = delay
        self._closed = False

    def count_tokens(self, text: str) -> int:
        """One token per word."""
        return len(text.split())

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """See :class:`lqr.writing.base.LanguageModel`; a word counts as a token."""
        if self._closed:
            raise WriterError("the fake language model is closed")
        self.calls.append(list(messages))
        reply = self._replies.popleft() if self._replies else self._fallback
        if reply is None:
            raise WriterError("the fake language model has no reply left; give it one reply per question")
        if isinstance(reply, Exception):
            raise reply
        return until_stop(self._words(reply, max_tokens, cancelled), stop)

    def close(self) -> None:
        """See :class:`lqr.writing.base.LanguageModel`."""
        self._closed = True

    def _words(self, reply: str, max_tokens: int, cancelled: Callable[[], bool]) -> Iterator[str]:
        for number, word in enumerate(reply.split(" ")[:max_tokens]):
            if cancelled():
                return
            if self._delay:
                time.sleep(self._delay)
            self.words_written += 1
            yield word if number == 0 else " " + word
