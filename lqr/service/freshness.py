"""Lets a running chat see what another process ingests: compares the store's generation before each question.

The check is one small query, and a look whether another file was put in the place of the store's: that one may have the same
generation (a collection fetched from the Hub, or made again). Indexes that the other process has already saved are loaded at
once; otherwise the chat waits until the store has been quiet for a while and builds them in the background, so that no
question waits for it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from lqr.errors import LqrError

log = logging.getLogger(__name__)
QUIET = 5.0  # seconds without a change: an ingest that goes on will change the store again, and save its own index


class _Store(Protocol):
    @property
    def generation(self) -> int: ...
    def renew(self) -> bool: ...


class _Retriever(Protocol):
    @property
    def generation(self) -> int: ...
    def refresh(self, *, anew: bool) -> bool: ...


class Freshness:
    """Keeps ``retriever`` near ``store``. Safe to use from several threads."""

    def __init__(self, retriever: _Retriever, store: _Store, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        """``folder`` is the store's."""
        self._retriever = retriever
        self._store = store
        self._pointer = folder / "index" / "CURRENT"
        self._clock = clock
        self._busy = threading.Lock()  # held while the indexes are brought up to date
        self._seen: tuple[int, float] = (-1, 0.0)  # a generation that the retriever lacks, and since when
        # Stores put in the place of the first, and how many of them the retriever has seen: counted, as questions overlap.
        self._stores = self._taken_in = 0
        self._changes = 0

    @property
    def changes(self) -> int:
        """How often changes were taken in so far."""
        return self._changes

    def check(self) -> None:
        """Before a question: take in what is ready, and see to what is not. Never raises; never waits for embeddings."""
        try:
            if self._store.renew():
                self._stores, self._seen = self._stores + 1, (-1, 0.0)
                log.info("another store was put in the place of the one that was open")
            generation, replaced = self._store.generation, self._stores != self._taken_in
            if generation == self._retriever.generation and not replaced:
                return
            if generation != self._seen[0]:
                self._seen = (generation, self._clock())
            saved = self._saved() == generation and not replaced  # else the saved index may be of the store before
            if not saved and self._clock() - self._seen[1] < QUIET:
                return
        except LqrError as error:
            log.warning("the store can't be read, searches go on with what is indexed: %s", error)
            return
        if not self._busy.acquire(blocking=False):
            return  # another question has begun it; this one goes on with the old snapshot
        if saved:
            self._refresh()
        else:
            threading.Thread(target=self._refresh, name="lqr-refresh", daemon=True).start()

    def _refresh(self) -> None:
        stores = self._stores
        try:
            began = self._clock()
            changed = self._retriever.refresh(anew=stores != self._taken_in)
            self._taken_in = stores
            if changed:
                self._changes += 1
                seconds = self._clock() - began
                log.info("the store has changed: generation %d taken in after %.1f s", self._retriever.generation, seconds)
        except Exception as error:  # the old snapshot still answers
            log.warning("the store has changed, but can't be indexed: %s", error)
        finally:
            self._busy.release()

    def _saved(self) -> int:
        """The generation of the index on disk, -1 when there is none."""
        try:
            return int(self._pointer.read_text(encoding="utf-8").partition("-")[0])
        except (OSError, ValueError):
            return -1
