"""What every language model looks like to the pipeline, and the one way they all run: in a thread that can be stopped.

Knows no particular engine, no prompt and no passage.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Literal, Protocol, TypedDict

from lqr.errors import LqrError, WriterError

logger = logging.getLogger(__name__)

POLL_SECONDS = 0.05  # how often a waiting stream asks whether it was cancelled


class ChatMessage(TypedDict):
    """One message in the form that chat templates and OpenAI-compatible servers take."""

    role: Literal["system", "user", "assistant"]
    content: str


class LanguageModel(Protocol):
    """A chat model that streams text.

    ``name`` is for people (trace, log); ``context`` is in tokens, prompt and answer together. All methods may be
    called from several threads at once.
    """

    @property
    def name(self) -> str: ...

    @property
    def context(self) -> int: ...

    def count_tokens(self, text: str) -> int:
        """Number of tokens of ``text`` without the chat template (a cautious estimate where no tokenizer is at hand)."""
        ...

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[str]:
        """Yield the answer piece by piece.

        Closing the iterator, or ``cancelled()`` returning True, stops the computation itself; the iterator then
        ends without an error. ``stop`` strings end the answer and are not part of it.

        Raises:
            WriterError: the model failed; the message says what to do.
        """
        ...

    def close(self) -> None:
        """Stop running answers and free the model. Streaming afterwards raises WriterError; closing twice is harmless."""
        ...


Emit = Callable[[str], bool]


def stream_from_thread(
    produce: Callable[[Emit], None],
    *,
    cancelled: Callable[[], bool],
    on_stop: Callable[[], None] | None = None,
    name: str = "language-model",
) -> Iterator[str]:
    """Run ``produce(emit)`` in a thread and yield what it emits.

    ``emit(text)`` returns True once the consumer has gone, upon which ``produce`` must return soon; ``emit("")``
    only asks. ``on_stop`` is called once on an early end, to wake a producer that is waiting for something.
    The thread has ended when this generator has ended. Exceptions of ``produce`` come out here, as WriterError.
    """
    pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    stopped = threading.Event()
    failure: list[BaseException] = []

    def emit(text: str) -> bool:
        if text and not stopped.is_set():
            pieces.put(text)
        return stopped.is_set()

    def run() -> None:
        try:
            produce(emit)
        except BaseException as error:  # everything must reach the consumer, or it would wait for ever
            failure.append(error)
        finally:
            pieces.put(None)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    finished = False
    try:
        while not cancelled():
            try:
                piece = pieces.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue
            if piece is None:
                finished = True
                break
            yield piece
    finally:
        if not finished:
            stopped.set()
            if on_stop is not None:
                on_stop()
        thread.join()
    if finished and failure:
        error = failure[0]
        if isinstance(error, LqrError):
            raise error
        logger.debug("language model failed", exc_info=error)
        raise WriterError(f"{name} failed: {type(error).__name__}: {error}") from error


def wait_for_slot(slots: threading.Semaphore, cancelled: Callable[[], bool]) -> bool:
    """Take a slot, asking ``cancelled`` while waiting; False if cancelled first (nothing is held then)."""
    while not cancelled():
        if slots.acquire(timeout=POLL_SECONDS):
            return True
    return False


def until_stop(pieces: Iterator[str], stop: Sequence[str]) -> Iterator[str]:
    """Pass ``pieces`` on up to the first of the ``stop`` strings, also when one is split over several pieces.

    ``pieces`` is closed at the end, so that the computation behind it ends with the answer.
    """
    stops = [s for s in stop if s]
    held = ""
    keep = max(map(len, stops), default=1) - 1  # a stop string may still begin in the last `keep` characters
    try:
        for piece in pieces:
            held += piece
            found = [at for at in (held.find(s) for s in stops) if at >= 0]
            if found:
                held = held[: min(found)]
                break
            ready = len(held) - keep
            if ready > 0:
                yield held[:ready]
                held = held[ready:]
        if held:
            yield held
    finally:
        if isinstance(pieces, Generator):
            pieces.close()
