"""Documents that a visitor adds for himself: read into a collection of his own, searched beside the common one, then dropped.

Each session has its own folder, store and indexes, reached only through the key that the caller holds; no object of one
session knows another, and the common collection is never written to. Knows no page: the key is whatever names a session.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast, get_args

from lqr.app import Application
from lqr.corpus.passages import split
from lqr.corpus.readers import ReadLimits, clean_source, numbered_source, read_bytes
from lqr.corpus.store import Store
from lqr.errors import LqrError, ReadError
from lqr.retrieval.retriever import Retriever
from lqr.service.libraries import Libraries
from lqr.service.scratch import Scratch
from lqr.service.variants import Variants

log = logging.getLogger(__name__)
Scope = Literal["both", "own", "library"]
OnProgress = Callable[[str, int, int], None]  # ("pages" or "passages", done, total)
SWEEP = 30.0  # seconds between two looks for documents whose time is up
SHORTEST_KEY = 8  # a shorter one could be guessed


class QuotaError(LqrError):
    """One visitor's documents are as many or as large as they may be, or as many visitors have some."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as its list shows it. ``size`` is in bytes; ``cut`` says what of it was left out."""

    id: str
    name: str
    size: int
    passages: int
    cut: str = ""


class Collection:
    """The documents of one session. Safe to use from several threads; questions never wait for an upload."""

    def __init__(self, variants: Variants, folder: Path) -> None:
        base = variants.base
        self._variants = variants
        self._prefix = f"own{secrets.token_hex(4)}-"  # no id of the common collection can be mistaken for one of these
        self._lock = threading.Lock()
        self._closed = False
        self._scope: Scope = "both"
        self._uploads: dict[str, tuple[Upload, str]] = {}  # by id: the upload, and the digest of its bytes
        self._folder = folder
        folder.mkdir(mode=0o700)
        self._store = Store.open(folder)
        # Its graph stays in this process: a graph server is shared.
        settings = replace(base.settings, graph="embedded")
        self._retriever = Retriever.open(self._store, base.retriever.embedder, settings, folder)
        self._retriever.read_with(base.pipeline.layered.scorer)
        self._application = base

    @property
    def application(self) -> Application:
        """What answers this session's questions now."""
        return self._application

    @property
    def uploads(self) -> tuple[Upload, ...]:
        """The files, in the order they came."""
        return tuple(upload for upload, _ in list(self._uploads.values()))

    @property
    def scope(self) -> Scope:
        """Which documents answer: ``both``, ``own`` or those of the ``library``."""
        return self._scope

    def choose(self, scope: str) -> None:
        """Set :attr:`scope`; what is no scope changes nothing."""
        with self._lock:
            if scope in get_args(Scope) and not self._closed:
                self._scope = cast(Scope, scope)
                self._rebuild()

    def rebase(self, variants: Variants) -> None:
        """Stand beside another library from now on."""
        with self._lock:
            if not self._closed:
                self._variants = variants
                self._rebuild()

    def add(self, name: str, data: bytes, progress: OnProgress | None = None) -> Upload:
        """Take a file in; when this returns, its passages are found.

        Args:
            name: as the visitor's computer has it. It is shown and never used as a path.

        Raises:
            ReadError: it can't be read, holds no text, or is here already.
            QuotaError: there is no room for it.
        """
        limits = self._variants.base.settings
        with self._lock:
            self._check_open()
            most = limits.upload_megabytes * 2**20
            if len(self._uploads) >= limits.upload_files:
                raise QuotaError(f"at most {limits.upload_files} files; remove one first")
            if sum(upload.size for upload in self.uploads) + len(data) > most:
                raise QuotaError(f"at most {limits.upload_megabytes} MB together; remove a file first")
            source = self._source(name)
            digest = hashlib.sha256(data).hexdigest()
            if same := next((upload.name for upload, known in self._uploads.values() if known == digest), ""):
                raise ReadError(f"{source}: the same file is here as {same}")
            upload_id = secrets.token_hex(8)
            pages = (lambda done, total: progress("pages", done, total)) if progress else None
            read = read_bytes(data, source=source, limits=_limits(most), progress=pages)
            documents = [replace(document, id=f"{self._prefix}{upload_id}{document.id}") for document in read]
            taken = [(document, split(document)) for document in documents]
            count = sum(len(passages) for _, passages in taken)
            if not count:
                raise ReadError(f"{source}: holds no text that could answer a question")
            left = limits.upload_passages - sum(upload.passages for upload in self.uploads)
            if count > left:
                raise QuotaError(f"{source}: {count} passages, and there is room for {left}; split it, or remove a file first")
            try:
                with self._store.transaction():
                    for document, passages in taken:
                        self._store.add(document, passages, file=source)
                self._retriever.refresh((lambda done, total: progress("passages", done, total)) if progress else None)
            except BaseException:
                self._store.delete_source(source)
                raise
            cut = "; ".join(str(document.metadata["truncated"]) for document in documents if "truncated" in document.metadata)
            upload = Upload(upload_id, source, len(data), count, cut)
            self._uploads[upload_id] = upload, digest
            self._rebuild()
            return upload

    def delete(self, upload_id: str) -> Upload | None:
        """Remove a file; when this returns, nothing of it is found any more. None if there is none of this id.

        Raises:
            LqrError: it could not be removed. It is still listed, so that it can be tried again.
        """
        with self._lock:
            self._check_open()
            if upload_id not in self._uploads:
                return None
            upload, _ = self._uploads[upload_id]
            self._application = self._variants.base  # should the next lines fail, nothing of it may be found either
            self._store.delete_source(upload.name)
            self._retriever.refresh()
            del self._uploads[upload_id]
            self._rebuild()
            return upload

    def close(self) -> None:
        """Drop everything; an upload that is being read ends first."""
        with self._lock:
            self._closed = True
            self._application = self._variants.base
            self._uploads.clear()
            self._store.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _check_open(self) -> None:
        if self._closed:
            raise QuotaError("these documents were dropped, as the session had ended; reload the page")

    def _source(self, name: str) -> str:
        """A name of its own that can be shown: the last part of ``name``, cleaned."""
        used = {upload.name for upload in self.uploads}
        source = first = clean_source(name).rsplit("/", 1)[-1]
        number = 1
        while source in used:
            number += 1
            source = numbered_source(first, number)
        return source

    def _rebuild(self) -> None:
        if self._uploads and self._scope != "library":
            self._application = self._variants.of(self._store, self._retriever, self._is_own, alone=self._scope == "own")
        else:
            self._application = self._variants.base

    def _is_own(self, name: str) -> bool:
        return name.startswith(self._prefix)


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

    def open(self, key: str | None) -> Collection:
        """The collection of a session, made if need be.

        Raises:
            QuotaError: the key is none, or as many sessions have one as may.
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
                if self._scratch is None:
                    self._scratch = Scratch(settings.home / "sessions")
                    threading.Thread(target=self._sweep_on, name="lqr-sessions", daemon=True).start()
                self._open[key] = Collection(self._of(self.library(key)), self._scratch.folder / secrets.token_hex(8))
            self._used[key] = self._clock()
            return self._open[key]

    def application(self, key: str | None) -> Application:
        """What answers the questions of a session."""
        found = self.get(key)
        return found.application if found else self.libraries.application(self.library(key))

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


def _limits(most: int) -> ReadLimits:
    """Of one visitor's file: tighter than those of an operator's, as it is read while others wait."""
    return ReadLimits(bytes=most, pages=1000, ocr_pages=5, rows=20_000, characters=2_000_000)
