"""Who has documents of his own: a collection for each session, made when somebody adds a document, and dropped in time.

A collection (:mod:`lqr.service.uploads`) is reached only through the key that the caller holds. Knows no page: the key is
whatever names a session.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable
from typing import cast, get_args

from lqr.app import Application
from lqr.errors import LqrError
from lqr.service.libraries import Libraries
from lqr.service.scratch import Scratch
from lqr.service.uploads import Collection, QuotaError, Scope
from lqr.service.variants import Variants

log = logging.getLogger(__name__)
SWEEP = 30.0  # seconds between two looks for documents whose time is up
SHORTEST_KEY = 8  # a shorter one could be guessed
SHARE = 5  # one client address may hold the fifth part of the places, and two in any case: keys cost whoever asks nothing


class DroppedError(LqrError):
    """A session asks its own documents, and they are no longer here; unused ones are kept for ``minutes``."""

    def __init__(self, minutes: int) -> None:
        super().__init__(f"documents of one's own are dropped after {minutes} minutes without use; add them again")
        self.minutes = minutes


class Sessions:
    """The collections of all sessions, by key. Makes no folder before somebody adds a document."""

    def __init__(self, base: Application, clock: Callable[[], float] = time.monotonic) -> None:
        """``base`` answers whoever has added and chosen nothing."""
        self._base = base
        self._variants: dict[str, Variants] = {}  # by the name of the library
        self.libraries = Libraries(base)
        self._clock = clock
        self._lock = threading.Lock()
        self._open: dict[str, Collection] = {}
        self._chosen: dict[str, str] = {}  # the library of a session, where it is not the usual one
        self._used: dict[str, float] = {}
        self._clients: dict[str, str] = {}  # the address that opened a collection
        self._scratch: Scratch | None = None
        self._ended = threading.Event()

    def __len__(self) -> int:
        """How many sessions have a collection."""
        return len(self._open)

    def get(self, key: str | None) -> Collection | None:
        """The collection of a session, if it has one; it counts as used now."""
        self.sweep()
        with self._lock:
            if key in self._used:
                self._used[key] = self._clock()
            return self._open.get(key or "")

    def open(self, key: str | None, client: str = "") -> Collection:
        """The collection of a session, made if need be.

        Args:
            client: the address that asks, as :func:`~lqr.service.limits.client_address` has it; empty: not counted.

        Raises:
            QuotaError: the key is none, or as many sessions, of all or of this client, have one as may.
            StoreError: the folder can't be written.
        """
        if found := self.get(key):
            return found
        settings = self._base.settings
        if not key or len(key) < SHORTEST_KEY:
            raise QuotaError("documents can be added on the page only")
        with self._lock:
            if key not in self._open:  # another request of the same session may have been first
                if len(self._open) >= settings.upload_sessions:
                    raise QuotaError("too many visitors have documents here just now; try again in a while")
                places = max(2, settings.upload_sessions // SHARE)
                if client and sum(other == client for other in self._clients.values()) >= places:
                    raise QuotaError(f"{places} pages of your address have documents here; close one, or try again in a while")
                if self._scratch is None:
                    self._scratch = Scratch(settings.home / "sessions")
                    threading.Thread(target=self._sweep_on, name="lqr-sessions", daemon=True).start()
                self._open[key] = Collection(self._of(self.library(key)), self._scratch.folder / secrets.token_hex(8))
                self._clients[key] = client
            self._used[key] = self._clock()
            return self._open[key]

    def application(self, key: str | None, *, library: str = "", scope: str = "") -> Application:
        """What answers the questions of a session: what the page shows as chosen, or nothing. Never waits for an upload.

        Args:
            library: the library that the page shows as chosen. It answers although the choice was forgotten here meanwhile,
                as happens when time is up or the program was started anew. Empty: the session's.
            scope: the :data:`~lqr.service.uploads.Scope` that the page shows. None of them: the session's.

        Raises:
            DroppedError: own documents should answer, and there are none.
            NotNowError: own documents should answer, and can't just now: see :meth:`Collection.view`.
            KeyError: there is no such library.
            LqrError: it can't be opened.
        """
        found = self.get(key)
        if library and library != self.library(key):
            self.choose_library(key, library)
        name = library or self.library(key)
        base = self.libraries.application(name)
        if scope not in get_args(Scope):
            scope = found.scope if found and found.uploads else "library"
        if scope == "library":
            return base
        with self._lock:
            variants = self._of(name)
        view = found.view(cast(Scope, scope), variants) if found else None
        if view is None:
            raise DroppedError(self._base.settings.upload_minutes)
        return view

    def library(self, key: str | None) -> str:
        """The name of the library that a session asks."""
        return self._chosen.get(key or "", self._base.settings.collection)

    def choose_library(self, key: str | None, name: str) -> None:
        """Let a session ask the library ``name``; takes seconds when nobody has asked it before.

        Raises:
            KeyError: there is none of this name.
            QuotaError: the key is none.
            LqrError: it can't be opened.
        """
        if not key or len(key) < SHORTEST_KEY:
            raise QuotaError("a library can be chosen on the page only")
        self.sweep()
        self.libraries.application(name)  # opened before the lock is taken: nobody else waits for it
        with self._lock:
            self._chosen[key] = name
            self._used[key] = self._clock()
            found, variants = self._open.get(key), self._of(name)
        if found:
            found.rebase(variants)

    def _of(self, name: str) -> Variants:
        if name not in self._variants:
            self._variants[name] = Variants(self.libraries.application(name))
        return self._variants[name]

    def drop(self, key: str | None) -> None:
        """Forget the documents and choices of a session that has ended."""
        with self._lock:
            found = self._forget(key or "")
        if found is not None:
            found.close()

    def sweep(self) -> None:
        """Drop what was not used for ``settings.upload_minutes``."""
        minutes = self._base.settings.upload_minutes
        oldest = self._clock() - 60 * minutes
        with self._lock:
            late = [self._forget(key) for key, used in list(self._used.items()) if used < oldest]
        for found in filter(None, late):
            found.close()
            log.info("documents of a session dropped: not used for %d minutes", minutes)

    def _forget(self, key: str) -> Collection | None:
        self._used.pop(key, None)
        self._chosen.pop(key, None)
        self._clients.pop(key, None)
        return self._open.pop(key, None)

    def close(self) -> None:
        """Drop everything."""
        self._ended.set()
        for key in list(self._open):
            self.drop(key)
        if self._scratch is not None:
            self._scratch.close()
        self.libraries.close()

    def _sweep_on(self) -> None:
        while not self._ended.wait(SWEEP):
            self.sweep()
